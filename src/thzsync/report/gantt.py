"""The schedule of one iteration as a Gantt chart: stages down, time across."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from thzsync.collectives import find_collective
from thzsync.display.kinds import kind_look, ordered
from thzsync.drawing import blank, in_fitting_unit, save_drawing
from thzsync.errors import printable
from thzsync.workload import Compute, Event, Phase, TrainingGraph

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES: Final = (".svg", ".png", ".pdf")
_EVENTS_TOP: Final = 0.52
_EVENTS_HEIGHT: Final = 0.42
_GAP: Final = 0.01
_Stage = tuple[str, int]


class _Look(NamedTuple):
    """Name, colour and place inside a stage's band (0 at its top, 1 at its bottom)."""

    name: str
    colour: str
    top: float
    height: float


# Compute in greys, as on the report's page: the colours belong to the collectives.
_PHASES: Final = {
    str(Phase.FORWARD): _Look("forward", "#b9c3ce", 0.04, 0.46),
    str(Phase.BACKWARD): _Look("backward", "#8f9cab", 0.04, 0.46),
}


def looks(graph: TrainingGraph) -> dict[str, _Look]:
    """How phases and the collectives that occur are drawn; the latter share the lower half."""
    kinds = ordered(event.kind for event in graph.events)
    step = _EVENTS_HEIGHT / max(1, len(kinds))
    found = dict(_PHASES)
    for place, kind in enumerate(kinds):
        name, colour = plain(kind_look(kind).label), kind_look(kind).light
        found[kind] = _Look(name, colour, _EVENTS_TOP + place * step, step - _GAP)
    return found


def plain(name: str) -> str:
    """A name that Matplotlib draws as it is: a dollar would begin a formula, sound or not."""
    return printable(name).replace("$", r"\$")


def nominal_s(event: Event, rate_bps: float) -> float:
    """How long an event takes alone when its busiest rack sends at ``rate_bps`` [s].

    Every rack sends what only it can send; what else must move is spread over all of them: for an
    AllReduce of n racks that is 2 (n - 1) / n of the tensor each.
    """
    blocks = find_collective(event.kind).blocks(event.demand, event.racks)
    return 8 * max(blocks.own_bytes, blocks.volume_bytes / len(event.racks)) / rate_bps


def draw_gantt(
    graph: TrainingGraph, path: str | Path, title: str = "", rate_bps: float = 100e9
) -> None:
    """Draw a graph's earliest schedule, events at their nominal length, into a file."""
    save_drawing(lambda: gantt_figure(graph, title, rate_bps), path, SUFFIXES)


def gantt_figure(graph: TrainingGraph, title: str = "", rate_bps: float = 100e9) -> Figure:
    """The chart as a Matplotlib figure; jobs stand one below the other."""
    stages = sorted({(node.job, node.stage) for node in graph.nodes})
    figure, (axes,) = blank(1, 1, (11.0, 1.5 + 0.62 * min(len(stages), 40)))
    shown = looks(graph)
    _draw_bars(axes, graph, stages, shown, rate_bps)
    _dress(axes, stages, shown)
    heading = f"{plain(title)}: one iteration" if title else "One iteration"
    axes.set_title(heading, loc="left", pad=22, fontsize=12, fontweight="bold")
    note = f"each event alone at {rate_bps / 1e9:g} Gbit/s per rack"
    axes.annotate(
        note, (0, 1), (0, 6), xycoords="axes fraction", textcoords="offset points", color="#555555"
    )
    return figure


def _draw_bars(
    axes: Axes, graph: TrainingGraph, stages: list[_Stage], shown: dict[str, _Look], rate_bps: float
) -> None:
    times = graph.times(lambda event: nominal_s(event, rate_bps))
    total_ms = max(times.makespan_s * 1e3, 1e-9)
    spans: dict[tuple[int, str], list[tuple[float, float]]] = defaultdict(list)
    passes: dict[tuple[int, str, int], list[tuple[float, float]]] = defaultdict(list)
    rows = {stage: row for row, stage in enumerate(stages)}
    for node in graph.nodes:
        row = rows[node.job, node.stage]
        what = str(node.phase if isinstance(node, Compute) else node.kind)
        start_ms, end_ms = times.start_s[node.id] * 1e3, times.end_s[node.id] * 1e3
        spans[row, what].append((start_ms, end_ms - start_ms))
        if isinstance(node, Compute):
            passes[row, what, node.microbatch].append((start_ms, end_ms))
    for (row, what), bars in spans.items():
        look = shown[what]
        # A white edge parts neighbours, but would hide a bar that is hardly wider than itself.
        edges = ["white" if width > 0.004 * total_ms else look.colour for _, width in bars]
        place = (row + look.top, look.height)
        axes.broken_barh(bars, place, facecolors=look.colour, edgecolors=edges, linewidth=0.6)
    for (row, phase, microbatch), slices in passes.items():
        if slices[-1][1] - slices[0][0] > 0.012 * total_ms:
            x = sum(slices[len(slices) // 2]) / 2
            y = row + shown[phase].top + shown[phase].height / 2
            axes.text(x, y, str(microbatch), ha="center", va="center", fontsize=7, color="#16191d")
    axes.set_xlim(0, total_ms)


def _dress(axes: Axes, stages: list[_Stage], shown: dict[str, _Look]) -> None:
    from matplotlib.patches import Patch

    several_jobs = len({job for job, _ in stages}) > 1
    names = [f"{plain(job)} · stage {s}" if several_jobs else f"stage {s}" for job, s in stages]
    axes.set_yticks([row + 0.5 for row in range(len(stages))], names)
    axes.set_ylim(len(stages), 0)
    in_fitting_unit(axes.xaxis, "time", "ms")
    axes.tick_params(length=0)
    axes.grid(visible=False, axis="y")
    axes.hlines(range(1, len(stages)), 0, 1, transform=axes.get_yaxis_transform(), color="#eeeeee")
    axes.spines["left"].set_visible(False)
    handles = [Patch(color=look.colour, label=look.name) for look in shown.values()]
    axes.legend(
        handles=handles, loc="lower right", bbox_to_anchor=(1, 1), ncols=len(handles), fontsize=9,
        handlelength=1.0, columnspacing=1.2,
    )  # fmt: skip
