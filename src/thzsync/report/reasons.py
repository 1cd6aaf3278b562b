"""Sentences that give reasons: what went where, what was possible, what the paper says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from thzsync.display import number, quantity
from thzsync.display.kinds import kind_look
from thzsync.display.labels import METHOD_LABELS, POLICY_LABELS, label
from thzsync.experiments.statistics import verdict
from thzsync.paper.deviation import (
    FAIR_PCT,
    NEAR_PCT,
    deviation_pct,
    deviation_text,
    shown_pct,
)
from thzsync.report.curves import fabric_split
from thzsync.report.source import Results, Row


class Reason(NamedTuple):
    """A catchword and a sentence."""

    word: str
    sentence: str


def why(results: Results, row: Row) -> Iterator[Reason]:
    """Where a policy's bytes, joules and milliseconds went."""
    assert results.fabric is not None
    split = {s["policy"]: s for s in fabric_split(results.fabric, results.first)}
    mine = split.get(row["policy"])
    if mine is None or not mine["kinds"]:
        return
    shares = ", ".join(
        f"{_percent(cell['thz_bytes'], cell['thz_bytes'] + cell['wired_bytes'])} of "
        f"{kind_look(kind).label}"
        for kind, cell in mine["kinds"].items()
    )
    yield Reason("Bytes", f"THz carries {shares}; fibre carries the rest.")
    total = mine["total"]
    joules = (
        f"Fibre spends {quantity(total['optical_energy_j'], 'J', 3)} and THz "
        f"{quantity(total['thz_energy_j'], 'J', 3)} per iteration"
    )
    wired = split.get("all-wired")
    if wired is not None and row["policy"] != "all-wired":
        joules += f"; with everything on fibre it is {quantity(_energy(wired), 'J', 3)}"
    yield Reason("Joules", joules + ".")
    slowest = max(mine["kinds"], key=lambda kind: mine["kinds"][kind]["completion_ms"])
    milliseconds = mine["kinds"][slowest]["completion_ms"]
    yield Reason(
        "Time",
        f"{kind_look(slowest).label} is the largest part: {quantity(milliseconds, 'ms')}, "
        f"{_percent(milliseconds, total['completion_ms'])} of the sum.",
    )


def gains(results: Results) -> Iterator[Reason]:
    """By how much THz-SynC is faster than each rival: the paper's own claims."""
    found = [g for g in results.document.get("gains", []) if g.get("gain_pct") is not None]
    parts = [
        f"{label(POLICY_LABELS, gain['policy'])} {_signed(gain['gain_pct'])} %{_aside(gain)}"
        for gain in found
    ]
    if parts:
        told = f"{POLICY_LABELS['thz-sync']} against {', '.join(parts)}."
        alone = all(gain.get("ci95_gain_pct") is None for gain in found)
        yield Reason("Time saved", f"{told} Undecided, one seed." if alone else told)


def _aside(gain: Row) -> str:
    """What the paper says, and whether the interval spans zero."""
    half = gain.get("ci95_gain_pct")
    paper = gain.get("paper_pct")
    remarks = [] if paper is None else [f"paper {_signed(paper)} %"]
    if half is not None and verdict(gain["gain_pct"], half) is None:
        remarks.append("too close to call")
    return f" ({'; '.join(remarks)})" if remarks else ""


def _signed(value: float) -> str:
    return f"{value:.1f}".replace("-", "\N{MINUS SIGN}")


def beside_the_paper(results: Results) -> Iterator[Reason]:
    """How many of the published numbers are met, and the worst one."""
    gaps = sorted(_deviations(results), key=lambda gap: abs(gap[1]))
    if not gaps:
        return
    near = sum(abs(shown_pct(percent)) <= NEAR_PCT for _, percent in gaps)
    fair = sum(abs(shown_pct(percent)) <= FAIR_PCT for _, percent in gaps)
    name, worst = gaps[-1]
    yield Reason(
        "Paper",
        f"Of {len(gaps)} published numbers, {near} are met within {NEAR_PCT:g} % and {fair} within "
        f"{FAIR_PCT:g} %; the farthest is {name} ({deviation_text(worst)}).",
    )


