"""A sweep as a picture: a metric against an axis, policies with intervals, crossovers marked."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from thzsync.display.labels import POLICY_LABELS, label
from thzsync.drawing import legend_above, look, new_figure, save_picture, styled
from thzsync.experiments.comparison import METRIC_TITLES
from thzsync.studies.axes import (
    axis_title,
    heading,
    held_name,
    is_number,
    is_wide,
    leading_axes,
    value_name,
)
from thzsync.studies.curves import Crossover, Curve, Panel, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from thzsync.studies.break_evens import Finding
    from thzsync.studies.result import Row, Sweep

SAVED: Final = ("completion_ms", "energy_j")
"""Metrics whose pictures are saved with a sweep."""
NEAR_ZERO: Final = 0.2
"""The axis of values begins at 0 where the least value is below this share of the greatest one;
elsewhere curves that compete would coincide."""


def draw(
    sweep: Sweep,
    metric: str = "completion_ms",
    axis: str | None = None,
    split: str | None = None,
    at: Row | None = None,
) -> Figure:
    """The picture; see ``Sweep.plot``."""
    made = panels(sweep, metric, axis, split, at)
    with styled():
        figure, all_axes = new_figure(len(made))
        for axes, panel in zip(all_axes, made, strict=True):
            _draw_panel(axes, panel, sweep.policies)
            if len(made) > 1:
                axes.set_title(held_name(panel.held), fontsize=8, wrap=True)
        for axes in all_axes:
            axes.set_xlabel(axis_title(sweep, made[0].axis))
            axes.label_outer()
        means = [mean for panel in made for curve in panel.curves for mean in curve.mean]
        if min(means) >= 0 and min(means) < NEAR_ZERO * max(means):
            all_axes[0].set_ylim(bottom=0)
        all_axes[0].set_ylabel(METRIC_TITLES[metric])
        legend_above(figure, all_axes[0])
    return figure


def draw_break_even(sweep: Sweep) -> Figure:
    """The paired difference along the key with its 95 % band, and where it is zero; see there."""
    found = sweep.break_evens
    with styled():
        figure, all_axes = new_figure(len(found))
        for axes, one in zip(all_axes, found, strict=True):
            _draw_difference(axes, one)
            if len(found) > 1:
                axes.set_title(held_name(one.held), fontsize=8, wrap=True)
            axes.set_xlabel(heading(one.sought.key))
            axes.label_outer()
        metric = found[0].metric
        unit = f" [{metric.unit}]" if metric.unit else ""
        names = (label(POLICY_LABELS, p) for p in (found[0].policy, found[0].against))
        all_axes[0].set_ylabel(f"{metric.title}{unit},\n{' minus '.join(names)}")
    return figure


def _draw_difference(axes: Axes, one: Finding) -> None:
    scale = one.metric.scale
    mean, half = scale * one.mean, scale * np.nan_to_num(one.half)
    style = look(0)
    axes.axhline(0, color="0.2", linewidth=1)
    axes.plot(one.x, mean, **style)
    axes.fill_between(one.x, mean - half, mean + half, color=style["color"], alpha=0.15, lw=0)
    known = Curve(one.policy, one.x.tolist(), mean.tolist(), half.tolist())
    key = one.sought.key
    panel, wide = Panel(key, one.held, [known], one.turns), is_wide(known.x, key)
    places = (np.geomspace if wide else np.linspace)(known.x[0], known.x[-1], 4).tolist()
    axes.set_xscale("log" if wide else "linear")
    axes.minorticks_off()
    axes.set_xticks(places, [value_name(place, key) for place in places])
    for turn in one.turns:
        _mark(axes, panel, turn)


def save_pictures(sweep: Sweep, folder: str | Path) -> list[Path]:
    """Draw the chief metrics against the first axis into a folder, as PNG and SVG."""
    groups = leading_axes(sweep)
    if not groups:
        return []
    if sweep.break_evens:
        figure = draw_break_even(sweep)
        paths = [Path(folder) / f"figures/break_even_by_{groups[0]}.{s}" for s in ("png", "svg")]
        return [save_picture(figure, path) for path in paths]
    # More than two axes do not fit a page: the others are fixed at their first value.
    at = {key: sweep.points[0][key] for key in groups[2:]}
    written = []
    for metric in SAVED:
        figure = draw(sweep, metric, groups[0], at=at)
        for suffix in ("png", "svg"):
            path = Path(folder) / "figures" / f"{metric}_by_{groups[0]}.{suffix}"
            written.append(save_picture(figure, path))
    return written


def _draw_panel(axes: Axes, panel: Panel, policies: tuple[str, ...]) -> None:
    numeric = all(is_number(x) for curve in panel.curves for x in curve.x)
    for curve in panel.curves:
        half = [h if isfinite(h) else 0.0 for h in curve.half]  # an unknown width is not drawn
        x = curve.x if numeric else [str(value) for value in curve.x]
        style = look(policies.index(curve.policy))
        axes.errorbar(
            x, curve.mean, half, label=label(POLICY_LABELS, curve.policy), capsize=2, **style
        )
    if numeric:
        _scale(axes, panel)
    for crossover in panel.crossovers:
        _mark(axes, panel, crossover)


def _scale(axes: Axes, panel: Panel) -> None:
    values = sorted({x for curve in panel.curves for x in curve.x})
    if is_wide(values, panel.axis):
        axes.set_xscale("log", base=2)
        axes.minorticks_off()
    if len(values) <= 8:
        axes.set_xticks(values, [value_name(value, panel.axis) for value in values])


def _mark(axes: Axes, panel: Panel, crossover: Crossover) -> None:
    axes.axvline(crossover.x, color="0.4", linestyle=":", linewidth=1)
    x = [value for curve in panel.curves for value in curve.x]
    if crossover.low is not None or crossover.high is not None:
        low = min(x) if crossover.low is None else crossover.low
        high = max(x) if crossover.high is None else crossover.high
        axes.axvspan(low, high, color="0.5", alpha=0.15, linewidth=0)
    axes.annotate(
        value_name(crossover.x, panel.axis),
        (crossover.x, 1),
        xycoords=("data", "axes fraction"),
        xytext=(2, -8),
        textcoords="offset points",
        fontsize=7,
    )
