"""What is said of a sweep: who is fastest where, where that changes, and what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from thzsync.display import counted, quantity, with_half
from thzsync.display.labels import POLICY_LABELS, label, policy_name
from thzsync.display.metrics import MAKESPAN, Metric
from thzsync.report.source import Row
from thzsync.report.story import Reason
from thzsync.report.sweep import leads
from thzsync.studies import Sweep
from thzsync.studies.axes import held_name, key_name, leading_axes, value_name
from thzsync.studies.break_even_text import headline, sentence
from thzsync.studies.curves import Crossover, all_panels

MOST_CROSSOVERS: Final = 4
"""More than these are left to the table."""


def sweep_headline(sweep: Sweep) -> str:
    """Who has the shortest iteration, and at how many points; of one policy, the range."""
    if sweep.break_evens:
        return headline(sweep.break_evens)
    if len(sweep.policies) == 1:
        times = [row[MAKESPAN.key] for row in sweep.rows]
        least, most = (quantity(t, "ms", largest=max(times)) for t in (min(times), max(times)))
        return f"{label(POLICY_LABELS, sweep.policies[0])}: iterations of {least} to {most}."
    found = leads(sweep)
    won = Counter(lead.policy for lead in found if lead.decided)
    unsure = len(found) - won.total()
    if not won:
        one = len(sweep.specification.seeds) == 1
        reason = "one seed decides nothing" if one else "too close to call"
        return f"No policy is certainly fastest at any point: {reason}."
    (first, count), *others = ((label(POLICY_LABELS, p), n) for p, n in won.most_common())
    if count == len(found):
        return f"{first} has the shortest iteration at every point."
    parts = [f"{first} has the shortest iteration at {count} of {len(found)} points"]
    parts += [f"{name} at {times}" for name, times in others]
    return f"{', '.join(parts)}{f'; {unsure} too close to call' if unsure else ''}."


def sweep_findings(sweep: Sweep, least: dict[Metric, Row]) -> Iterator[Reason]:
    """Where the fastest policy changes, the points with the least values, what is missing."""
    if len(sweep.break_evens) != 1:  # whose sentence is the headline
        yield from (Reason("Break-even", sentence(one)) for one in sweep.break_evens)
    if not sweep.break_evens:
        yield from _crossovers(sweep)
    for metric, row in least.items():
        yield _least(sweep, metric, row)
    yield from _gaps(sweep)


def _crossovers(sweep: Sweep) -> Iterator[Reason]:
    found = [
        (panel, crossover)
        for axis in leading_axes(sweep)
        for panel in all_panels(sweep, MAKESPAN.key, axis)
        for crossover in panel.crossovers
    ]
    for panel, one in found[:MOST_CROSSOVERS]:
        before, behind = (label(POLICY_LABELS, p) for p in (one.before, one.behind))
        place = f", at {held_name(panel.held)}" if panel.held else ""
        yield Reason(
            f"Crossover along {key_name(panel.axis)}",
            f"{before} is faster up to {value_name(one.x, panel.axis)}, {behind} beyond it{place} "
            f"({_interval(sweep, one, panel.axis)}).",
        )
    if len(found) > MOST_CROSSOVERS:
        more = len(found) - MOST_CROSSOVERS
        yield Reason("Further crossovers", f"{more} more in the table below the curves.")


def _interval(sweep: Sweep, one: Crossover, axis: str) -> str:
    if one.low is None and one.high is None:
        known = len(sweep.specification.seeds) > 1
        reach = "its 95 % interval reaches beyond both ends of the axis"
        return reach if known else "one seed gives no interval"
    low, high = (None if end is None else value_name(end, axis) for end in (one.low, one.high))
    if low and high:
        return f"95 %: {low} to {high}"
    return f"95 %: from {low} on" if low else f"95 %: up to {high}"


def _least(sweep: Sweep, metric: Metric, row: Row) -> Reason:
    place = held_name({axis: row[axis] for axis in leading_axes(sweep)})
    value = with_half(row[metric.key], row[f"ci95_{metric.key}"], metric.unit)
    where = f"{policy_name(row)}{f' at {place}' if place else ''}"
    return Reason(f"Least {metric.title.lower()}", f"{where}: {value}.")


def _gaps(sweep: Sweep) -> Iterator[Reason]:
    if sweep.failures:
        count = counted(len(sweep.failures), "run")
        text = f"{count} failed and have no part in the numbers; see the last table."
        yield Reason("Failed", text)
    if sweep.missing:
        yield Reason("Not there yet", f"Missing of the plan: {counted(sweep.missing, 'run')}.")
