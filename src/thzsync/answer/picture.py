"""An answer as a picture: iteration time and energy of every candidate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from thzsync.answer.question import TITLES, Answer
from thzsync.drawing import COLOURS, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GREY = "#c8c8c8"


def draw(answer: Answer) -> Figure:
    """Two panels of bars: compute and exposed communication, and energy."""
    with styled():
        figure, (times, energies) = new_figure(2, share_x=False)
        figure.set_size_inches(8.4, 2.4)
        _draw_times(times, answer)
        _draw_energies(energies, answer)
        times.invert_yaxis()
    return figure


def _draw_times(axes: Axes, answer: Answer) -> None:
    place = np.arange(len(answer.candidates))
    whole, exposed, half = (
        np.array([row[key] for row in answer.candidates])
        for key in ("makespan_ms", "exposed_ms", "ci95_makespan_ms")
    )
    axes.barh(place, whole - exposed, color=GREY, label="compute")
    axes.barh(
        place, exposed, left=whole - exposed, color=COLOURS[0], label="exposed communication",
        xerr=np.nan_to_num(half), error_kw={"elinewidth": 1},
    )  # fmt: skip
    for y, value in zip(place, whole, strict=True):
        axes.annotate(f"{value:,.0f}", (value, y), (6, 0), textcoords="offset points", va="center")
    axes.set_yticks(place, [TITLES[row["candidate"]] for row in answer.candidates])
    axes.set_xlim(0, 1.15 * whole.max())
    axes.set_xlabel("Iteration time [ms]")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    axes.grid(visible=False, axis="y")


def _draw_energies(axes: Axes, answer: Answer) -> None:
    energy = np.array([row["energy_j"] for row in answer.candidates])
    place = np.arange(len(energy))
    axes.barh(place, energy, color=COLOURS[1])
    for y, value in zip(place, energy, strict=True):
        axes.annotate(f"{value:.3g}", (value, y), (4, 0), textcoords="offset points", va="center")
    axes.set_xlim(0, 1.2 * energy.max() or 1)
    axes.set_xlabel("Transmission energy per iteration [J]")
    axes.grid(visible=False, axis="y")
