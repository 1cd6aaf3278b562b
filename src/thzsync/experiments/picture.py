"""A comparison as a picture: how every policy fared from iteration to iteration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from thzsync.drawing import legend_above, look, new_figure, styled
from thzsync.errors import ThzSyncError
from thzsync.experiments.comparison import METRIC_TITLES, Comparison
from thzsync.experiments.statistics import interval95

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_iterations(comparison: Comparison, metric: str) -> Figure:
    """A metric by iteration; see ``Comparison.plot``."""
    if metric not in METRIC_TITLES:
        raise ThzSyncError(f"metric: found {metric!r}; use one of {', '.join(METRIC_TITLES)}")
    with styled():
        figure, (axes,) = new_figure(1)
        for position, policy in enumerate(comparison.policies):
            _draw_policy(axes, comparison, policy, metric, position)
        axes.set_xlabel("Iteration")
        axes.set_ylabel(METRIC_TITLES[metric])
        legend_above(figure, axes)
    return figure


def _draw_policy(
    axes: Axes, comparison: Comparison, policy: str, metric: str, position: int
) -> None:
    mine = comparison.iterations.filter(pl.col("policy") == policy)
    seeds = mine.group_by("iteration").agg(pl.col(metric)).sort("iteration")
    found = [interval95(np.asarray(values)) for values in seeds[metric].to_list()]
    mean, half = np.array(found).T
    number = seeds["iteration"].to_numpy() + 1
    style = look(position)
    axes.plot(number, mean, label=policy, **style)
    axes.fill_between(number, mean - half, mean + half, color=style["color"], alpha=0.15, lw=0)
