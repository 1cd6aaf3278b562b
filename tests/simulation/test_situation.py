"""A situation shows the stragglers, and the queues of the right direction."""

from __future__ import annotations

import numpy as np

from thzsync.arrays import IntArray
from thzsync.carriers import FIBRE
from thzsync.coordinator import Situation
from thzsync.scenario import Scenario
from thzsync.scenario.files import build_scenario
from thzsync.simulation.world import World
from thzsync.synthesis import Offer
from thzsync.transfers import TransferGraph
from thzsync.transfers.batch import ChunkBatch

RACKS = np.arange(4)
QUIET = build_scenario({"floor": {"rings": 1, "slots_per_ring": 4}}, "test")


def undecided(thz_chunks: IntArray) -> TransferGraph:
    raise AssertionError("a situation is shown before anything is decided")


def offer_of(src: list[int], dst: list[int], unit_starts: list[int]) -> Offer:
    """One chunk per unit; rows of links begin at ``unit_starts``."""
    units = len(unit_starts) - 1
    return Offer(
        kind="a2a", racks=RACKS, chunks=np.ones(units, dtype=np.int64),
        link_start=np.array(unit_starts), link_src=np.array(src), link_dst=np.array(dst),
        group=np.zeros(units, dtype=np.int64), rack_group=np.zeros(4, dtype=np.int64),
        lower=undecided,
    )  # fmt: skip


def shown(world: World, offer: Offer, late_ps: IntArray | None = None) -> Situation:
    late = np.zeros(4, dtype=np.int64) if late_ps is None else late_ps
    return world.situation(0, offer, late, world.fabric.now_ps)


def queue_from_rack_0_to_rack_1(scenario: Scenario) -> World:
    world = World.build(scenario, seed=0)
    batch = ChunkBatch.build(FIBRE, src=0, dst=1, size_bytes=64 * 2**20, notify=True)
    world.fabric.submit(batch, 0)
    world.fabric.advance(10**9)
    return world


def test_units_of_a_late_source_are_marked_and_no_others() -> None:
    world = World.build(QUIET, seed=0)
    offer = offer_of([0, 1, 2, 3], [1, 2, 3, 2], [0, 1, 2, 3, 4])
    found = shown(world, offer, np.array([0, 0, 7, 0]))
    assert found.straggler.tolist() == [False, False, True, False]


def test_a_unit_of_several_links_is_late_when_one_of_its_sources_is() -> None:
    world = World.build(QUIET, seed=0)
    offer = offer_of([0, 1, 2, 3], [1, 0, 3, 2], [0, 2, 4])
    found = shown(world, offer, np.array([0, 0, 0, 7]))
    assert found.straggler.tolist() == [False, True]


def test_a_queue_counts_for_the_way_it_leads_and_not_for_the_way_back() -> None:
    world = queue_from_rack_0_to_rack_1(QUIET)
    found = shown(world, offer_of([0, 1, 2], [1, 0, 3], [0, 1, 2, 3]))
    assert found.queued_bytes[0] > 0
    assert found.queued_bytes[1:].tolist() == [0, 0]


def test_a_unit_of_several_links_shows_its_fullest_queue_and_its_weakest_link() -> None:
    world = queue_from_rack_0_to_rack_1(QUIET)
    one_by_one = shown(world, offer_of([2, 0, 1], [3, 1, 3], [0, 1, 2, 3]))
    together = shown(world, offer_of([2, 0, 1], [3, 1, 3], [0, 3]))
    assert together.queued_bytes.tolist() == [one_by_one.queued_bytes.max()]
    assert together.shared_occupancy.tolist() == [one_by_one.shared_occupancy.max()]
    np.testing.assert_array_equal(
        together.snr_db_per_w[0], one_by_one.snr_db_per_w.min(axis=0), strict=True
    )


def test_the_gain_that_is_shown_is_the_signal_to_noise_ratio_of_one_watt() -> None:
    world = World.build(QUIET, seed=0)
    found = shown(world, offer_of([0], [1], [0, 1]))
    gain = world.channel.gains(np.array([0]), np.array([1]), 0)
    snr = gain * 10 ** (QUIET.thz.receive_gain_db / 10) / QUIET.thz.noise_w
    np.testing.assert_allclose(found.snr_db_per_w, 10 * np.log10(snr), rtol=1e-12)
