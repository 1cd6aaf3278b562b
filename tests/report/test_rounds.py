"""Rounds drawn on the floor."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.report.results import FLOORS
from thzsync.errors import ThzSyncError
from thzsync.experiments.single_ring import Instance
from thzsync.report.rounds import draw_rounds
from thzsync.scenario import Scenario

INSTANCE = Instance(Scenario.preset("single-ring"), "allreduce", 5, False, 0, size_bytes=2**22)


def test_the_suffix_decides_the_format(tmp_path: Path) -> None:
    schedule = INSTANCE.run("proposed")
    png = draw_rounds(schedule, INSTANCE.topology, tmp_path / "a.png")
    svg = draw_rounds(schedule, INSTANCE.topology, tmp_path / "a.svg")
    assert png.read_bytes().startswith(b"\x89PNG")
    assert "<svg" in svg.read_text("utf-8")


def test_the_same_schedule_gives_the_same_file(tmp_path: Path) -> None:
    first, second = (
        draw_rounds(INSTANCE.run("proposed"), INSTANCE.topology, tmp_path / f"{n}.svg")
        for n in range(2)
    )
    assert first.read_bytes() == second.read_bytes()


def test_a_schedule_without_rounds_is_drawn_too(tmp_path: Path) -> None:
    from thzsync.collectives import Tensor
    from thzsync.execution.alone import run_collective
    from thzsync.synthesis import find_method

    empty = run_collective(
        Tensor(0),
        [0, 1],
        find_method("allreduce", "ring"),
        INSTANCE.scenario,
        INSTANCE.topology,
        INSTANCE.channel,
        [0.0, 0.0],
    )
    assert draw_rounds(empty, INSTANCE.topology, tmp_path / "a.svg").exists()


def test_other_formats_and_unwritable_places_are_refused(tmp_path: Path) -> None:
    schedule = INSTANCE.run("proposed")
    with pytest.raises(ThzSyncError, match=r"\.svg, \.png"):
        draw_rounds(schedule, INSTANCE.topology, tmp_path / "a.gif")
    with pytest.raises(ThzSyncError, match=str(tmp_path / "missing")):
        draw_rounds(schedule, INSTANCE.topology, tmp_path / "missing" / "a.png")


@pytest.mark.parametrize("floor", FLOORS)
def test_any_floor_is_drawn_and_only_rings_are_circles(floor: str, tmp_path: Path) -> None:
    from matplotlib.patches import Circle

    from thzsync.report.rounds import _figure

    scenario = Scenario.preset("single-ring").with_({"floor": FLOORS[floor]["floor"]})
    instance = Instance(scenario, "allreduce", 4, False, 0, size_bytes=2**20)
    axes = _figure(instance.run("proposed"), instance.topology).axes[0]
    circles = [patch for patch in axes.patches if isinstance(patch, Circle)]
    assert bool(circles) == (floor == "rings")
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    for x, y in instance.topology.position_m:
        assert left < x < right
        assert low < y < high
