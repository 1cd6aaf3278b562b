"""The answer at a glance: who wins, by how much, why, and how it compares with the paper."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf, isfinite
from typing import Final, NamedTuple

from thzsync.display import number, quantity
from thzsync.display.kinds import kind_look
from thzsync.experiments.statistics import interval95
from thzsync.names import BEST_OF
from thzsync.report.reasons import (
    Reason,
    about_synthesis,
    about_weights,
    beside_the_oracle,
    beside_the_paper,
    gains,
    policy_name,
    why,
)
from thzsync.report.source import Results, Row
from thzsync.report.story import STORIES

HARDLY: Final = 0.005
"""A share that would be shown as 0 %."""


class Figure(NamedTuple):
    """A number worth a large print."""

    value: str
    unit: str
    meaning: str


@dataclass(frozen=True)
class Answer:
    """A headline, figures worth a large print, and sentences that give the reasons."""

    headline: str
    figures: list[Figure] = field(default_factory=list)
    reasons: list[Reason] = field(default_factory=list)


def answer(results: Results) -> Answer:
    """What a reader should know after ten seconds."""
    if results.fabric is not None and len(results.rows) > 1:
        found = _of_policies(results)
    elif results.fabric is not None:
        found = _of_run(results)
    else:
        found = Answer(_title_without_policies(results))
    found.reasons.extend(about_synthesis(results.synthesis))
    found.reasons.extend(about_weights(results.weights))
    found.reasons.extend(beside_the_paper(results))
    return found


def winner(rows: list[Row]) -> Row:
    """The policy with the highest reward; the faster one of equals."""
    return max(rows, key=lambda row: (row["reward"], -row["completion_ms"]))


def _of_policies(results: Results) -> Answer:
    # Rivals on structures of their own are told apart: the others could use these, too.
    rows = [row for row in results.rows if row["policy"] not in BEST_OF.values()]
    contest = rows if len(rows) > 1 else results.rows
    best = winner(contest)
    others = [row for row in contest if row is not best]
    second = winner(others)
    name = policy_name(best)
    wired = next((r for r in others if r["policy"] == "all-wired"), None)
    rival = wired or second
    lead, half = _lead(results, best, second)
    changes = f"{_changes(best, rival)}{_shorter(best, rival)} than {policy_name(rival)}"
    headline = f"{name} wins: {changes}."
    if half == inf:
        headline = f"Undecided with one seed: {name} needs {changes}."
    elif lead <= half:
        both = f"{name} and {policy_name(second)}"
        headline = f"Too close to call between {both}: {name} needs {changes}."
    return Answer(
        headline,
        _figures(best),
        [
            Reason("Runner-up", _runner_up(best, second) + _doubt(lead, half)),
            *_fair(results, best),
            *gains(results),
            *why(results, best),
            *beside_the_oracle(results, best),
        ],
    )


def _of_run(results: Results) -> Answer:
    row = results.rows[0]
    headline = (
        f"{policy_name(row)} needs {quantity(row['completion_ms'], 'ms')} and "
        f"{quantity(row['energy_j'], 'J')} of communication per iteration."
    )
    return Answer(headline, _figures(row), [*_training_time(row), *why(results, row)])


def _training_time(row: Row) -> Iterator[Reason]:
    """The time that users feel: the iteration, and what of it is communication in the open."""
    exposed, makespan = row.get("exposed_ms"), row.get("makespan_ms")
    if exposed is None or not makespan:
        return
    shown = quantity(exposed, "ms", largest=makespan)
    yield Reason(
        "Training time",
        f"An iteration takes {quantity(makespan, 'ms')}; communication that compute "
        f"does not hide is {shown} of it ({100 * exposed / makespan:.0f} %).",
    )


def _fair(results: Results, best: Row) -> Iterator[Reason]:
    """The winner beside baselines on the best structures that their fabric has."""
    rivals = [r for r in results.rows if r["policy"] in BEST_OF.values() and r is not best]
    for rival in rivals:
        lead, half = _lead(results, best, rival)
        yield Reason(
            policy_name(rival),
            f"On the best structures of its fabric it reaches a reward of "
            f"{number(rival['reward'], 3)}; against it, {policy_name(best)} needs "
            f"{_changes(best, rival)}{_shorter(best, rival)}.{_doubt(abs(lead), half)}",
        )


def _figures(row: Row) -> list[Figure]:
    return [
        _large(row["completion_ms"], "ms", "completion time, all collectives"),
        _large(row["energy_j"], "J", "transmission energy"),
        *_iteration(row),
        Figure(number(row["reward"], 3), "", "mean reward"),
    ]


def _iteration(row: Row) -> list[Figure]:
    makespan, exposed = row.get("makespan_ms"), row.get("exposed_ms")
    if makespan is None:
        return []
    bare = "" if exposed is None else f", {quantity(exposed, 'ms', largest=makespan)} exposed"
    return [_large(makespan, "ms", f"iteration{bare}")]


def _large(value: float, unit: str, meaning: str) -> Figure:
    text, _, fitting = quantity(value, unit).partition(" ")
    return Figure(text, fitting, meaning)


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
        f"{policy_name(second)} follows with a reward of {number(second['reward'], 3)}; "
        f"against it, {policy_name(best)} needs {_changes(best, second)}."
    )


def _title_without_policies(results: Results) -> str:
    if results.beyond and not results.synthesis:
        return STORIES["beyond"](results.beyond)
    if results.ladder and not results.synthesis:
        return STORIES["ladder"](results.ladder)
    if results.readings and not results.synthesis:
        return STORIES["readings"](results.readings)
    if not results.synthesis:
        return "The reward's weights move the operating point between fast and frugal."
    racks = max(row["racks"] for row in results.synthesis)
    times = " and ".join(
        f"{kind_look(row['collective']).label} in {quantity(row['mean_ms'], 'ms', 3)}"
        for row in results.synthesis
        if (row["method"], row["racks"], row["stragglers"]) == ("proposed", racks, False)
    )
    return f"{racks} racks on one THz ring: {times or 'collectives compared'}."


def _shorter(row: Row, other: Row) -> str:
    """What an iteration gains, which is less than its events do: compute hides a part."""
    mine, theirs = row.get("makespan_ms"), other.get("makespan_ms")
    if not mine or not theirs:
        return ""
    share = 1 - mine / theirs
    if abs(share) < HARDLY:
        return ""
    return f", and {100 * abs(share):.0f} % {'shorter' if share > 0 else 'longer'} iterations"


def _changes(row: Row, other: Row) -> str:
    """Time and energy against another policy, such as ``31 % less time but 4 % more energy``."""
    saved = [
        1 - row[key] / other[key] if other[key] else 0.0 for key in ("completion_ms", "energy_j")
    ]
    time, energy = (
        _less(share, noun) for share, noun in zip(saved, ("time", "energy"), strict=True)
    )
    alike = (saved[0] > -HARDLY) == (saved[1] > -HARDLY)
    return f"{time} {'and' if alike else 'but'} {energy}"


def _less(share: float, noun: str) -> str:
    if abs(share) < HARDLY:
        return f"no more {noun}"
    return f"{100 * abs(share):,.0f} % {'less' if share > 0 else 'more'} {noun}"
