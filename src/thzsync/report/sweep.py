"""A sweep for the page's charts: every metric along every axis, lowered to plain values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from operator import itemgetter
from typing import Any, Final, NamedTuple

from thzsync.display.labels import POLICY_LABELS, label, short, styles
from thzsync.display.metrics import MAKESPAN, MORE_ENERGY, SWEPT, Metric, more_energy
from thzsync.display.numbers import LADDERS
from thzsync.experiments.statistics import interval95, paired_pct, verdict
from thzsync.scenario import Scenario
from thzsync.scenario.changes import changed
from thzsync.studies import Sweep
from thzsync.studies.axes import axis_title, held_name, is_number, is_wide, leading_axes, value_name
from thzsync.studies.curves import Crossover, Curve, Panel, all_panels

DIFFERENCE = "makespan_diff_pct"
"""The paired difference of iteration times to the reference policy, in per cent of its time."""
_CONCERNED: Final = ("floor.", "optical.", "thz.", "energy.", "channel.", "overlay")
Row = dict[str, Any]
Values = dict[str, list[Any]]
"""The values of every axis in the order of the page: numbers rise, others stand as given."""


def break_even_metric(sweep: Sweep) -> Metric:
    """The first picture of a break-even's page: the difference whose zero is sought."""
    metric, against = sweep.break_evens[0].metric, label(POLICY_LABELS, sweep.policies[0])
    title = f"{metric.title} against {against}"
    return replace(metric, key=f"{metric.key}_diff", title=title)


def difference_metric(sweep: Sweep) -> Metric:
    """The first picture of other pages; it needs a policy beside the reference."""
    against = label(POLICY_LABELS, sweep.policies[0])
    return Metric(DIFFERENCE, f"Iteration time against {against}", f"vs {against}", "%", 3, "low")


def difference_pct(sweep: Sweep, point: Row, policy: str) -> tuple[float, float] | None:
    """Mean and half-width of the paired difference at a point, over seeds that both finished."""
    against = sweep.seed_means(point, sweep.policies[0])
    both = sweep.seed_means(point, policy).join(against, on="seed", suffix=" against")
    if not both.height:
        return None
    ours, theirs = (both[f"makespan_ms{end}"].to_numpy() for end in ("", " against"))
    return paired_pct(ours, theirs)


class Lead(NamedTuple):
    """Who has the shortest iteration at a point, and whether the paired seeds decide it."""

    policy: str
    decided: bool


def leads(sweep: Sweep) -> list[Lead]:
    """Who leads at every point that has results."""
    return [lead for point in sweep.points if (lead := _lead(sweep, point)) is not None]


def _lead(sweep: Sweep, point: Row) -> Lead | None:
    times = {p: sweep.seed_means(point, p)[MAKESPAN.key].to_numpy() for p in sweep.policies}
    means = {policy: float(found.mean()) for policy, found in times.items() if len(found)}
    if not means:
        return None
    best = min(means, key=lambda policy: means[policy])
    paired = [sweep.differences(point, p, best)[MAKESPAN.key] for p in means if p != best]
    decided = all(len(d) and verdict(*interval95(d.to_numpy())) is True for d in paired)
    return Lead(best, decided)


def swept_scenarios(sweep: Sweep) -> list[Scenario]:
    """The scenarios of a sweep that differ in the floor, the fibre or the radio."""
    chosen = [axis for axis in sweep.axes if axis.startswith(_CONCERNED)]
    sought = sweep.specification.break_even
    points = sweep.points if sought is None else sorted(sweep.points, key=itemgetter(sought.key))
    places = {repr(p): p for point in points if (p := {a: point[a] for a in chosen})}
    return [changed(sweep.scenario, p, "sweep") for p in places.values()] or [sweep.scenario]


def swept(sweep: Sweep) -> tuple[Metric, ...]:
    """The metrics of a sweep that the page shows."""
    return *SWEPT, *(MORE_ENERGY if more_energy(sweep.rows) else ())


def sweep_data(sweep: Sweep) -> dict[str, Any]:
    """What the page draws. A sweep in which nothing varies has tables only."""
    values = {axis: _sorted(point[axis] for point in sweep.points) for axis in leading_axes(sweep)}
    data: dict[str, Any] = {
        "units": LADDERS,
        "policies": styles(POLICY_LABELS, sweep.policies),
        "seeds": len(sweep.specification.seeds),
        "points": len(sweep.points),
    }
    if values:
        data["sweep"] = {
            "against": sweep.policies[0],
            "metrics": [*_paired(sweep), *(metric.described() for metric in swept(sweep))],
            "axes": [_axis(sweep, axis, found) for axis, found in values.items()],
            "panels": {axis: _panels(sweep, axis, values) for axis in _drawn(sweep)},
        }
    return data


