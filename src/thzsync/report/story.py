"""One sentence per reproduced figure: its main numbers, and how certain they are."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any, Final

from thzsync.display import number
from thzsync.display.kinds import kind_look
from thzsync.display.labels import POLICY_LABELS, label
from thzsync.experiments.statistics import undecided, verdict
from thzsync.report.source import Row

Document = dict[str, Any]


def synthesis(document: Document) -> str:
    """How long the proposed collectives take at the largest size, beside bound and paper."""
    rows = [r for r in document["rows"] if r["method"] == "proposed" and not r["stragglers"]]
    racks = max(row["racks"] for row in rows)
    parts = " and ".join(_collective(row) for row in rows if row["racks"] == racks)
    return f"Alone on THz among {racks} racks, {parts}; {_seeds(document['seeds'])}."


def _collective(row: Row) -> str:
    compared = [f"{row['mean_ms'] / row['bound_ms']:.2f} times the bound"]
    if row.get("paper_ms") is not None:
        compared.append(f"paper {number(row['paper_ms'], 4)} ms")
    taken = _measured(row["mean_ms"], row.get("ci95_ms"))
    return f"{kind_look(row['collective']).label} takes {taken} ms ({', '.join(compared)})"


def fabric(document: Document) -> str:
    """What THz-SynC needs on the trace, against fibre alone and against its nearest rival."""
    seeds = len(document["seeds"])
    rows = {row["policy"]: row for row in document["rows"]}
    gains = {gain["policy"]: gain for gain in document["gains"]}
    nearest = min(gains, key=lambda policy: rows[policy]["completion_ms"])
    shown = dict.fromkeys(p for p in ("all-wired", "all-wired-best", nearest) if p in gains)
    needs = _measured(*(rows["thz-sync"][key] for key in ("completion_ms", "ci95_completion_ms")))
    against = ", ".join(_gain(gains[policy], seeds) for policy in shown)
    told = f"On the training trace THz-SynC's collectives need {needs} ms per iteration: {against}."
    return told + _felt(rows["thz-sync"], gains.get("all-wired"), seeds)


def _felt(row: Row, gain: Row | None, seeds: int) -> str:
    """What of that a user feels: the iteration, and the communication that compute leaves bare."""
    if row.get("exposed_ms") is None:
        return ""
    takes, bare = (
        _measured(row[key], row.get(f"ci95_{key}")) for key in ("makespan_ms", "exposed_ms")
    )
    told = f" An iteration takes {takes} ms, of which compute does not hide {bare} ms"
    if gain is None or gain.get("makespan_gain_pct") is None:
        return f"{told}."
    shorter = {
        "gain_pct": gain["makespan_gain_pct"],
        "ci95_gain_pct": gain["ci95_makespan_gain_pct"],
        "policy": gain["policy"],
        "paper_pct": None,
    }
    return f"{told}: {_gain(shorter, seeds)}."


def _gain(gain: Row, seeds: int) -> str:
    mean, half = gain["gain_pct"], gain["ci95_gain_pct"]
    rival = label(POLICY_LABELS, gain["policy"])
    remarks = [] if _decided(mean, half) else [undecided(seeds)]
    if gain["paper_pct"] is not None:
        remarks.append(f"paper: {number(gain['paper_pct'], 3)} % less")
    direction = "less" if mean >= 0 else "more"
    aside = f" ({'; '.join(remarks)})" if remarks else ""
    return f"{_measured(abs(mean), half, 3)} % {direction} than {rival}{aside}"


def weights(document: Document) -> str:
    """What moving the reward's weights from time to energy changes."""
    rows = sorted(document["rows"], key=lambda row: -float(row["time_weight"]))
    fast, green = rows[0], rows[-1]
    time, energy = (
        _change(fast, green, key, unit, len(document["seeds"]))
        for key, unit in (("completion_ms", "ms"), ("energy_j", "J"))
    )
    moved = f"from {fast['time_weight']:g} to {green['time_weight']:g}"
    return f"Moving the weight of time {moved} takes completion time {time} and energy {energy}."


def beyond(document: Document) -> str:
    """Where the frontier stands, and what it leaves behind."""
    ours = [row for row in document["rows"] if row["config"] == "beyond"]
    told = [
        f"{_measured(row['completion_ms'], row['ci95_completion_ms'])} ms at "
        f"{_measured(row['energy_j'], row['ci95_energy_j'])} J"
        for row in (
            min(ours, key=lambda row: float(row["completion_ms"])),
            min(ours, key=lambda row: float(row["energy_j"])),
        )
    ]
    claims = document["claims"]
    held = sum(claim is True for claim in claims.values())
    return (
        f"Beyond the paper's mechanisms the fastest point takes {told[0]} and the thriftiest "
        f"{told[1]} ({_seeds(len(document['seeds']))}). Some point of ours is at once faster and "
        f"thriftier than {held} of {len(claims)} others beyond doubt."
    )


def _change(one: Row, other: Row, key: str, unit: str, seeds: int) -> str:
    before, after = (_measured(row[key], row.get(f"ci95_{key}")) for row in (one, other))
    halves = [_known(row.get(f"ci95_{key}")) for row in (one, other)]
    # Rows of different weights carry no paired difference; separate intervals are the safe side.
    certain = _decided(other[key] - one[key], sum(halves))
    return f"from {before} to {after} {unit}" + ("" if certain else f" ({undecided(seeds)})")


def _decided(lead: float, half: float | None) -> bool:
    return verdict(lead, _known(half)) is not None


def _known(half: float | None) -> float:
    """The half-width, or infinity where one seed gives none."""
    return half if half is not None and isfinite(half) else float("inf")


def _measured(mean: float, half: float | None, digits: int = 4) -> str:
    shown = number(mean, digits)
    return f"{shown} ± {number(half, 2)}" if isfinite(_known(half)) else shown


def _seeds(count: int) -> str:
    return f"± is the 95 % interval over {count} seeds" if count > 1 else undecided(count)


def ladder(document: Document) -> str:
    """What all departures together change for every learner."""
    rungs, seeds = document["rungs"], len(document["seeds"])
    found = {(row["policy"], row["rung"]): row for row in document["rows"]}
    parts = []
    for policy in dict.fromkeys(row["policy"] for row in document["rows"]):
        letter, ours = (found[policy, rung] for rung in (rungs[0], document["ours"]))
        name = label(POLICY_LABELS, policy)
        parts.append(f"{name} {_change(letter, ours, 'completion_ms', 'ms', seeds)}")
    return f"From the paper's letter to ours, completion time goes: {'; '.join(parts)}."


def readings(document: Document) -> str:
    """Which set comes nearest, and how near."""
    ours, best = document["rows"][0], min(document["rows"], key=lambda r: r["deviation_pct"])
    near, far = (f"{row['within']} of {row['count']} published numbers" for row in (best, ours))
    taken = "; ".join(best["readings"]) or "our defaults"
    return (
        f"The readings that come nearest ({taken}) fit {near}, "
        f"{number(best['deviation_pct'], 2)} % off in the mean; our defaults fit {far}, "
        f"{number(ours['deviation_pct'], 2)} % off."
    )


STORIES: Final[dict[str, Callable[[Document], str]]] = {
    "synthesis": synthesis,
    "fabric": fabric,
    "weights": weights,
    "beyond": beyond,
    "ladder": ladder,
    "readings": readings,
}
"""The sentence of each figure, made from its document."""
