"""An answer as a picture: iteration time and energy of every candidate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from thzsync.answer.question import TITLES, Answer
from thzsync.arrays import FloatArray
from thzsync.display.metrics import ENERGY, TOTAL, more_energy
from thzsync.drawing import COLOURS, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GREY = "#c8c8c8"


def draw(answer: Answer) -> Figure:
    """Two panels of bars: compute and exposed communication, and energy."""
    rows = answer.candidates
    place = np.arange(len(rows))
    spent = TOTAL if more_energy(rows) else ENERGY
    whole, exposed, half, energy = (
        np.array([row[key] for row in rows])
        for key in ("makespan_ms", "exposed_ms", "ci95_makespan_ms", spent.key)
    )
    with styled():
        figure, (times, energies) = new_figure(2, share_x=False)
        figure.set_size_inches(8.4, 2.4)
        times.barh(place, whole - exposed, color=GREY, label="compute")
        times.barh(
            place, exposed, left=whole - exposed, color=COLOURS[0], label="exposed communication",
            xerr=np.nan_to_num(half), error_kw={"elinewidth": 1},
        )  # fmt: skip
        _dress(times, "Iteration time [ms]", whole, "{:,.0f}", 6)
        times.set_xlim(0, 1.15 * whole.max())
        times.set_yticks(place, [TITLES[row["candidate"]] for row in rows])
        times.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
        times.invert_yaxis()
        energies.barh(place, energy, color=COLOURS[1])
        _dress(energies, f"{spent.title} per iteration [J]", energy, "{:.3g}", 4)
        energies.set_xlim(0, 1.2 * energy.max() or 1)
    return figure


def _dress(axes: Axes, title: str, values: FloatArray, form: str, gap: int) -> None:
    for y, value in enumerate(values):
        told = form.format(value)
        axes.annotate(told, (value, y), (gap, 0), textcoords="offset points", va="center")
    axes.set_xlabel(title)
    axes.grid(visible=False, axis="y")
