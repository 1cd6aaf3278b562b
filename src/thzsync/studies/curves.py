"""The numbers behind a sweep's pictures, as plain values for any renderer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from thzsync.arrays import FloatArray
from thzsync.display.metrics import MORE_ENERGY, more_energy
from thzsync.errors import ThzSyncError
from thzsync.experiments.comparison import METRICS
from thzsync.experiments.statistics import interval95
from thzsync.studies.axes import is_number, leading_axes

if TYPE_CHECKING:
    from thzsync.studies.result import Row, Sweep


@dataclass(frozen=True)
class Curve:
    """One policy along an axis."""

    policy: str
    x: list[Any]
    mean: list[float]
    half: list[float]
    """Half-widths of the 95 % intervals; NaN of one seed."""


@dataclass(frozen=True)
class Crossover:
    """The place where the mean paired difference of two policies changes its sign."""

    before: str
    """The policy with the lower values up to here."""
    behind: str
    """The policy with the lower values from here on."""
    x: float
    low: float | None
    """Least place at which the difference may be zero (95 %); ``None`` beyond the axis."""
    high: float | None
    """Greatest such place; ``None`` beyond the axis."""


@dataclass(frozen=True)
class Panel:
    """All policies along an axis; all other axes are fixed."""

    axis: str
    held: dict[str, Any]
    curves: list[Curve]
    crossovers: list[Crossover]


def panels(
    sweep: Sweep,
    metric: str = "completion_ms",
    axis: str | None = None,
    split: str | None = None,
    at: Row | None = None,
) -> list[Panel]:
    """A metric along ``axis``, one panel per value of ``split``; ``at`` holds the other axes."""
    if metric not in METRICS:
        raise ThzSyncError(f"metric: found {metric!r}; use one of {', '.join(METRICS)}")
    held = at or {}
    axis, split = _choose_axes(sweep, axis, split, held)
    shown = [held] if split is None else [held | part for part in _combinations(sweep, [split])]
    found = [_panel(sweep, metric, axis, values) for values in shown]
    return [panel for panel in found if panel.curves]


def all_panels(sweep: Sweep, metric: str, axis: str) -> list[Panel]:
    """A metric along ``axis``, one panel per combination of values of all other axes."""
    others = [key for key in leading_axes(sweep) if key != axis]
    return [_panel(sweep, metric, axis, held) for held in _combinations(sweep, others)]


def crossovers(sweep: Sweep) -> list[dict[str, Any]]:
    """Where any two policies change places in any metric, along every axis with numbers."""
    return [
        {"metric": metric, "axis": axis, "held": panel.held, **asdict(crossover)}
        for axis in leading_axes(sweep)
        for metric in told_metrics(sweep)
        for panel in all_panels(sweep, metric, axis)
        for crossover in panel.crossovers
    ]


def told_metrics(sweep: Sweep) -> list[str]:
    """The metrics, those of energy only where they differ from transmission energy."""
    same = () if more_energy(sweep.rows) else [metric.key for metric in MORE_ENERGY]
    return [metric for metric in METRICS if metric not in same]


def _choose_axes(
    sweep: Sweep, axis: str | None, split: str | None, at: Row
) -> tuple[str, str | None]:
    free = [key for key in leading_axes(sweep) if key not in at]
    for key in (axis, split, *at):
        if key is not None and key not in sweep.axes:
            known = ", ".join(sweep.axes) or "none"
            raise ThzSyncError(f"axis: {key!r} does not vary in this sweep; its axes are {known}")
    if not free:
        raise ThzSyncError("axis: nothing varies here; a picture needs an axis")
    chosen = axis or next(key for key in free if key != split)
    rest = [key for key in free if key not in (chosen, split)]
    if split is None and rest:
        split = rest.pop(0)
    if rest:
        raise ThzSyncError(f"at: fix {', '.join(rest)} at one value each, at={{{rest[0]!r}: ...}}")
    return chosen, split


def _combinations(sweep: Sweep, keys: Sequence[str]) -> list[Row]:
    held = ({key: point[key] for key in keys} for point in sweep.points)
    return list({repr(values): values for values in held}.values())


def panel_points(sweep: Sweep, axis: str, others: Sequence[str]) -> Iterator[tuple[Row, list[Row]]]:
    """Every combination of the other axes' values, with its points along ``axis``."""
    for held in _combinations(sweep, others):
        yield held, _points(sweep, axis, held)


def _points(sweep: Sweep, axis: str, held: Row) -> list[Row]:
    points = [p for p in sweep.points if all(p[key] == value for key, value in held.items())]
    if all(is_number(point[axis]) for point in points):
        points.sort(key=lambda point: point[axis])
    return points


def _panel(sweep: Sweep, metric: str, axis: str, held: Row) -> Panel:
    points = _points(sweep, axis, held)
    curves = [c for p in sweep.policies if (c := _curve(sweep, metric, axis, points, p)).x]
    return Panel(axis, held, curves, list(_crossovers(sweep, metric, axis, points)))


def _curve(sweep: Sweep, metric: str, axis: str, points: list[Row], policy: str) -> Curve:
    curve = Curve(policy, [], [], [])
    for point in points:
        values = sweep.seed_means(point, policy)[metric].to_numpy()
        if len(values):
            mean, half = interval95(values)
            curve.x.append(point[axis])
            curve.mean.append(mean)
            curve.half.append(half)
    return curve


def _crossovers(sweep: Sweep, metric: str, axis: str, points: list[Row]) -> Iterator[Crossover]:
    if not all(is_number(point[axis]) for point in points):
        return
    for one, other in combinations(sweep.policies, 2):
        pairs = [sweep.differences(point, one, other)[metric].to_numpy() for point in points]
        if len(pairs) < 2 or not all(len(values) for values in pairs):
            continue
        means, halves = zip(*(interval95(values) for values in pairs), strict=True)
        x = np.array([point[axis] for point in points], dtype=np.float64)
        yield from find_crossovers(one, other, x, np.array(means), np.array(halves))


def find_crossovers(
    one: str, other: str, x: FloatArray, difference: FloatArray, half: FloatArray
) -> Iterator[Crossover]:
    """Crossovers of two policies; ``difference`` is ``one`` minus ``other`` at the places ``x``.

    Between the places the difference and its 95 % band are taken as straight lines. Where the band
    does not hold zero, the order is decided; the interval is what lies between decided places.
    Without intervals, as from one seed, both its ends are unknown.
    """
    for a, b in pairwise(int(k) for k in np.flatnonzero(difference)):
        if difference[a] * difference[b] > 0:
            continue
        centre = _zero(x, difference, a) if b == a + 1 else float(x[a + 1])
        before, behind = (one, other) if difference[a] < 0 else (other, one)
        rising = difference if difference[a] < 0 else -difference
        # Where the band's upper edge last leaves the negative side up to the crossover, and where
        # its lower edge first reaches the positive side from there on.
        below = np.flatnonzero((rising + half)[: b + 1] < 0)
        above = a + np.flatnonzero((rising - half)[a:] > 0)
        low = _zero(x, rising + half, int(below[-1])) if len(below) else None
        high = _zero(x, rising - half, int(above[0]) - 1) if len(above) else None
        yield Crossover(before, behind, centre, low, high)


def _zero(x: FloatArray, y: FloatArray, k: int) -> float:
    return float(x[k] - y[k] * (x[k + 1] - x[k]) / (y[k + 1] - y[k]))
