"""A schedule's rounds drawn on the floor: who sends to whom, on which subband, how strongly."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.display.kinds import kind_look
from thzsync.display.labels import COLOURS, METHOD_LABELS, label
from thzsync.drawing import blank, save_drawing
from thzsync.report.floor import frame_m
from thzsync.topology import Topology
from thzsync.transfers import Schedule

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES: Final = (".svg", ".png")
MOST_ROUNDS: Final = 12
_COLUMNS: Final = 4
_INK: Final = "#333333"
_PALE: Final = "#bbbbbb"


def draw_rounds(schedule: Schedule, topology: Topology, path: str | Path) -> Path:
    """Write an SVG or PNG, by the file's suffix; of many rounds, twelve evenly spaced ones."""
    return save_drawing(lambda: _figure(schedule, topology), path, SUFFIXES)


def _figure(schedule: Schedule, topology: Topology) -> Figure:
    shown = np.linspace(0, max(schedule.rounds - 1, 0), min(schedule.rounds, MOST_ROUNDS))
    numbers = np.unique(shown.round().astype(np.int64))
    columns = min(_COLUMNS, max(1, len(numbers)))
    rows = max(1, -(-len(numbers) // columns))
    figure, all_axes = blank(rows, columns, (2.5 * columns, 2.6 * rows + 0.9))
    for axes in all_axes:
        axes.set_axis_off()
    strongest_w = float(schedule.power_w.max(initial=0.0)) or 1.0
    for axes, number in zip(all_axes, numbers, strict=False):
        _draw_round(axes, schedule, topology, int(number), strongest_w)
    _explain(figure, schedule, len(numbers), strongest_w)
    return figure


def _draw_round(
    axes: Axes, schedule: Schedule, topology: Topology, number: int, strongest_w: float
) -> None:
    plan, position_m = schedule.plan, topology.position_m
    rows = np.flatnonzero(schedule.round == number)
    start_ms, end_ms = (column[rows[0]] / 1e9 for column in (schedule.start_ps, schedule.end_ps))
    _draw_racks(axes, plan.racks, topology)
    for row in rows:
        flow = schedule.flow[row]
        ends = position_m[plan.src[flow]], position_m[plan.dst[flow]]
        _draw_link(axes, ends, int(schedule.subband[row]), schedule.power_w[row] / strongest_w)
    axes.set_title(f"round {number + 1}: {start_ms:.2f} to {end_ms:.2f} ms", color=_INK, size=9)
    axes.set_aspect("equal")
    low, high = frame_m(topology)
    reach = 0.61 * float((high - low).max())
    x, y = (((middle - reach), (middle + reach)) for middle in (low + high) / 2)
    axes.set(xlim=x, ylim=y)


def _draw_racks(axes: Axes, racks: IntArray, topology: Topology) -> None:
    from matplotlib.patches import Circle

    position_m = topology.position_m
    for radius in topology.radius_m:
        axes.add_patch(Circle((0, 0), radius, fill=False, color="#e6e6e6", zorder=0))
    axes.scatter(position_m[:, 0], position_m[:, 1], s=9, color=_PALE, zorder=1)
    axes.scatter(position_m[racks, 0], position_m[racks, 1], s=22, color=_INK, zorder=4)
    # Outside of a ring, or above.
    share, above = (1.13, (0, 0)) if len(topology.radius_m) else (1.0, (0, 6))
    look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 6.5, "color": _INK}
    for rack in racks:
        place = tuple(position_m[rack] * share)
        axes.annotate(str(rack), place, above, textcoords="offset points", **look)


def _draw_link(
    axes: Axes, ends: tuple[FloatArray, FloatArray], subband: int, strength: float
) -> None:
    from matplotlib.patches import FancyArrowPatch

    axes.add_patch(
        FancyArrowPatch(
            *(tuple(end.tolist()) for end in ends),
            # Bent by subband, so that parallel links of one pair stay apart.
            connectionstyle=f"arc3,rad={0.06 + 0.07 * subband}",
            arrowstyle="-|>",
            mutation_scale=6,
            shrinkA=3,
            shrinkB=3,
            linewidth=_width(strength),
            color=COLOURS[subband % len(COLOURS)],
            alpha=0.9,
            zorder=3,
        )
    )


def _width(strength: float) -> float:
    return 0.6 + 1.8 * float(strength)


def _explain(figure: Figure, schedule: Schedule, shown: int, strongest_w: float) -> None:
    from matplotlib.lines import Line2D

    plan = schedule.plan
    marks: list[Any] = [
        Line2D([], [], color=COLOURS[c % len(COLOURS)], lw=2, label=f"subband {c + 1}")
        for c in np.unique(schedule.subband).tolist()
    ]
    for strength in (0.25, 1.0):
        told = f"{strength * strongest_w * 1e3:.3g} mW"
        marks.append(Line2D([], [], color=_INK, lw=_width(strength), label=told))
    name = f"{kind_look(plan.kind).label}, {label(METHOD_LABELS, plan.method).lower()}"
    rounds = f"{schedule.rounds} rounds" + (f", {shown} shown" if shown < schedule.rounds else "")
    done_ms = schedule.completion_ps / 1e9
    figure.suptitle(f"{name}: {len(plan.racks)} racks, {rounds}, done after {done_ms:.2f} ms")
    figure.legend(handles=marks, loc="outside lower center", ncols=len(marks))
