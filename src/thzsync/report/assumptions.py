"""What a comparison takes for granted: the fibre, the radio, other traffic, and which energy."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from thzsync.display import number, with_unit
from thzsync.scenario import Scenario
from thzsync.scenario.changes import changed
from thzsync.topology import oversubscription

if TYPE_CHECKING:
    from thzsync.studies import Sweep

_CONCERNED: Final = ("floor.", "optical.", "thz.")


def assumptions(scenarios: Iterable[Scenario]) -> list[tuple[str, str]]:
    """Name and sentence of every assumption; of scenarios that differ, the first and the last."""
    known = list(scenarios)
    found = []
    for name, tell in _FACTS.items():
        texts = list(dict.fromkeys(tell(scenario) for scenario in known))
        varied = f"from: {texts[0]}; to: {texts[-1]}"
        found.append((name, f"{varied if len(texts) > 1 else texts[0]}."))
    return found


def swept_scenarios(sweep: Sweep) -> list[Scenario]:
    """The scenarios of a sweep that differ in the floor, the fibre or the radio."""
    chosen = [axis for axis in sweep.axes if axis.startswith(_CONCERNED)]
    places = {repr(p): p for point in sweep.points if (p := {a: point[a] for a in chosen})}
    return [changed(sweep.scenario, p, "sweep") for p in places.values()] or [sweep.scenario]


def oversubscription_text(scenario: Scenario) -> str:
    """How far the fibre between rings is oversubscribed, such as ``8:1 oversubscribed``."""
    ratio = oversubscription(scenario)
    return f"{number(ratio, 3)}:1 oversubscribed" if ratio > 1 else "not oversubscribed"


def _fibre(scenario: Scenario) -> str:
    floor, optical = scenario.floor, scenario.optical
    access, inter = (with_unit(bps, "bit/s", 3) for bps in (optical.access_bps, optical.inter_bps))
    if floor.rings == 1:
        return f"{oversubscription_text(scenario)}, {floor.racks} racks at {access} on one switch"
    return (
        f"{oversubscription_text(scenario)} between rings ({floor.lanes} racks at {access} share "
        f"one link of {inter} to each other ring)"
    )


def _radio(scenario: Scenario) -> str:
    thz = scenario.thz
    return (
        f"{thz.subbands} subbands of {with_unit(thz.subband_hz, 'Hz', 3)}, noise figure "
        f"{thz.noise_figure_db:g} dB, receive antenna {thz.receive_gain_db:g} dBi, at most "
        f"{with_unit(thz.max_power_w, 'W', 3)} per rack"
    )


def _background(scenario: Scenario) -> str:
    load = scenario.optical.background.load
    return f"other traffic loads every link by {100 * load:g} %" if load else "no other traffic"


def _energy(scenario: Scenario) -> str:
    per_bit = with_unit(scenario.optical.energy_j_per_bit_hop, "J/bit/hop", 3)
    return f"transmission only: {per_bit} on fibre, radiated power on THz; no idle power"


_FACTS: Final[dict[str, Callable[[Scenario], str]]] = {
    "Fibre": _fibre,
    "Radio": _radio,
    "Background": _background,
    "Energy": _energy,
}