def _deviations(results: Results) -> Iterator[tuple[str, float]]:
    named = [(policy_name(row), row) for row in results.rows]
    named += [
        (f"weights {row['time_weight']:g}/{row['energy_weight']:g}", row) for row in results.weights
    ]
    nouns = {"completion_ms": "completion time", "energy_j": "energy", "reward": "reward"}
    for name, row in named:
        for key, noun in nouns.items():
            percent = deviation_pct(row.get(key), row.get(f"paper_{key}"))
            if percent is not None:
                yield f"the {noun} of {name}", percent
    for row in results.synthesis:
        percent = deviation_pct(row["mean_ms"], row.get("paper_ms"))
        if percent is not None:
            late = "with" if row["stragglers"] else "without"
            yield (
                f"{kind_look(row['collective']).label} {label(METHOD_LABELS, row['method'])} at "
                f"{row['racks']} racks {late} stragglers",
                percent,
            )


def beside_the_oracle(results: Results, row: Row) -> Iterator[Reason]:
    """What the best fixed choice in hindsight reaches."""
    oracle = results.document.get("oracle")
    if oracle:
        yield Reason(
            "Possible",
            f"The best fixed split and power per type, chosen in hindsight, reaches "
            f"{quantity(oracle['completion_ms'], 'ms')}, {quantity(oracle['energy_j'], 'J')} and a "
            f"reward of {number(oracle['reward'], 3)} (ours {number(row['reward'], 3)}).",
        )


def about_synthesis(rows: list[Row]) -> Iterator[Reason]:
    """The proposed schedules against the best other method and their bound."""
    if not rows:
        return
    racks = max(row["racks"] for row in rows)
    for kind in dict.fromkeys(row["collective"] for row in rows):
        here = [r for r in rows if (r["collective"], r["racks"]) == (kind, racks)]
        clean = {r["method"]: r for r in here if not r["stragglers"]}
        ours = clean.pop("proposed", None)
        if ours is None or not clean:
            continue
        rival = min(clean.values(), key=lambda row: row["mean_ms"])
        gap = 100 * (1 - ours["mean_ms"] / rival["mean_ms"])
        text = (
            f"At {racks} racks the proposed schedule takes {quantity(ours['mean_ms'], 'ms')}, "
            f"{abs(gap):.0f} % {'less' if gap >= 0 else 'more'} than the best other method "
            f"({label(METHOD_LABELS, rival['method'])})"
        )
        if ours.get("bound_ms"):
            text += f" and {ours['mean_ms'] / ours['bound_ms']:.2f} times its lower bound"
        yield Reason(kind_look(kind).label, text + ".")


def about_weights(rows: list[Row]) -> Iterator[Reason]:
    """What moving the reward's weights from one end to the other changes."""
    if len(rows) < 2:
        return
    fast, green = max(rows, key=_time_weight), min(rows, key=_time_weight)
    yield Reason(
        "Weights",
        f"Moving the time weight from {fast['time_weight']:g} to {green['time_weight']:g} changes "
        f"completion time from {quantity(fast['completion_ms'], 'ms')} to "
        f"{quantity(green['completion_ms'], 'ms')} and energy from "
        f"{quantity(fast['energy_j'], 'J')} to {quantity(green['energy_j'], 'J')}.",
    )


def _time_weight(row: Row) -> float:
    return float(row["time_weight"])


def policy_name(row: Row) -> str:
    """The name of a row's policy that people read."""
    return label(POLICY_LABELS, row["policy"])


def _percent(part: Any, whole: Any) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "0 %"


def _energy(split: Row) -> float:
    return float(split["total"]["optical_energy_j"] + split["total"]["thz_energy_j"])
