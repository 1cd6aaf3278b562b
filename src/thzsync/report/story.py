"""What is said of the paper's figures: their main numbers, how certain, and how near the paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isfinite
from typing import Any, Final, NamedTuple

from thzsync.display import half_width, number, quantity, with_half
from thzsync.display.kinds import kind_look
from thzsync.display.labels import METHOD_LABELS, POLICY_LABELS, label, policy_name
from thzsync.display.metrics import COMPLETION, ENERGY, REWARD
from thzsync.experiments.statistics import verdict
from thzsync.paper.deviation import FAIR_PCT, NEAR_PCT, deviation_pct, deviation_text, shown_pct
from thzsync.report.source import Results, Row

Document = dict[str, Any]


class Reason(NamedTuple):
    """A catchword and a sentence."""

    word: str
    sentence: str


def synthesis(document: Document) -> str:
    """How long the proposed collectives take at the largest size, beside bound and paper."""
    told = dict(_collectives(document["rows"]))
    parts = "; ".join(f"{kind_look(kind).label} {said}" for kind, said in told.items())
    return f"Alone on THz among {_most_racks(document['rows'])} racks, {parts or 'no times'}."


def _collectives(rows: list[Row]) -> Iterator[tuple[str, str]]:
    """The proposed schedule of every collective beside its best rival, its bound and the paper."""
    for kind in dict.fromkeys(row["collective"] for row in rows):
        here = [r for r in rows if (r["collective"], r["racks"]) == (kind, _most_racks(rows))]
        methods = {row["method"]: row for row in here if not row["stragglers"]}
        if ours := methods.pop("proposed", None):
            yield kind, _proposed(ours, list(methods.values()))


def _proposed(ours: Row, rivals: list[Row]) -> str:
    half = ours.get("ci95_ms")
    parts = [f"takes {with_half(ours['mean_ms'], half, 'ms')}"]
    if rival := min(rivals, key=lambda row: float(row["mean_ms"]), default=None):
        saved = 100 * (1 - ours["mean_ms"] / rival["mean_ms"])
        than = f"than the best other method ({label(METHOD_LABELS, rival['method'])})"
        parts.append(f"{abs(saved):.0f} % {'less' if saved >= 0 else 'more'} {than}")
    if ours.get("bound_ms"):
        parts.append(f"{ours['mean_ms'] / ours['bound_ms']:.2f} times its lower bound")
    if ours.get("paper_ms") is not None:
        parts.append(f"paper {number(ours['paper_ms'], 4)} ms")
    return ", ".join(parts) + ("" if half_width(None, half) else " (undecided, one seed)")


def _most_racks(rows: list[Row]) -> int:
    return max(int(row["racks"]) for row in rows)


def fabric(document: Document) -> str:
    """What THz-SynC needs on the trace, against fibre alone and against its nearest rival."""
    rows = {row["policy"]: row for row in document["rows"]}
    gains = {gain["policy"]: gain for gain in document["gains"]}
    nearest = min(gains, key=lambda policy: float(rows[policy]["completion_ms"]))
    shown = dict.fromkeys(p for p in ("all-wired", "all-wired-best", nearest) if p in gains)
    ours = rows["thz-sync"]
    needs = _of(ours, "completion_ms", "ms")
    against = ", ".join(gain_text(gains[policy]) for policy in shown)
    told = f"On the training trace THz-SynC's collectives need {needs} per iteration: {against}."
    if ours.get("exposed_ms") is None:
        return told
    told += (
        f" An iteration takes {_of(ours, 'makespan_ms', 'ms')}, of which compute does not hide "
        f"{_of(ours, 'exposed_ms', 'ms')}"
    )
    fibre: Row = next((gains[p] for p in ("all-wired-best", "all-wired") if p in gains), {})
    if fibre.get("makespan_gain_pct") is None:
        return f"{told}."
    return f"{told}: {gain_text(fibre, 'makespan_')}."


def gain_text(gain: Row, time: str = "") -> str:
    """How much less time than a rival, what the paper says, and whether it is certain."""
    mean, half = gain[f"{time}gain_pct"], gain.get(f"ci95_{time}gain_pct")
    remarks = [undecided(mean, half)]
    if not time and gain.get("paper_pct") is not None:
        remarks.append(f"paper: {number(gain['paper_pct'], 3)} % less")
    aside = "; ".join(filter(None, remarks))
    than = f"{'less' if mean >= 0 else 'more'} than {label(POLICY_LABELS, gain['policy'])}"
    return f"{with_half(abs(mean), half, '%', 3)} {than}{f' ({aside})' if aside else ''}"


def weights(document: Document) -> str:
    """What moving the reward's weights from time to energy changes."""
    rows = sorted(document["rows"], key=lambda row: -float(row["time_weight"]))
    fast, green = rows[0], rows[-1]
    time = _change(fast, green, "completion_ms", "ms")
    energy = _change(fast, green, "energy_j", "J")
    moved = f"from {fast['time_weight']:g} to {green['time_weight']:g}"
    return (
        f"Moving the weight of time {moved} takes completion time {time} and transmission energy "
        f"{energy}."
    )


