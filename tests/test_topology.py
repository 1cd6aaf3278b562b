from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thzsync.errors import ThzSyncError
from thzsync.network import network_of, oversubscription
from thzsync.scenario import Floor, Job, Scenario, Training
from thzsync.topology import Topology

TRAINING = Training(moe_stages=())


@st.composite
def topologies(draw: st.DrawFn) -> Topology:
    slots = draw(st.integers(1, 9))
    return Topology(
        Floor(
            rings=draw(st.integers(1, 5)),
            slots_per_ring=slots,
            racks_per_ring=draw(st.none() | st.integers(1, slots)),
            inner_radius_m=draw(st.floats(0, 20)),
            ring_spacing_m=draw(st.floats(0.1, 10)),
        )
    )


def all_distances(topology: Topology) -> np.ndarray:
    racks = np.arange(topology.racks)
    return topology.distance_m(racks[:, None], racks[None, :])


@given(topologies())
def test_distance_is_a_metric(topology: Topology) -> None:
    d = all_distances(topology)
    np.testing.assert_array_equal(d, d.T)
    assert (np.diag(d) == 0).all()
    assert (d[~np.eye(topology.racks, dtype=bool)] > 0).all()
    assert (d[:, None, :] <= d[:, :, None] + d[None, :, :] + 1e-9).all()


@given(topologies())
def test_distance_is_that_between_positions(topology: Topology) -> None:
    apart = topology.position_m[:, None, :] - topology.position_m[None, :, :]
    # The law of cosines loses half the digits where two racks nearly coincide.
    np.testing.assert_allclose(all_distances(topology), np.hypot(*apart.T).T, atol=1e-5)


@given(topologies(), st.data())
def test_racks_of_one_ring_stand_a_chord_apart(topology: Topology, data: st.DataObject) -> None:
    ring = data.draw(st.integers(0, topology.groups - 1))
    a, b = (data.draw(st.integers(0, topology.lanes - 1)) for _ in range(2))
    turn = np.pi * (a - b) / topology.floor.slots_per_ring
    radius = topology.floor.inner_radius_m + (ring + 1) * topology.floor.ring_spacing_m
    distance = topology.distance_m(ring * topology.lanes + a, ring * topology.lanes + b)
    assert distance == pytest.approx(2 * radius * abs(np.sin(turn)), abs=1e-5)


@given(topologies(), st.data())
def test_racks_of_one_lane_stand_the_ring_spacing_apart(
    topology: Topology, data: st.DataObject
) -> None:
    lane = data.draw(st.integers(0, topology.lanes - 1))
    s, t = (data.draw(st.integers(0, topology.groups - 1)) for _ in range(2))
    distance = topology.distance_m(s * topology.lanes + lane, t * topology.lanes + lane)
    assert distance == pytest.approx(abs(s - t) * topology.floor.ring_spacing_m, abs=1e-5)


def test_the_paper_has_rings_of_6_8_10_and_12_m() -> None:
    topology = Topology(Scenario.paper().floor)
    assert topology.radius_m.tolist() == [6, 8, 10, 12]
    assert topology.racks == 32
    assert topology.distance_m(0, 4) == pytest.approx(12)  # across the first ring


@given(topologies(), st.data())
def test_jobs_on_disjoint_rings_and_lanes_own_disjoint_racks(
    topology: Topology, data: st.DataObject
) -> None:
    ring = data.draw(st.integers(0, topology.groups))
    jobs = [
        Job(name="below", rings=ring or None, training=TRAINING) if ring else None,
        Job(name="above", first_ring=ring, training=TRAINING) if ring < topology.groups else None,
    ]
    parts = [topology.partition(job) for job in jobs if job is not None]
    owned = np.concatenate([part.racks.ravel() for part in parts])
    np.testing.assert_array_equal(np.sort(owned), np.arange(topology.racks))


def test_stages_lie_on_rings_and_lanes_across_them() -> None:
    topology = Topology(Floor(rings=4, slots_per_ring=8))
    job = Job(first_ring=1, rings=2, first_lane=3, lanes=4, training=TRAINING)
    partition = topology.partition(job)
    assert (partition.stages, partition.lanes) == (2, 4)
    assert topology.group_of_rack[partition.racks].tolist() == [[1] * 4, [2] * 4]
    assert topology.lane_of_rack[partition.racks].tolist() == [[3, 4, 5, 6]] * 2


@pytest.mark.parametrize("key", [{"first_ring": 2}, {"rings": 3}, {"first_lane": 1, "lanes": 3}])
def test_a_partition_beyond_the_floor_is_refused(key: dict[str, int]) -> None:
    topology = Topology(Floor(rings=2, slots_per_ring=3))
    with pytest.raises(ThzSyncError, match="job 'train'"):
        topology.partition(Job.model_validate({"training": TRAINING, **key}))


@pytest.mark.parametrize(
    ("rings", "racks", "access_bps", "inter_bps", "expected"),
    [
        (4, 8, 100e9, 100e9, 8.0),  # the floor of the paper
        (4, 8, 100e9, 800e9, 1.0),
        (2, 3, 400e9, 100e9, 12.0),
        (2, 3, 100e9, 600e9, 0.5),
        (1, 16, 100e9, 100e9, 1.0),  # one ring has no link to another
    ],
)
def test_oversubscription_is_what_a_ring_offers_over_what_a_link_carries(
    rings: int, racks: int, access_bps: float, inter_bps: float, expected: float
) -> None:
    paper = Scenario.preset("paper")
    floor = {"rings": rings, "slots_per_ring": 16, "racks_per_ring": racks}
    optical = {"access_bps": access_bps, "inter_bps": inter_bps}
    scenario = paper.model_copy(
        update={"floor": Floor(**floor), "optical": paper.optical.model_copy(update=optical)}
    )
    assert oversubscription(scenario) == expected


def test_oversubscription_is_the_load_of_a_link_when_a_ring_sends_to_another() -> None:
    """Counted on the wired paths: every rack of ring 0 sends one unit to its peer on ring 1."""
    scenario = Scenario.preset("paper")
    network, lanes = network_of(scenario), scenario.floor.lanes
    src = np.arange(lanes)
    load = np.zeros(network.links, dtype=np.int64)
    network.add_load(load, src, src + lanes, np.ones_like(src))
    busy = load / np.maximum(network.rate_bps, 1)
    assert busy.max() / busy[0] == oversubscription(scenario)
