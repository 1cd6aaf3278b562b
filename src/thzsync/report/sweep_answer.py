"""The answer of a sweep at a glance: who is fastest where, and where that changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thzsync.display import counted, number, quantity
from thzsync.display.labels import POLICY_LABELS, label
from thzsync.display.metrics import COMPLETION, ENERGY, Metric
from thzsync.display.numbers import fitting_unit
from thzsync.experiments.statistics import interval95, verdict
from thzsync.report.answer import Answer, Figure
from thzsync.report.reasons import Reason
from thzsync.studies.axes import held_name, leading_axes, value_name
from thzsync.studies.curves import all_panels

if TYPE_CHECKING:
    from thzsync.studies import Sweep
    from thzsync.studies.crossover import Crossover

Row = dict[str, Any]
MOST_CROSSOVERS = 4
"""More than these are left to the table."""


class Lead(NamedTuple):
    """Who has the least completion time at a point, and whether the paired seeds decide it."""

    policy: str
    decided: bool


def sweep_title(sweep: Sweep) -> str:
    """The question, or what varies."""
    axes = " and ".join(leading_axes(sweep))
    return sweep.specification.question or (f"A sweep of {axes}" if axes else "A sweep")


def sweep_facts(sweep: Sweep) -> str:
    """What was run, in one line."""
    specification = sweep.specification
    return " · ".join(
        (
            f"scenario “{sweep.scenario.name}”",
            counted(len(sweep.points), "point"),
            f"{len(sweep.policies)} {'policy' if len(sweep.policies) == 1 else 'policies'}",
            sweep.seeds_text,
            counted(specification.iterations, "iteration"),
        )
    )


def sweep_answer(sweep: Sweep) -> Answer:
    """What a reader should know after ten seconds."""
    return Answer(
        _headline(sweep),
        [_figure(_best(sweep, metric), metric) for metric in (COMPLETION, ENERGY) if sweep.rows],
        [*_crossovers(sweep), *_least(sweep), *_unfinished(sweep)],
    )


def leads(sweep: Sweep) -> list[Lead]:
    """Who leads at every point that has results."""
    return [lead for point in sweep.points if (lead := _lead(sweep, point)) is not None]


def _lead(sweep: Sweep, point: Row) -> Lead | None:
    means = {
        policy: float(np.mean(values))
        for policy in sweep.policies
        if len(values := sweep.seed_means(point, policy)["completion_ms"].to_numpy())
    }
    if not means:
        return None
    best = min(means, key=lambda policy: means[policy])
    rivals = [policy for policy in means if policy != best]
    return Lead(best, all(_beats(sweep, point, best, rival) for rival in rivals))


def _beats(sweep: Sweep, point: Row, best: str, rival: str) -> bool:
    paired = sweep.differences(point, rival, best)["completion_ms"].to_numpy()
    return bool(len(paired)) and verdict(*interval95(paired)) is True


def _headline(sweep: Sweep) -> str:
    if len(sweep.policies) == 1:
        times = [row["completion_ms"] for row in sweep.rows]
        least, most = (quantity(t, "ms", largest=max(times)) for t in (min(times), max(times)))
        name = label(POLICY_LABELS, sweep.policies[0])
        return f"{name} completes its collectives in {least} to {most}."
    found = leads(sweep)
    won = Counter(lead.policy for lead in found if lead.decided)
    open_points = len(found) - won.total()
    if not won:
        reason = "one seed decides nothing" if _one_seed(sweep) else "too close to call"
        return f"No policy is fastest for certain at any point: {reason}."
    (first, count), *others = won.most_common()
    if count == len(found):
        return f"{label(POLICY_LABELS, first)} is fastest at every point."
    parts = [f"{label(POLICY_LABELS, first)} is fastest at {count} of {len(found)} points"]
    parts += [f"{label(POLICY_LABELS, policy)} at {times}" for policy, times in others]
    doubt = f"; {open_points} too close to call" if open_points else ""
    return f"{', '.join(parts)}{doubt}."


def _one_seed(sweep: Sweep) -> bool:
    return len(sweep.specification.seeds) == 1


def _crossovers(sweep: Sweep) -> Iterator[Reason]:
    found = [
        (panel, crossover)
        for axis in leading_axes(sweep)
        for panel in all_panels(sweep, "completion_ms", axis)
        for crossover in panel.crossovers
    ]
    for panel, crossover in found[:MOST_CROSSOVERS]:
        before, behind = (label(POLICY_LABELS, p) for p in (crossover.before, crossover.behind))
        place = f", at {held_name(panel.held)}" if panel.held else ""
        yield Reason(
            f"Crossover along {panel.axis}",
            f"{before} is faster up to {value_name(crossover.x)}, {behind} beyond it{place} "
            f"({_interval(crossover, _one_seed(sweep))}).",
        )
    if len(found) > MOST_CROSSOVERS:
        more = len(found) - MOST_CROSSOVERS
        yield Reason("Further crossovers", f"{more} more in the table below the curves.")


def _interval(crossover: Crossover, one_seed: bool) -> str:
    low, high = (
        None if end is None else value_name(end) for end in (crossover.low, crossover.high)
    )
    if low is not None and high is not None:
        return f"95 %: {low} to {high}"
    if one_seed:
        return "one seed gives no interval"
    if low is None and high is None:
        return "its 95 % interval reaches beyond both ends of the axis"
    return f"95 %: from {low} on" if low is not None else f"95 %: up to {high}"


def _least(sweep: Sweep) -> Iterator[Reason]:
    for metric, word in ((COMPLETION, "Least time"), (ENERGY, "Least energy")):
        if not sweep.rows:
            continue
        row = _best(sweep, metric)
        unit, factor = fitting_unit(metric.unit, row[metric.key])
        half = row[f"ci95_{metric.key}"]
        spread = f" ± {number(half * factor, 2)}" if isfinite(half) else ""
        value = f"{number(row[metric.key] * factor, 4)}{spread} {unit}"
        yield Reason(word, f"{label(POLICY_LABELS, row['policy'])}{_place(sweep, row)}: {value}.")


def _unfinished(sweep: Sweep) -> Iterator[Reason]:
    if sweep.failures:
        count = counted(len(sweep.failures), "run")
        yield Reason(
            "Failed", f"{count} failed and have no part in the numbers; see the last table."
        )
    if sweep.missing:
        yield Reason("Not there yet", f"Missing of the plan: {counted(sweep.missing, 'run')}.")


def _figure(row: Row, metric: Metric) -> Figure:
    text, _, unit = quantity(row[metric.key], metric.unit).partition(" ")
    return Figure(text, unit, f"least {metric.title.lower()} of any point")


def _best(sweep: Sweep, metric: Metric) -> Row:
    return min(sweep.rows, key=lambda row: float(row[metric.key]))


def _place(sweep: Sweep, row: Row) -> str:
    held = held_name({axis: row[axis] for axis in leading_axes(sweep)})
    return f" at {held}" if held else ""