def _paired(sweep: Sweep) -> list[dict[str, Any]]:
    """The first metric, with what is said of its sign: a paired difference."""
    if sweep.break_evens:
        metric = break_even_metric(sweep)
        note = {"low": "below 0 is better", "high": "above 0 is better", "": ""}[metric.better]
        return [metric.described() | {"paired": note}]
    if len(sweep.policies) > 1:
        return [difference_metric(sweep).described() | {"paired": "below 0 is faster"}]
    return []


def _drawn(sweep: Sweep) -> list[str]:
    """The axes that pictures have: a break-even has few points in common along the others."""
    return leading_axes(sweep)[: 1 if sweep.break_evens else None]


def _sorted(values: Iterable[Any]) -> list[Any]:
    different = list(dict.fromkeys(values))
    return sorted(different) if all(map(is_number, different)) else different


def _axis(sweep: Sweep, axis: str, values: list[Any]) -> Row:
    """An axis with the names of its values and where they are drawn."""
    numeric = all(map(is_number, values))
    return {
        "key": axis,
        "title": axis_title(sweep, axis),
        "names": [value_name(value, axis) for value in values],
        "places": values if numeric else list(range(len(values))),
        "numeric": numeric,
        "wide": numeric and is_wide(values, axis),
    }


def _panels(sweep: Sweep, axis: str, values: Values) -> list[Row]:
    """One panel per combination of the other axes' values, all metrics in it."""
    of_metrics = zip(*(all_panels(sweep, metric.key, axis) for metric in swept(sweep)), strict=True)
    return [_panel(sweep, members, values) for members in of_metrics if members[0].curves]


def _panel(sweep: Sweep, members: tuple[Panel, ...], values: Values) -> Row:
    """One panel; ``members`` are its metrics."""
    first, against = members[0], sweep.policies[0]
    drawn = values[first.axis]
    series, crossovers = {}, {}
    for metric, one in zip(swept(sweep), members, strict=True):
        series[metric.key] = {c.policy: _curve(c, drawn, metric.scale) for c in one.curves}
        crossovers[metric.key] = [_crossover(found, one.axis) for found in one.crossovers]
    for found in (found for found in sweep.break_evens if found.held == first.held):
        key, scale = f"{found.metric.key}_diff", found.metric.scale
        curve = Curve(found.policy, found.x.tolist(), found.mean.tolist(), found.half.tolist())
        series[key] = {found.policy: _curve(curve, drawn, scale)}
        crossovers[key] = [_crossover(turn, first.axis) for turn in found.turns]
    if len(sweep.policies) > 1:
        series[DIFFERENCE] = {
            c.policy: _curve(_difference(sweep, c.policy, first), drawn)
            for c in first.curves
            if c.policy != against
        }
        crossovers[DIFFERENCE] = [
            found
            for found in crossovers[MAKESPAN.key]
            if against in (found["before"], found["behind"])
        ]
    return {
        "held": {key: values[key].index(value) for key, value in first.held.items()},
        "title": held_name(first.held),
        "series": series,
        "crossovers": crossovers,
    }


def _difference(sweep: Sweep, policy: str, panel: Panel) -> Curve:
    points = [p for p in sweep.points if all(p[k] == value for k, value in panel.held.items())]
    found = [(p[panel.axis], d) for p in points if (d := difference_pct(sweep, p, policy))]
    means, halves = ([d[k] for _, d in found] for k in (0, 1))
    return Curve(policy, [x for x, _ in found], means, halves)


def _curve(curve: Curve, values: list[Any], scale: float = 1.0) -> dict[str, list[Any]]:
    order = sorted(range(len(curve.x)), key=lambda k: values.index(curve.x[k]))
    return {
        "at": [values.index(curve.x[k]) for k in order],
        "mean": [short(scale * curve.mean[k]) for k in order],
        "half": [short(scale * curve.half[k]) for k in order],
    }


def _crossover(found: Crossover, axis: str) -> Row:
    ends = {"x": found.x, "low": found.low, "high": found.high}
    named = {end: None if x is None else value_name(x, axis) for end, x in ends.items()}
    return {"before": found.before, "behind": found.behind, **ends, "names": named}
