"""A sweep for the page's charts: every metric along every axis, lowered to plain values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from thzsync.display.labels import POLICY_LABELS, short, styles
from thzsync.display.metrics import COMPLETION, ENERGY, MAKESPAN, REWARD, THZ_SHARE
from thzsync.display.numbers import LADDERS
from thzsync.studies.axes import axis_title, held_name, is_number, is_wide, leading_axes, value_name
from thzsync.studies.crossover import Crossover
from thzsync.studies.curves import Curve, Panel, all_panels

if TYPE_CHECKING:
    from thzsync.studies import Sweep

SWEPT: Final = (COMPLETION, ENERGY, REWARD, MAKESPAN, THZ_SHARE)
"""Metrics that can be chosen, the first of them at the beginning."""


def sweep_data(sweep: Sweep) -> dict[str, Any]:
    """What the page draws. A sweep in which nothing varies has tables only."""
    values = _all_values(sweep)
    data: dict[str, Any] = {
        "units": LADDERS,
        "policies": styles(POLICY_LABELS, sweep.policies),
        "seeds": len(sweep.specification.seeds),
        "points": len(sweep.points),
    }
    if values:
        data["sweep"] = {
            "metrics": [
                {"key": m.key, "title": m.title, "unit": m.unit, "better": m.better} for m in SWEPT
            ],
            "axes": [_axis(sweep, axis, found) for axis, found in values.items()],
            "panels": {axis: _panels(sweep, axis, values) for axis in values},
        }
    return data


Values = dict[str, list[Any]]
"""The values of every axis in the order of the page: numbers rise, others stand as given."""


def _all_values(sweep: Sweep) -> Values:
    return {axis: _sorted(point[axis] for point in sweep.points) for axis in leading_axes(sweep)}


def _sorted(values: Iterable[Any]) -> list[Any]:
    different = list(dict.fromkeys(values))
    return sorted(different) if all(map(is_number, different)) else different


def _axis(sweep: Sweep, axis: str, values: list[Any]) -> dict[str, Any]:
    """An axis with the names of its values and where they are drawn."""
    numeric = all(map(is_number, values))
    return {
        "key": axis,
        "title": axis_title(sweep, axis),
        "names": [value_name(value) for value in values],
        "places": values if numeric else list(range(len(values))),
        "numeric": numeric,
        "wide": numeric and is_wide(values),
    }


def _panels(sweep: Sweep, axis: str, values: Values) -> list[dict[str, Any]]:
    """One panel per combination of the other axes' values, all metrics in it."""
    of_metrics = zip(*(all_panels(sweep, metric.key, axis) for metric in SWEPT), strict=True)
    return [_panel(members, values) for members in of_metrics if members[0].curves]


def _panel(members: tuple[Panel, ...], values: Values) -> dict[str, Any]:
    """One panel; ``members`` are its metrics."""
    first, named = members[0], list(zip(SWEPT, members, strict=True))
    return {
        "held": {key: values[key].index(value) for key, value in first.held.items()},
        "title": held_name(first.held),
        "series": {
            metric.key: {c.policy: _curve(c, values[one.axis], metric.scale) for c in one.curves}
            for metric, one in named
        },
        "crossovers": {
            metric.key: [_crossover(found) for found in one.crossovers] for metric, one in named
        },
    }


def _curve(curve: Curve, values: list[Any], scale: float) -> dict[str, list[Any]]:
    return {
        "at": [values.index(x) for x in curve.x],
        "mean": [short(scale * mean) for mean in curve.mean],
        "half": [short(scale * half) for half in curve.half],
    }


def _crossover(found: Crossover) -> dict[str, Any]:
    ends = {"x": found.x, "low": found.low, "high": found.high}
    named = {end: None if x is None else value_name(x) for end, x in ends.items()}
    return {"before": found.before, "behind": found.behind, **ends, "names": named}
