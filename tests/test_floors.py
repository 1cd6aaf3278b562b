"""Floors other than rings: positions, distances, tables of coordinates, listed stages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from thzsync.errors import ThzSyncError
from thzsync.scenario import Scenario
from thzsync.scenario.files import build_scenario
from thzsync.topology import Topology


def floor(**keys: Any) -> Topology:
    return Topology(build_scenario({"floor": keys}, "test").floor)


def test_cold_and_hot_aisles_take_turns_between_rows() -> None:
    rows = floor(kind="rows", rows=4, racks_per_row=3, cold_aisle_m="2 m", hot_aisle_m="1 m")
    assert rows.position_m[:3, 0].tolist() == pytest.approx([0, 0.6, 1.2])
    assert rows.position_m[::3, 1].tolist() == pytest.approx([0, 3.2, 5.4, 8.6])
    assert rows.distance_m(0, 4) == pytest.approx(np.hypot(0.6, 3.2))
    assert rows.group_of_rack.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]


def test_a_grid_is_square() -> None:
    grid = floor(kind="grid", rows=2, columns=3, spacing_m="3 m")
    assert grid.distance_m(0, np.array([1, 3, 4])).tolist() == pytest.approx([3, 3, 18**0.5])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("racks.csv", "x_m,y_m\n0,0\n1.5,0\n0,2\n1.5,2\n"),
        ("racks.toml", "positions_m = [[0, 0], [1.5, 0], [0, 2], [1.5, 2]]\n"),
    ],
)
def test_a_table_is_read_at_once_and_kept_in_the_scenario(
    tmp_path: Path, name: str, text: str
) -> None:
    file = tmp_path / name
    file.write_text(text)
    scenario = build_scenario(
        {"floor": {"kind": "table", "file": str(file), "racks_per_row": 2}}, "test"
    )
    file.unlink()
    assert Scenario.of(scenario).floor.racks == 4
    assert "1.5" in scenario.to_toml()
    assert Topology(scenario.floor).distance_m(0, 3) == pytest.approx(2.5)
    assert build_scenario_again(scenario) == scenario


def build_scenario_again(scenario: Scenario) -> Scenario:
    import tomllib

    return build_scenario(tomllib.loads(scenario.to_toml()), "again")


@pytest.mark.parametrize(
    ("keys", "named"),
    [
        ({"kind": "table", "positions_m": [[0, 0], [0, 0.001]]}, "racks 0 and 1"),
        ({"kind": "table", "positions_m": [[0, 0], [1, 0], [2, 0]], "racks_per_row": 2}, "divide"),
        ({"kind": "table", "file": "nowhere.csv"}, "nowhere.csv"),
        ({"kind": "table", "positions_m": []}, "positions_m"),
        ({"kind": "circle"}, "rings, rows, grid, table"),
        ({"kind": "rows", "rows": 2, "racks_per_rows": 3}, "did you mean 'racks_per_row'"),
    ],
)
def test_a_wrong_floor_is_refused_by_its_key(keys: dict[str, Any], named: str) -> None:
    with pytest.raises(ThzSyncError, match="floor") as error:
        floor(**keys)
    assert named in str(error.value)


TRAINING = {"training": {"moe_stages": []}}


def test_stages_may_be_listed() -> None:
    scenario = build_scenario(
        {
            "floor": {"kind": "grid", "rows": 2, "columns": 4},
            "jobs": [{"name": "a", "stages": [[0, 5], [1, 4]], **TRAINING}],
        },
        "test",
    )
    partition = Topology(scenario.floor).partition(scenario.jobs[0])
    assert partition.racks.tolist() == [[0, 5], [1, 4]]


@pytest.mark.parametrize(
    ("jobs", "named"),
    [
        ([{"stages": [[0, 1], [2]]}], "equally many"),
        ([{"stages": [[0, 1], [1, 2]]}], "twice"),
        ([{"stages": [[0, 8]]}], "rack 8"),
        ([{"stages": [[0]], "rings": 1}], "either stages or rings"),
        ([{"name": "a", "rings": 1}, {"name": "b", "stages": [[2, 5]]}], "rack 2"),
        ([{"name": "a", "stages": [[6]]}, {"name": "b", "stages": [[6]]}], "rack 6"),
    ],
)
def test_wrong_stages_are_refused(jobs: list[dict[str, Any]], named: str) -> None:
    raw = {
        "floor": {"kind": "grid", "rows": 2, "columns": 4},
        "jobs": [{**job, **TRAINING} for job in jobs],
    }
    with pytest.raises(ThzSyncError) as error:
        build_scenario(raw, "test")
    assert named in str(error.value)


def test_another_kind_replaces_the_keys_of_the_preset() -> None:
    raw = {"preset": "tiny", "floor": {"kind": "grid", "rows": 2, "columns": 3}}
    scenario = build_scenario(raw, "test")
    assert scenario.floor.racks == 6
    keys = {"floor.rows": 2, "floor.racks_per_row": 3, "floor.kind": "rows"}
    assert scenario.with_(keys).floor.racks == 6


def test_old_scenarios_keep_their_digests() -> None:
    """Counted by version 0.3.0 before floors and networks had kinds."""
    assert Scenario.preset("tiny").digest.startswith(TINY)


TINY = "ab69e15fe1108231"