def beyond(document: Document) -> str:
    """The fastest and the thriftiest point of the mechanisms beyond the paper."""
    ours = [row for row in document["rows"] if row["config"] == "beyond"]
    fastest, thriftiest = (
        f"{_of(row, 'completion_ms', 'ms')} at {_of(row, 'energy_j', 'J')}"
        for row in (
            min(ours, key=lambda row: float(row[key])) for key in ("completion_ms", "energy_j")
        )
    )
    claims = document["claims"]
    held = sum(claim is True for claim in claims.values())
    count = len(document["seeds"])
    seeds = f"± is the 95 % interval over {count} seeds" if count > 1 else "undecided, one seed"
    return (
        f"With the mechanisms beyond the paper, the fastest point takes {fastest} and the point "
        f"with the least transmission energy {thriftiest} ({seeds}). Some point of ours is "
        f"faster and thriftier than {held} of {len(claims)} others, beyond their intervals."
    )


def ladder(document: Document) -> str:
    """What all departures together change for every learner."""
    found = {(row["policy"], row["rung"]): row for row in document["rows"]}
    parts = []
    for policy in dict.fromkeys(row["policy"] for row in document["rows"]):
        letter, ours = (found[policy, rung] for rung in (document["rungs"][0], document["ours"]))
        change = _change(letter, ours, "completion_ms", "ms")
        parts.append(f"{label(POLICY_LABELS, policy)} {change}")
    return f"From the faithful implementation to ours, completion time goes: {'; '.join(parts)}."


def readings(document: Document) -> str:
    """Which set comes nearest, and how near."""
    ours, best = document["rows"][0], min(document["rows"], key=lambda r: float(r["deviation_pct"]))
    near, far = (
        f"fit {row['within']} of {row['count']} published numbers, "
        f"{number(row['deviation_pct'], 2)} % off in the mean"
        for row in (best, ours)
    )
    taken = "; ".join(best["readings"]) or "our defaults"
    return f"The interpretations that come nearest ({taken}) {near}; our defaults {far}."


def undecided(lead: float, half: float | None) -> str:
    """Why nothing can be said of a difference; nothing where it is certain."""
    if half is None or not isfinite(half):
        return "undecided, one seed"
    return "" if verdict(lead, half) is not None else "too close to call"


def _of(row: Row, key: str, unit: str) -> str:
    return with_half(row[key], row.get(f"ci95_{key}"), unit)


def _change(one: Row, other: Row, key: str, unit: str) -> str:
    halves: list[Any] = [row.get(f"ci95_{key}") for row in (one, other)]
    # Rows of different runs carry no paired difference; separate intervals are the safe side.
    remark = undecided(other[key] - one[key], None if None in halves else sum(halves))
    before, after = (_of(row, key, "") for row in (one, other))
    return f"from {before} to {after} {unit}{f' ({remark})' if remark else ''}"


STORIES: Final[dict[str, Callable[[Document], str]]] = {
    story.__name__: story for story in (synthesis, fabric, weights, beyond, ladder, readings)
}
"""The sentence of each figure, made from its document."""


def title(results: Results) -> str:
    """The sentence of results without policies."""
    if results.synthesis:
        return synthesis({"rows": results.synthesis})
    for name in ("beyond", "ladder", "readings"):
        if document := getattr(results, name):
            return STORIES[name](document)
    return weights({"rows": results.weights})


def paper_findings(results: Results) -> Iterator[Reason]:
    """What the results say of the paper, the most important first."""
    yield from _beside_the_paper(results)
    yield from _gains(results)
    yield from _possible(results)
    yield from _about_figures(results)


def _gains(results: Results) -> Iterator[Reason]:
    """By how much THz-SynC completes its collectives earlier: the paper's own claims."""
    found = [g for g in results.document.get("gains", []) if g.get("gain_pct") is not None]
    if found:
        told = ", ".join(gain_text(gain) for gain in found)
        yield Reason("Completion time saved", f"{POLICY_LABELS['thz-sync']} needs {told}.")


def _possible(results: Results) -> Iterator[Reason]:
    """What the best fixed choice in hindsight reaches."""
    if oracle := results.document.get("oracle"):
        yield Reason(
            "Possible",
            f"The best fixed split and power per type, chosen in hindsight, reaches "
            f"{quantity(oracle['completion_ms'], 'ms')}, {quantity(oracle['energy_j'], 'J')} and a "
            f"reward of {number(oracle['reward'], 3)}.",
        )


def _beside_the_paper(results: Results) -> Iterator[Reason]:
    """How many of the published numbers are met, and the worst one."""
    gaps = sorted(_deviations(results), key=lambda gap: abs(gap[1]))
    if not gaps:
        return
    near, fair = (
        sum(abs(shown_pct(percent)) <= most for _, percent in gaps) for most in (NEAR_PCT, FAIR_PCT)
    )
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
    compared = [
        (f"the {m.title.lower()} of {name}", row.get(m.key), row.get(f"paper_{m.key}"))
        for name, row in named
        for m in (COMPLETION, ENERGY, REWARD)
    ]
    compared += [
        (
            f"{kind_look(row['collective']).label} {label(METHOD_LABELS, row['method'])} at "
            f"{row['racks']} racks {'with' if row['stragglers'] else 'without'} stragglers",
            row["mean_ms"],
            row.get("paper_ms"),
        )
        for row in results.synthesis
    ]
    for name, ours, published in compared:
        percent = deviation_pct(ours, published)
        if percent is not None:
            yield name, percent


def _about_figures(results: Results) -> Iterator[Reason]:
    """The paper's other figures in a sentence each."""
    for kind, said in _collectives(results.synthesis):
        racks = _most_racks(results.synthesis)
        yield Reason(kind_look(kind).label, f"Among {racks} racks the proposed schedule {said}.")
    if len(results.weights) > 1:
        yield Reason("Weights", weights({"rows": results.weights}))
