"""The ladder as a picture: time, energy and reward of every learner, rung by rung."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from thzsync.drawing import legend_above, look, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANELS: Final = {
    "completion_ms": "Completion time [ms]",
    "energy_j": "Energy [J]",
    "reward": "Reward",
}


def draw_ladder(document: dict[str, Any]) -> Figure:
    """Rungs from the paper's letter (left) to ours (right), ± 95 % where there are several seeds.

    A dashed line is what the paper reports for the learner of its colour.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with styled():
        figure = Figure(figsize=(9.6, 4.2), layout="constrained")
        FigureCanvasAgg(figure)
        panels = list(figure.subplots(1, len(PANELS)))
        for axes, (metric, title) in zip(panels, PANELS.items(), strict=True):
            _draw(axes, document, metric)
            axes.set_ylabel(title)
        legend_above(figure, panels[0])
    return figure


def _draw(axes: Axes, document: dict[str, Any], metric: str) -> None:
    rungs = document["rungs"]
    for position, policy in enumerate(dict.fromkeys(row["policy"] for row in document["rows"])):
        rows = {row["rung"]: row for row in document["rows"] if row["policy"] == policy}
        mean = np.array([rows[rung][metric] for rung in rungs])
        half = np.array([rows[rung][f"ci95_{metric}"] for rung in rungs], dtype=np.float64)
        place = np.arange(len(rungs)) + 0.08 * (position - 1)
        style = look(position)
        axes.errorbar(place, mean, np.nan_to_num(half), label=policy, capsize=2, **style)
        paper = rows[rungs[0]].get(f"paper_{metric}")
        if paper is not None:
            axes.axhline(paper, color=style["color"], linestyle="--", linewidth=0.9)
    axes.set_xticks(np.arange(len(rungs)), rungs, rotation=40, ha="right", fontsize=7)
