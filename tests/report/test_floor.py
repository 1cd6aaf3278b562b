"""Where racks and switches are drawn, and which lines join them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.report.results import FLOORS
from thzsync.network import Buffers, Wires, network_of
from thzsync.report.floor import floor_plan, lines
from thzsync.scenario import Scenario
from thzsync.topology import Topology

TINY = Scenario.preset("tiny")
ALL = pytest.mark.parametrize("floor", FLOORS)


def apart_m(places: list[list[float]], others: list[list[float]]) -> float:
    gaps = np.array(places)[:, None] - np.array(others)[None]
    distance = np.hypot(gaps[..., 0], gaps[..., 1])
    return float(distance[distance > 0].min())


def test_the_floor_plan_keeps_rings_round() -> None:
    plan = floor_plan(Scenario.paper())
    assert len(plan["racks"]) == 32
    for rack, (x, y) in enumerate(plan["racks"]):
        assert abs(np.hypot(x, y) - plan["radii"][rack // 8]) < 2e-3
    assert plan["subbands"] == ["292.5 GHz", "297.5 GHz", "302.5 GHz", "307.5 GHz"]
    assert np.hypot(*np.array(plan["switches"]).T).max() < plan["hub"] < plan["radii"][0]


@ALL
def test_racks_stand_where_they_are_and_nothing_leaves_the_frame(floor: str) -> None:
    scenario = TINY.with_(FLOORS[floor])
    plan = floor_plan(scenario)
    assert np.allclose(plan["racks"], Topology(scenario.floor).position_m, atol=1e-3)
    low, high = plan["frame"]
    for place in (*plan["racks"], *plan["switches"]):
        assert np.all(np.array(place) >= low)
        assert np.all(np.array(place) <= high)
    assert bool(plan["radii"]) == bool(plan["hub"]) == (floor == "rings")
    assert plan["noun"] == ("ring" if floor == "rings" else "row")


@ALL
def test_marks_do_not_cover_each_other(floor: str) -> None:
    plan = floor_plan(TINY.with_(FLOORS[floor]))
    rack, switch = plan["rack_m"], plan["switch_m"]
    assert apart_m(plan["racks"], plan["racks"]) >= 2 * rack - 1e-2
    assert apart_m(plan["racks"], plan["switches"]) >= rack + switch - 1e-2
    assert apart_m(plan["switches"], plan["switches"]) >= 2 * switch - 1e-2


@ALL
def test_every_link_is_a_direction_of_one_line(floor: str) -> None:
    scenario = TINY.with_(FLOORS[floor])
    network, plan = network_of(scenario), floor_plan(scenario)
    drawn, real = lines(network), network.rate_bps > 0
    assert np.all((drawn.fibre >= 0) == real)
    assert plan["names"] == network.switch_names
    ends = np.column_stack((plan["lines"]["from"], plan["lines"]["to"]))
    for link in np.flatnonzero(real):
        fibre = drawn.fibre[link]
        given = (network.source[link], network.target[link])
        assert tuple(ends[fibre // 2][:: -1 if fibre % 2 else 1]) == given
        assert drawn.name(network, fibre) == network.link_name(int(link))


def test_parallel_links_are_one_line_with_their_rates_added() -> None:
    wires = Wires(2)
    leaves = [wires.switch(f"leaf {k}") for k in range(2)]
    for rack, leaf in enumerate(leaves):
        wires.join(rack, leaf, 100e9)
    for rate_bps in (100e9, 300e9):
        wires.join(*leaves, rate_bps)
    drawn = lines(wires.network(Buffers()))
    assert len(drawn.ends) == 3
    assert drawn.rate_bps[drawn.fibre].tolist() == [1e11] * 4 + [4e11] * 4


def test_switches_above_others_stand_beside_the_racks() -> None:
    plan = floor_plan(TINY.with_(FLOORS["rows"]))
    (left, low), (right, high) = np.min(plan["racks"], axis=0), np.max(plan["racks"], axis=0)
    outside = [not (left <= x <= right and low <= y <= high) for x, y in plan["switches"]]
    assert outside == [name.startswith("spine") for name in plan["names"]]


def test_leaves_on_rings_stand_apart_though_their_racks_have_one_centre() -> None:
    plan = floor_plan(TINY.with_({"network": FLOORS["rows"]["network"]}))
    assert plan["hub"] == 0
    assert apart_m(plan["switches"], plan["switches"]) > 1


def test_a_single_rack_and_a_single_row_have_a_plan() -> None:
    single = Scenario.preset("single-ring")
    for racks in (1, 5):
        floor = {"kind": "rows", "rows": 1, "racks_per_row": racks}
        low, high = np.array(floor_plan(single.with_({"floor": floor}))["frame"])
        assert np.all(high > low)


def test_the_plan_of_a_large_fat_tree_is_small() -> None:
    floor = {"kind": "grid", "rows": 8, "columns": 16}
    scenario = TINY.with_({"floor": floor, "network": {"kind": "fat-tree", "radix": 8}})
    assert len(json.dumps(floor_plan(scenario))) < 12_000
