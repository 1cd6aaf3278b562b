"""Tables of a sweep's page: crossovers, every point, and the runs that failed."""

from __future__ import annotations

from typing import Any

from thzsync.display import Column, Interval, Table, signed
from thzsync.display.columns import digits
from thzsync.display.labels import POLICY_LABELS, label
from thzsync.display.metrics import ALL_SWEPT, Metric
from thzsync.display.numbers import DASH
from thzsync.display.table import Value
from thzsync.report.sweep import difference_metric, difference_pct, swept
from thzsync.studies import Sweep
from thzsync.studies.axes import heading, held_name, value_name
from thzsync.studies.break_even_text import break_even_table, values_table
from thzsync.studies.curves import crossovers

Row = dict[str, Any]


def sweep_tables(sweep: Sweep) -> dict[str, list[Table]]:
    """Every table that the sweep can fill, by the section it belongs to."""
    found: dict[str, list[Table]] = {"sweep": [], "points": [point_table(sweep)]}
    if sweep.break_evens:
        found["sweep"] = [break_even_table(sweep.break_evens), values_table(sweep.break_evens)]
    elif changes := crossovers(sweep):
        found["sweep"].append(crossover_table(changes))
    if sweep.failures:
        found["points"].append(failure_table(sweep))
    return found


def point_table(sweep: Sweep) -> Table:
    """Every point and policy: the difference to the reference policy, then means."""
    difference, metrics = difference_metric(sweep), swept(sweep)
    columns = [
        *_place_columns(sweep),
        Column(difference.short, difference.unit, show=signed),
        *(Column(m.short, m.unit, show=digits(m.digits)) for m in metrics),
        Column("Seeds"),
    ]
    rows: list[list[Value]] = [
        [
            *_place(sweep, row),
            _difference(sweep, row),
            *(_mean(row, metric) for metric in metrics),
            row["seeds"],
        ]
        for row in sweep.rows
    ]
    first, last = sweep.specification.first + 1, sweep.specification.iterations
    window = f"Iteration {last}" if first == last else f"Means over iterations {first}–{last}"
    caption = (
        f"{window}; ± is the 95 % interval over seeds. “{difference.short}” is the paired "
        "difference of iteration times in per cent; below 0 is faster."
    )
    return Table("Every point", tuple(columns), rows, caption)


def crossover_table(changes: list[Row]) -> Table:
    """Where two policies change places, with 95 % intervals."""
    names = ("Metric", "Crossover", "from", "to", "Lower before", "Lower behind", "Axis", "Fixed")
    columns = tuple(Column(name, left=name not in ("Crossover", "from", "to")) for name in names)
    titles = {metric.key: metric.title for metric in ALL_SWEPT}
    rows: list[list[Value]] = [
        [
            titles[change["metric"]],
            *(value_name(change[end], change["axis"]) for end in ("x", "low", "high")),
            *(label(POLICY_LABELS, change[side]) for side in ("before", "behind")),
            heading(change["axis"]),
            held_name(change["held"]) or DASH,
        ]
        for change in changes
    ]
    caption = (
        "Straight lines between the points; from and to are the ends of the 95 % interval, a dash "
        "where it reaches beyond the axis or where one seed gives none."
    )
    return Table("Where two policies change places", columns, rows, caption)


def failure_table(sweep: Sweep) -> Table:
    """The runs that have no result, and why."""
    columns = (*_place_columns(sweep), Column("Seed"), Column("Error", left=True))
    rows: list[list[Value]] = [
        [*_place(sweep, failure), failure["seed"], failure["error"]] for failure in sweep.failures
    ]
    return Table("Runs that failed", columns, rows, "Their points stand without these seeds.")


def _place_columns(sweep: Sweep) -> list[Column]:
    return [*(Column(heading(axis)) for axis in sweep.axes), Column("Policy", left=True)]


def _place(sweep: Sweep, row: Row) -> list[Value]:
    values = (value_name(row[axis], axis) for axis in sweep.axes)
    return [*values, label(POLICY_LABELS, row["policy"])]


def _difference(sweep: Sweep, row: Row) -> Value:
    if row["policy"] == sweep.policies[0]:
        return None
    found = difference_pct(sweep, row, row["policy"])
    return None if found is None else Interval(*found)


def _mean(row: Row, metric: Metric) -> Interval:
    return Interval(metric.scale * row[metric.key], metric.scale * row[f"ci95_{metric.key}"])
