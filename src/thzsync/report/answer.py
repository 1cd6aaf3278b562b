"""The answer at a glance: who wins, by how much, why, and how it compares with the paper."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf, isfinite
from typing import Any

from thzsync.display import number
from thzsync.experiments.statistics import interval95
from thzsync.report.curves import fabric_split
from thzsync.report.headline import FAIR_PCT, NEAR_PCT, deviation_pct
from thzsync.report.labels import KIND_LABELS, METHOD_LABELS, POLICY_LABELS, label
from thzsync.report.source import Results, Row


@dataclass(frozen=True)
class Answer:
    """A headline, figures worth a large print, and sentences that give the reasons."""

    headline: str
    figures: list[tuple[str, str, str]] = field(default_factory=list)
    """Value, unit and what it is."""
    reasons: list[tuple[str, str]] = field(default_factory=list)
    """A catchword and a sentence."""


def answer(results: Results) -> Answer:
    """What a reader should know after ten seconds."""
    if results.fabric is not None and len(results.rows) > 1:
        found = _of_policies(results)
    elif results.fabric is not None:
        found = _of_run(results)
    else:
        found = Answer(_title_without_policies(results))
    found.reasons.extend(_about_synthesis(results.synthesis))
    found.reasons.extend(_about_weights(results.weights))
    found.reasons.extend(_beside_the_paper(results))
    return found


def winner(rows: list[Row]) -> Row:
    """The policy with the highest reward; the faster one of equals."""
    return max(rows, key=lambda row: (row["reward"], -row["completion_ms"]))


def _of_policies(results: Results) -> Answer:
    best = winner(results.rows)
    others = [row for row in results.rows if row is not best]
    second = winner(others)
    name = _policy(best)
    wired = next((r for r in others if r["policy"] == "all-wired"), None)
    rival = wired or second
    lead, half = _lead(results, best, second)
    verb = "wins" if lead > half else "leads" if half == inf else "leads, not by much"
    headline = f"{name} {verb}: {_changes(best, rival)} than {_policy(rival)}."
    return Answer(
        headline,
        _figures(best),
        [
            ("Runner-up", _runner_up(best, second) + _doubt(lead, half)),
            *_gains(results),
            *_reasons(results, best),
            *_beside_the_oracle(results, best),
        ],
    )


def _of_run(results: Results) -> Answer:
    row = results.rows[0]
    headline = (
        f"{_policy(row)} needs {number(row['completion_ms'])} ms and {number(row['energy_j'])} J "
        f"of communication per iteration."
    )
    exposed = row.get("exposed_ms")
    delays = []
    if exposed is not None:
        share = 100 * exposed / row["makespan_ms"]
        delays = [
            (
                "Training time",
                f"An iteration takes {number(row['makespan_ms'])} ms; communication that compute "
                f"does not hide is {number(exposed)} ms of it ({share:.0f} %).",
            )
        ]
    return Answer(headline, _figures(row), [*delays, *_reasons(results, row)])


def _figures(row: Row) -> list[tuple[str, str, str]]:
    return [
        (number(row["completion_ms"]), "ms", "completion time, all collectives"),
        (number(row["energy_j"]), "J", "transmission energy"),
        (number(row["reward"], 3), "", "mean reward"),
        (f"{100 * row['thz_share']:.0f}", "%", "of the bytes on THz"),
    ]


def _lead(results: Results, best: Row, second: Row) -> tuple[float, float]:
    """Paired difference of the rewards and its 95 % half-width; infinite for a single seed."""
    assert results.fabric is not None
    mine, theirs = (
        results.fabric.seed_means(row["policy"], "reward", results.first) for row in (best, second)
    )
    lead, half = interval95(mine - theirs)
    return lead, half if isfinite(half) else inf


def _doubt(lead: float, half: float) -> str:
    if lead > half:
        return ""
    if half == inf:
        return " One seed cannot tell how certain that is."
    return (
        f" The rewards differ by {number(lead, 2)} ± {number(half, 2)}: "
        f"too close to call with these seeds."
    )


def _runner_up(best: Row, second: Row) -> str:
    return (
        f"{_policy(second)} follows with a reward of {number(second['reward'], 3)}; against it, "
        f"{_policy(best)} needs {_changes(best, second)}."
    )


def _reasons(results: Results, row: Row) -> Iterator[tuple[str, str]]:
    assert results.fabric is not None
    split = {s["policy"]: s for s in fabric_split(results.fabric, results.first)}
    mine = split.get(row["policy"])
    if mine is None or not mine["kinds"]:
        return
    shares = ", ".join(
        f"{_percent(cell['thz_bytes'], cell['thz_bytes'] + cell['wired_bytes'])} of "
        f"{label(KIND_LABELS, kind)}"
        for kind, cell in mine["kinds"].items()
    )
    yield "Bytes", f"THz carries {shares}; fibre carries the rest."
    total = mine["total"]
    joules = (
        f"Fibre spends {number(total['optical_energy_j'], 3)} J and THz "
        f"{number(total['thz_energy_j'], 3)} J per iteration"
    )
    wired = split.get("all-wired")
    if wired is not None and row["policy"] != "all-wired":
        joules += f"; with everything on fibre it is {number(_energy(wired), 3)} J"
    yield "Joules", joules + "."
    slowest = max(mine["kinds"], key=lambda kind: mine["kinds"][kind]["completion_ms"])
    milliseconds = mine["kinds"][slowest]["completion_ms"]
    yield (
        "Time",
        f"{label(KIND_LABELS, slowest)} is the largest part: {number(milliseconds)} ms, "
        f"{_percent(milliseconds, total['completion_ms'])} of the sum.",
    )


def _gains(results: Results) -> Iterator[tuple[str, str]]:
    """By how much THz-SynC is faster than each rival: the paper's own claims."""
    gains = [g for g in results.document.get("gains", []) if g.get("gain_pct") is not None]
    parts = [
        f"{label(POLICY_LABELS, gain['policy'])} {_signed(gain['gain_pct'])} %"
        + (f" (paper {_signed(gain['paper_pct'])} %)" if gain.get("paper_pct") is not None else "")
        for gain in gains
    ]
    if parts:
        yield "Time saved", f"{POLICY_LABELS['thz-sync']} against {', '.join(parts)}."


