"""What a result takes for granted: the fibre, the radio, other traffic, and which energy."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from thzsync.display import number, with_unit
from thzsync.network import Network, network_of, oversubscription, tiers
from thzsync.scenario import Energy, RateLaw, RingNetwork, Scenario


def assumptions(*scenarios: Scenario) -> dict[str, str]:
    """Every assumption in words, by its name; of scenarios that differ, the first and the last."""
    return {name: _varied(tell(scenario) for scenario in scenarios) for name, tell in FACTS.items()}


def _varied(texts: Iterable[str]) -> str:
    different = list(dict.fromkeys(texts))
    first, last = different[0], different[-1]
    return first if len(different) == 1 else f"from: {first}; to: {last}"


def _fibre(scenario: Scenario) -> str:
    floor, optical, ratio = scenario.floor, scenario.optical, oversubscription(scenario)
    load = f"{number(ratio, 3)}:1 oversubscribed" if ratio > 1 else "not oversubscribed"
    if not isinstance(scenario.network, RingNetwork):
        network = network_of(scenario)
        found = ", ".join(f"{number(t.ratio, 3)}:1 {t.name()}" for t in tiers(network))
        kind = "network" if scenario.network.kind == "file" else scenario.network.kind
        return f"{load}, {kind} with {_access(network)} ({found or 'one switch'})"
    access, inter = (with_unit(bps, "bit/s", 3) for bps in (optical.access_bps, optical.inter_bps))
    if floor.groups == 1:
        return f"{load}, {floor.racks} racks at {access} on one switch"
    return (
        f"{load} between {floor.noun}s ({floor.lanes} racks at {access} share one link of {inter} "
        f"to each other {floor.noun})"
    )


def _access(network: Network) -> str:
    """How racks are joined."""
    rates = [int(bps) for bps in network.rate_bps[network.uplinks]]
    slow, fast = (with_unit(bps, "bit/s", 3) for bps in (min(rates), max(rates)))
    rate = slow if slow == fast else f"{slow} to {fast}"
    ports = network.ports
    return f"{rate} links to racks" if ports == 1 else f"{ports} links of {rate} to every rack"


def _radio(scenario: Scenario) -> str:
    thz = scenario.thz
    law = f"{'gains from a file, ' if scenario.channel.gains_file else ''}rate by {_law(thz.rate)}"
    law += _propagation(scenario)
    away = f"transmit antenna {thz.transmit_gain_db:g} dBi, " if thz.transmit_gain_db else ""
    beams = "no interference between beams"
    if thz.interference == "beams":
        beams = f"beams disturb each other, {thz.interference_headroom_db:g} dB headroom"
    pattern = f" ({thz.antenna.kind} pattern)" if thz.antenna.kind != "isotropic" else ""
    return (
        f"{thz.subbands} subbands of {with_unit(thz.subband_hz, 'Hz', 3)}, at most "
        f"{with_unit(thz.max_power_w, 'W', 3)} per rack, noise figure {thz.noise_figure_db:g} dB, "
        f"{away}receive antenna {thz.receive_gain_db:g} dBi{pattern}, {law}, "
        f"{beams}"
    )


def _propagation(scenario: Scenario) -> str:
    """How path loss and air differ from the paper's; empty if they do not."""
    channel = scenario.channel
    if channel.gains_file is not None:
        return ""
    law = "" if channel.path_loss.kind == "measured" else f", {channel.path_loss.kind} path loss"
    return law + ("" if channel.absorption == "none" else ", absorption by ITU-R P.676")


def _law(rate: RateLaw) -> str:
    """What the rate of a THz link follows."""
    law = "Shannon's law" if rate.kind == "shannon" else f"the steps of {rate.kind}"
    return law if rate.sndr_db is None else f"{law} with an SNDR of {rate.sndr_db:g} dB"


def _background(scenario: Scenario) -> str:
    load = scenario.optical.background.load
    return f"other traffic loads every link by {100 * load:g} %" if load else "no other traffic"


def _energy(scenario: Scenario) -> str:
    per_bit = with_unit(scenario.optical.energy_j_per_bit_hop, "J/bit/hop", 3)
    sent = f"{per_bit} on fibre, radiated power on THz"
    counts, given = scenario.reward.energy, scenario.energy
    if given == Energy() and counts == "transmission":
        return f"transmission only ({sent}), neither electronics at the wall plug nor static power"
    return (
        f"the reward counts {_COUNTED[counts]}; transmission: {sent}; at the wall plug: "
        f"{_wall(given)}; static: {_static(given)}"
    )


def _wall(given: Energy) -> str:
    """What is counted at the wall plug in addition to transmission, or instead of it."""
    fibre, thz = given.fibre, given.thz
    link, efficiency = fibre.link_j_per_bit, thz.amplifier_efficiency
    powers = (
        (link, "J/bit", "per link of fibre"),
        (fibre.switch_j_per_bit, "J/bit", "per switch"),
        (thz.front_end_w, "W", "per THz transmission"),
        (thz.baseband_j_per_bit, "J/bit", "of baseband"),
    )
    told = [f"{with_unit(value, unit, 3)} {what}" for value, unit, what in powers if value]
    told += [f"amplifiers {100 * efficiency:g} % efficient"] if efficiency < 1 else []
    return ", ".join(told) or "the same"


_COUNTED: Final = {
    "transmission": "transmission only",
    "wall-plug": "energy at the wall plug",
    "with-static": "energy at the wall plug and static energy",
}


def _static(given: Energy) -> str:
    """Static power of every kind of device."""
    fibre, thz = given.fibre, given.thz
    powers = (
        (fibre.idle_w_per_port, "fibre module", fibre.sleep_share),
        (fibre.idle_w_per_switch, "switch", 0.0),
        (thz.idle_w, "RF chain", thz.sleep_share),
        (given.racks.idle_w, "rack", 0.0),
    )
    told = [
        f"{with_unit(watts, 'W', 3)} per {device}"
        + (f" ({100 * saved:g} % less asleep)" if saved else "")
        for watts, device, saved in powers
        if watts
    ]
    return ", ".join(told) or "none"


FACTS: Final[dict[str, Callable[[Scenario], str]]] = {
    "Fibre": _fibre,
    "Radio": _radio,
    "Background": _background,
    "Energy": _energy,
}
