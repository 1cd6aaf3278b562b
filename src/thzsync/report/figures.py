"""The published figures redrawn as PDF and PNG, with the published points beside ours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from thzsync.display.labels import COLOURS, POLICY_LABELS, styles
from thzsync.display.metrics import COMPLETION, ENERGY, Metric
from thzsync.drawing import MARKERS, blank, in_fitting_unit, save_picture, styled
from thzsync.report.curves import curve_metrics, learning_curves
from thzsync.report.data import synthesis_panels, weight_rows
from thzsync.report.source import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def write_figures(results: Results, folder: str | Path | None = None) -> list[Path]:
    """Draw every figure that the results can fill; each becomes a PDF and a PNG."""
    if results.sweep is not None:
        from thzsync.studies.picture import save_pictures

        return save_pictures(results.sweep, results.folder)
    target = results.folder / "figures" if folder is None else Path(folder)
    with styled():
        return [
            save_picture(figure, target / f"{name}.{suffix}", dpi=200)
            for name, figure in _figures(results)
            for suffix in ("pdf", "png")
        ]


def _figures(results: Results) -> Iterator[tuple[str, Figure]]:
    if results.kind == "ask":
        yield "answer", results.asked[0].plot()
    if results.fabric is not None:
        curves = learning_curves(results, results.fabric)
        series = styles(POLICY_LABELS, results.fabric.policies)
        for metric in curve_metrics(results.fabric):
            what = "energy" if metric.unit == "J" else metric.key.partition("_")[0]
            yield f"{what}_vs_iteration", _curve_figure(curves, series, metric)
    if results.synthesis:
        yield "synthesis", _synthesis_figure(synthesis_panels(results.synthesis))
    if results.weights:
        yield "weights", _weights_figure(weight_rows(results.weights))


def _curve_figure(curves: dict[str, Any], series: list[dict[str, Any]], metric: Metric) -> Figure:
    from matplotlib.ticker import MaxNLocator

    figure, (axes,) = blank(1, 1, (4.6, 3.2))
    last = max(x for one in curves["series"].values() for x in one["iteration"])
    for one in series:
        values, look = curves["series"][one["key"]], _look(one["style"])
        mean, half = (np.array(values[metric.key][k], dtype=float) for k in ("mean", "half"))
        axes.plot(values["iteration"], mean, label=one["label"], markersize=3.5, **look)
        low, high = mean - np.nan_to_num(half), mean + np.nan_to_num(half)
        axes.fill_between(values["iteration"], low, high, color=look["color"], alpha=0.15, lw=0)
        published = curves["published"].get(one["key"], {}).get(metric.key)
        _mark_published(axes, last + 1, published, one["style"])
    axes.set_xlabel("Iteration")
    in_fitting_unit(axes.yaxis, metric.title, metric.unit)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    _legend(figure, [axes], 3)
    return figure


def _synthesis_figure(panels: list[dict[str, Any]]) -> Figure:
    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    figure, all_axes = blank(rows, columns, (4.2 * columns, 3.0 * rows))
    for spare in all_axes[len(panels) :]:
        spare.remove()
    for axes, panel in zip(all_axes, panels, strict=False):
        _draw_methods(axes, panel)
    _legend(figure, all_axes[: len(panels)], 5)
    return figure


def _draw_methods(axes: Axes, panel: dict[str, Any]) -> None:
    for method in panel["methods"]:
        points = [p for p in panel["points"] if p["method"] == method["key"]]
        x, y, half = ([p[key] or 0.0 for p in points] for key in ("x", "y", "half"))
        look = _look(method["style"])
        axes.errorbar(x, y, half, label=method["label"], markersize=4, capsize=2, **look)
        for point in points:
            _mark_published(axes, point["x"], point["paper"], method["style"])
    ours = [p for p in panel["points"] if p["method"] == "proposed" and p["bound"]]
    if bounds := sorted({(p["x"], p["bound"]) for p in ours}):
        axes.plot(*zip(*bounds, strict=True), ":", color="0.5", label="Lower bound")
    axes.set_title(panel["title"], fontsize=9)
    axes.set_xlabel("Racks")
    axes.set_ylim(0, 1.04 * axes.get_ylim()[1])
    in_fitting_unit(axes.yaxis, "Completion time", "ms")
    axes.set_xticks(sorted({p["x"] for p in panel["points"]}))


def _weights_figure(rows: list[dict[str, Any]]) -> Figure:
    figure, all_axes = blank(1, 2, (6.4, 2.8))
    labels = [row["label"] for row in rows]
    for axes, metric in zip(all_axes, (COMPLETION, ENERGY), strict=True):
        cells = [row[metric.key] for row in rows]
        ours = [cell["ours"] for cell in cells]
        half = [cell["half"] or 0.0 for cell in cells]
        axes.bar(labels, ours, 0.5, yerr=half, color=COLOURS[0], capsize=3, label="Ours")
        for k, cell in enumerate(cells):
            _mark_published(axes, k + 0.36, cell["paper"], 0)
        axes.set_xlabel("Weights of time / energy")
        in_fitting_unit(axes.yaxis, metric.title, metric.unit)
    _legend(figure, all_axes, 2)
    return figure


def _legend(figure: Figure, panels: list[Axes], columns: int) -> None:
    """One legend above all panels, with a hollow mark when something published is shown."""
    from matplotlib.lines import Line2D

    found: dict[str, Any] = {}
    for axes in panels:
        handles, labels = axes.get_legend_handles_labels()
        found |= dict(zip(labels, handles, strict=True))
    if found.pop("published", None):
        hollow = Line2D([], [], linestyle="", marker="o", markerfacecolor="none", color="0.3")
        found["Published"] = hollow
    figure.legend(list(found.values()), list(found), loc="outside upper center", ncols=columns)


def _look(style: int) -> dict[str, Any]:
    return {"color": COLOURS[style], "marker": MARKERS[style], "linewidth": 1.4}


def _mark_published(axes: Axes, x: float, y: float | None, style: int) -> None:
    if y is not None:
        look: dict[str, Any] = {"markerfacecolor": "none", "color": COLOURS[style]}
        axes.plot([x], [y], MARKERS[style], label="published", markersize=7, **look)