def _signed(value: float) -> str:
    return f"{value:.1f}".replace("-", "\N{MINUS SIGN}")


def _beside_the_paper(results: Results) -> Iterator[tuple[str, str]]:
    """How many of the published numbers are met, and the worst one."""
    gaps = sorted(_deviations(results), key=lambda gap: abs(gap[1]))
    if not gaps:
        return
    near = sum(abs(percent) <= NEAR_PCT for _, percent in gaps)
    fair = sum(abs(percent) <= FAIR_PCT for _, percent in gaps)
    name, worst = gaps[-1]
    yield (
        "Paper",
        f"Of {len(gaps)} published numbers, {near} are met within {NEAR_PCT:g} % and {fair} within "
        f"{FAIR_PCT:g} %; the farthest is {name} ({'+' if worst > 0 else ''}{_signed(worst)} %).",
    )


def _deviations(results: Results) -> Iterator[tuple[str, float]]:
    named = [(_policy(row), row) for row in results.rows]
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
                f"{label(KIND_LABELS, row['collective'])} {label(METHOD_LABELS, row['method'])} at "
                f"{row['racks']} racks {late} stragglers",
                percent,
            )


def _beside_the_oracle(results: Results, row: Row) -> Iterator[tuple[str, str]]:
    oracle = results.document.get("oracle")
    if oracle:
        yield (
            "Possible",
            f"The best fixed split and power per type, chosen in hindsight, reaches "
            f"{number(oracle['completion_ms'])} ms, {number(oracle['energy_j'])} J and a reward of "
            f"{number(oracle['reward'], 3)} (ours {number(row['reward'], 3)}).",
        )


def _title_without_policies(results: Results) -> str:
    if not results.synthesis:
        return "The reward's weights move the operating point between fast and frugal."
    racks = max(row["racks"] for row in results.synthesis)
    times = " and ".join(
        f"{label(KIND_LABELS, row['collective'])} in {number(row['mean_ms'], 3)} ms"
        for row in results.synthesis
        if (row["method"], row["racks"], row["stragglers"]) == ("proposed", racks, False)
    )
    return f"{racks} racks on one THz ring: {times or 'collectives compared'}."


def _about_synthesis(rows: list[Row]) -> Iterator[tuple[str, str]]:
    if not rows:
        return
    racks = max(row["racks"] for row in rows)
    for kind, name in KIND_LABELS.items():
        here = [r for r in rows if (r["collective"], r["racks"]) == (kind, racks)]
        clean = {r["method"]: r for r in here if not r["stragglers"]}
        ours = clean.pop("proposed", None)
        if ours is None or not clean:
            continue
        rival = min(clean.values(), key=lambda row: row["mean_ms"])
        gap = 100 * (1 - ours["mean_ms"] / rival["mean_ms"])
        text = (
            f"At {racks} racks the proposed schedule takes {number(ours['mean_ms'])} ms, "
            f"{abs(gap):.0f} % {'less' if gap >= 0 else 'more'} than the best other method "
            f"({label(METHOD_LABELS, rival['method'])})"
        )
        if ours.get("bound_ms"):
            text += f" and {ours['mean_ms'] / ours['bound_ms']:.2f} times its lower bound"
        yield name, text + "."


def _about_weights(rows: list[Row]) -> Iterator[tuple[str, str]]:
    if len(rows) < 2:
        return
    fast, green = max(rows, key=_time_weight), min(rows, key=_time_weight)
    yield (
        "Weights",
        f"Moving the time weight from {fast['time_weight']:g} to {green['time_weight']:g} changes "
        f"completion time from {number(fast['completion_ms'])} to "
        f"{number(green['completion_ms'])} ms and energy from {number(fast['energy_j'])} to "
        f"{number(green['energy_j'])} J.",
    )


def _time_weight(row: Row) -> float:
    return float(row["time_weight"])


def _policy(row: Row) -> str:
    return label(POLICY_LABELS, row["policy"])


def _changes(row: Row, other: Row) -> str:
    """Time and energy against another policy, such as ``31 % less time but 4 % more energy``."""
    saved = [
        1 - row[key] / other[key] if other[key] else 0.0 for key in ("completion_ms", "energy_j")
    ]
    time, energy = (
        f"{100 * abs(share):.0f} % {'less' if share >= 0 else 'more'} {noun}"
        for share, noun in zip(saved, ("time", "energy"), strict=True)
    )
    return f"{time} {'and' if (saved[0] >= 0) == (saved[1] >= 0) else 'but'} {energy}"


def _percent(part: Any, whole: Any) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "0 %"


def _energy(split: Row) -> float:
    return float(split["total"]["optical_energy_j"] + split["total"]["thz_energy_j"])
