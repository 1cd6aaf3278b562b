"""Draws race.gif: one iteration with fibre only, and with fibre and THz, side by side.

``python docs/images/race.py [FILE]``. Both floors meet the same stragglers, background traffic
and channel. A rack is dark while it computes and pale while it waits; a coloured line is a THz link
(one colour per subband), a grey line is a fibre that carries data.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from PIL import Image

from thzsync import Run, Scenario, simulate
from thzsync.drawing import COLOURS, new_figure, styled
from thzsync.topology import Topology

TARGET = Path(__file__).with_name("race.gif")
TITLES = {"all-wired-best": "fibre only, best schedule", "thz-sync": "fibre and THz"}
LEGEND = (
    "racks: dark computes, pale waits  |  lines: grey fibre, coloured THz (a colour per subband)"
)
FRAME_S = 0.02
SHOWN_MS = 90
HOLD_MS = 2500
WAITS, COMPUTES, FIBRE = "#e6e6e6", "#404040", "#9a9a9a"


@dataclass(frozen=True)
class Iteration:
    """The last iteration of a run, its times counted from its start [s]."""

    run: Run
    title: str

    @property
    def start_ps(self) -> int:
        return int(self.run.iterations["start_ps"][-1])

    @property
    def end_s(self) -> float:
        return (int(self.run.iterations["end_ps"][-1]) - self.start_ps) * 1e-12

    def between(self, table: str, from_s: float, to_s: float) -> pl.DataFrame:
        """Rows of a table that share time with an interval."""
        low, high = (self.start_ps + round(s * 1e12) for s in (from_s, to_s))
        return self.run.tables[table].filter(pl.col("end_ps") > low, pl.col("start_ps") < high)


def main(target: Path = TARGET) -> None:
    scenario = Scenario.preset("beyond")
    sides = [Iteration(simulate(scenario, name, 2, 1), title) for name, title in TITLES.items()]
    longest_s = max(side.end_s for side in sides)
    frames = [frame(scenario, sides, t) for t in np.arange(0.0, longest_s + FRAME_S, FRAME_S)]
    shown = [SHOWN_MS] * (len(frames) - 1) + [HOLD_MS]
    frames[0].save(
        target, save_all=True, append_images=frames[1:], duration=shown, loop=0, optimize=True
    )
    print(f"wrote {target}: {len(frames)} frames, {target.stat().st_size / 1e6:.2f} MB")


def frame(scenario: Scenario, sides: list[Iteration], now_s: float) -> Image.Image:
    """Both floors at one instant."""
    topology = Topology(scenario.floor)
    with styled():
        figure, panels = new_figure(2, share_x=False)
        figure.set_size_inches(7.6, 4.3)
        for axes, side in zip(panels, sides, strict=True):
            draw_floor(axes, topology, side, now_s)
        figure.suptitle(f"One training iteration, {1e3 * min(now_s, longest(sides)):,.0f} ms")
        figure.supxlabel(LEGEND, fontsize=8)
        content = BytesIO()
        figure.savefig(content, dpi=100)
    return Image.open(content).convert("RGB").quantize(96)


def longest(sides: list[Iteration]) -> float:
    return max(side.end_s for side in sides)


def draw_floor(axes: Any, topology: Topology, side: Iteration, now_s: float) -> None:
    places, switches = topology.position_m, switch_places(topology.rings)
    sent = side.between("transmissions", now_s, now_s + FRAME_S)
    for (src, dst, subband), _ in sent.group_by("src", "dst", "subband"):
        line = places[[src, dst]] + 0.12 * (subband - 1.5)  # links of one pair side by side
        axes.plot(*line.T, color=COLOURS[1 + int(subband)], lw=1.3, alpha=0.8, zorder=3)
    for ends, width in fibres(topology, side, now_s, places, switches):
        axes.plot(*ends.T, color=FIBRE, lw=width, zorder=1)
    tasks = side.between("tasks", now_s, now_s + 1e-6)
    busy = {rack for racks in tasks["racks"].to_list() for rack in racks}
    colours = [COMPUTES if rack in busy else WAITS for rack in range(topology.racks)]
    axes.scatter(*places.T, s=70, marker="s", c=colours, edgecolors="black", lw=0.6, zorder=4)
    axes.scatter(*switches.T, s=36, marker="D", c="white", edgecolors=FIBRE, zorder=2)
    axes.set_title(side.title)
    done = now_s >= side.end_s
    state = f"done after {1e3 * side.end_s:,.0f} ms" if done else ""
    axes.set_xlabel(state, fontweight="bold", color=COLOURS[2])
    axes.set_aspect("equal")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)


def switch_places(rings: int) -> Any:
    angle = 2 * np.pi * (np.arange(rings) + 0.5) / rings
    return 2.2 * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def fibres(topology: Topology, side: Iteration, now_s: float, places: Any, switches: Any) -> Any:
    """Ends and line width of every fibre that carries data of the job now."""
    links = side.between("links", now_s, now_s + FRAME_S).filter(pl.col("bytes") > 0)
    racks, rings = topology.racks, topology.rings
    for link in links["link"].unique().to_list():
        if link < 2 * racks:
            rack = link % racks
            yield np.stack([places[rack], switches[rack // topology.lanes]]), 0.7
        else:
            yield switches[list(divmod(link - 2 * racks, rings))], 2.6


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
