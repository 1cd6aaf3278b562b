"""Whole collectives alone on the overlay: closed forms, edge cases, random instances.

Every schedule is checked when it is built (delivery, exactly-once reduction, precedence, half
duplex, RF chains, power, bytes), so running through is most of the claim.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference.tensors import execute
from tests.wireless.worlds import (
    CHUNK,
    channel_of,
    demand_of,
    even_gains,
    everyone_to_everyone,
    gains_for_snr,
    random_gains,
    seconds,
)
from thzsync.channel import ChannelModel
from thzsync.collectives import Demand, Tensor, Transfer, find_collective
from thzsync.errors import ThzSyncError
from thzsync.execution.alone import run_collective, run_graph
from thzsync.scenario import Floor, Scenario, Thz
from thzsync.synthesis import BUILT_IN, find_method
from thzsync.topology import Topology
from thzsync.transfers import Flow, Schedule, graph_of

METHODS = [(method.collective, method.name) for method in BUILT_IN]


def run(
    kind: str,
    name: str,
    demand: Demand,
    racks: int,
    thz: Thz,
    channel: ChannelModel,
    late_s: list[float] | None = None,
) -> Schedule:
    scenario = Scenario(floor=Floor(rings=1, slots_per_ring=16), thz=thz)
    return run_collective(
        demand,
        np.arange(racks),
        find_method(kind, name),
        scenario,
        Topology(scenario.floor),
        channel,
        [0.0] * racks if late_s is None else late_s,
    )


def even_run(kind: str, name: str, demand: Demand, racks: int, thz: Thz, **kw: object) -> Schedule:
    channel = channel_of(even_gains(thz, 16))
    return run(kind, name, demand, racks, thz, channel, **kw)  # type: ignore[arg-type]


def demand_for(kind: str, racks: int) -> Demand:
    takes = find_collective(kind)
    if takes.demand is Tensor:
        return Tensor(racks * CHUNK, root=0 if takes.rooted else None)
    return everyone_to_everyone(racks, CHUNK)


def ms(schedule: Schedule) -> float:
    return schedule.completion_ps / 1e9


# -- closed forms --------------------------------------------------------------------------------


def test_two_racks_on_one_subband_take_turns() -> None:
    thz = Thz(subbands=1)
    schedule = even_run("a2a", "proposed", everyone_to_everyone(2, CHUNK), 2, thz)
    assert schedule.rounds == 2
    assert ms(schedule) == pytest.approx(2e3 * seconds(8 * CHUNK, 100.0, thz), rel=1e-6)


def test_four_chunks_of_one_pair_share_the_power_of_four_subbands() -> None:
    thz = Thz()
    schedule = even_run("a2a", "proposed", Transfer.of([0], [1], [4 * CHUNK]), 2, thz)
    assert schedule.rounds == 1
    assert ms(schedule) == pytest.approx(1e3 * seconds(8 * CHUNK, 25.0, thz), rel=1e-6)
    assert schedule.power_w == pytest.approx([0.025] * 4, rel=1e-6)


@pytest.mark.parametrize(("racks", "subrounds"), [(2, 2), (4, 2), (5, 3), (8, 2)])
def test_ring_needs_two_subrounds_per_stage_on_one_subband(racks: int, subrounds: int) -> None:
    """Three when the number of racks is odd: an odd cycle has no two-colouring."""
    thz = Thz()
    schedule = even_run("allreduce", "ring", Tensor(racks * CHUNK), racks, thz)
    stages = 2 * (racks - 1)
    assert schedule.rounds == stages * subrounds
    assert len(np.unique(schedule.subband)) == 1
    each_s = seconds(8 * CHUNK, 100.0, thz)
    assert ms(schedule) == pytest.approx(1e3 * stages * subrounds * each_s, rel=1e-6)


@pytest.mark.parametrize("racks", [2, 3, 5, 8])
def test_duplex_ring_needs_one_round_per_stage(racks: int) -> None:
    thz = Thz()
    schedule = even_run("allreduce", "ring-duplex", Tensor(racks * CHUNK), racks, thz)
    assert schedule.rounds == 2 * (racks - 1)
    each_s = seconds(8 * CHUNK, 100.0, thz)
    assert ms(schedule) == pytest.approx(1e3 * 2 * (racks - 1) * each_s, rel=1e-6)


def test_single_tree_of_a_star_reduces_and_broadcasts_in_two_rounds() -> None:
    """Up, every leaf has its own power; down, the root's is shared by four."""
    thz = Thz()
    schedule = even_run("allreduce", "single-tree", Tensor(CHUNK), 5, thz)
    up_s, down_s = (seconds(8 * CHUNK, snr, thz) for snr in (100.0, 25.0))
    assert ms(schedule) == pytest.approx(1e3 * (up_s + down_s), rel=1e-6)


def test_a_permutation_is_held_until_its_largest_demand_has_passed() -> None:
    thz = Thz()
    demand = Transfer.of([0, 1, 2], [1, 2, 0], [CHUNK, 3 * CHUNK, CHUNK])
    for name in ("cyclic", "demand-sorted"):
        schedule = even_run("a2a", name, demand, 3, thz)
        assert schedule.rounds == 1
        assert ms(schedule) == pytest.approx(1e3 * seconds(24 * CHUNK, 100.0, thz), rel=1e-6)


def test_every_round_pays_its_overhead() -> None:
    plain, costly = Thz(), Thz(round_overhead_s=1e-3)
    demand = everyone_to_everyone(4, 2 * CHUNK)
    a, b = (even_run("a2a", "proposed", demand, 4, thz) for thz in (plain, costly))
    assert a.rounds == b.rounds
    assert ms(b) - ms(a) == pytest.approx(b.rounds * 1.0, rel=1e-9)


def test_a_late_source_delays_only_its_own_chunks() -> None:
    thz = Thz()
    late_s = [0.0, 0.5, 0.0, 0.0]
    schedule = even_run("a2a", "proposed", everyone_to_everyone(4, CHUNK), 4, thz, late_s=late_s)
    from_late = schedule.plan.src[schedule.flow] == 1
    assert schedule.end_ps[~from_late].max() < 0.01e12
    assert schedule.start_ps[from_late].min() == 500_000_000_000


def test_a_late_rack_passes_on_at_once_what_comes_from_others() -> None:
    """Rack 1 relays from rack 0 to rack 2; only its own chunk for rack 3 has to wait for it."""
    thz = Thz()
    flows = [
        Flow(0, 1, CHUNK, thz=True),
        Flow(1, 2, CHUNK, after=(0,), local=False, thz=True),
        Flow(1, 3, CHUNK, block=1, shard=1, thz=True),
    ]
    demand = Transfer.of([0, 1], [2, 3], [CHUNK, CHUNK])
    graph = graph_of("a2a", demand, np.arange(4), CHUNK, flows)
    late_ps = np.array([0, 500_000_000_000, 0, 0])
    schedule = run_graph(graph, thz, channel_of(even_gains(thz, 4)), 4, late_ps)
    end_s = schedule.end_ps[np.argsort(schedule.flow)] * 1e-12
    each_s = seconds(8 * CHUNK, 100.0, thz)
    assert end_s == pytest.approx([each_s, 2 * each_s, 0.5 + each_s], rel=1e-6)


def test_permutations_wait_for_a_late_source() -> None:
    late_s = [0.0, 0.5, 0.0, 0.0]
    demand = everyone_to_everyone(4, CHUNK)
    for name in ("cyclic", "demand-sorted"):
        schedule = even_run("a2a", name, demand, 4, Thz(), late_s=late_s)
        second = schedule.plan.stage[schedule.flow] == 1
        assert schedule.start_ps[second].min() > 0.5e12


def test_a_late_rack_near_the_root_costs_little() -> None:
    """A delayed root is needed when the sums arrive, a delayed leaf before anything moves up."""
    thz = Thz()
    demand = Tensor(512 * CHUNK)
    on_time = ms(even_run("allreduce", "proposed", demand, 12, thz))
    late_s = [0.0] * 11 + [0.05]
    delayed = ms(even_run("allreduce", "proposed", demand, 12, thz, late_s=late_s))
    single = ms(even_run("allreduce", "single-tree", demand, 12, thz))
    single_late = ms(even_run("allreduce", "single-tree", demand, 12, thz, late_s=late_s))
    assert delayed - on_time < single_late - single


@pytest.mark.parametrize(("kind", "name"), METHODS)
def test_schedules_move_real_tensors_to_the_right_result(kind: str, name: str) -> None:
    generator = np.random.default_rng(11)
    thz = Thz()
    channel = channel_of(random_gains(generator, thz, 16))
    late_s = [0.0, 0.02, 0.0, 0.0, 0.01, 0.0]
    execute(run(kind, name, demand_for(kind, 6), 6, thz, channel, late_s), generator)


# -- edge cases ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "name"), METHODS)
@pytest.mark.parametrize("racks", [2, 3])
@pytest.mark.parametrize("subbands", [1, 4])
def test_two_or_three_racks_and_one_subband_work(
    kind: str, name: str, racks: int, subbands: int
) -> None:
    thz = Thz(subbands=subbands)
    schedule = even_run(kind, name, demand_for(kind, racks), racks, thz)
    assert schedule.completion_ps > 0
    if subbands == 1:  # then nobody sends and receives at once
        for instant in np.unique(schedule.start_ps):
            now = (schedule.start_ps <= instant) & (instant < schedule.end_ps)
            flows = schedule.flow[now]
            busy = np.concatenate((schedule.plan.src[flows], schedule.plan.dst[flows]))
            assert len(np.unique(busy)) == len(busy)


@pytest.mark.parametrize("name", ["proposed", "demand-sorted", "cyclic", "equal-power"])
def test_all_demand_on_one_pair(name: str) -> None:
    src, dst = np.nonzero(~np.eye(5, dtype=np.bool_))
    size = np.where((src == 3) & (dst == 1), 9 * CHUNK, 0)
    schedule = even_run("a2a", name, Transfer.of(src, dst, size), 5, Thz())
    assert schedule.plan.flows == 1
    assert int(schedule.chunks.sum()) == 9


def test_a_rack_that_sends_nothing_still_receives() -> None:
    demand = Transfer.of([0, 2], [1, 1], [CHUNK, CHUNK])
    schedule = even_run("a2a", "proposed", demand, 3, Thz())
    assert set(schedule.plan.dst[schedule.flow].tolist()) == {1}


@pytest.mark.parametrize(("kind", "name"), METHODS)
def test_nothing_to_send_is_done_at_once(kind: str, name: str) -> None:
    takes = find_collective(kind)
    tensor = Tensor(0, root=0 if takes.rooted else None)
    none = tensor if takes.demand is Tensor else Transfer.of([0], [1], [0])
    if kind == "barrier":
        return  # it sends a token even where there is no data
    schedule = even_run(kind, name, none, 4, Thz())
    assert schedule.completion_ps == 0
    assert schedule.plan.flows == 0


def test_fewer_racks_than_subbands_mean_fewer_trees() -> None:
    schedule = even_run("allreduce", "proposed", Tensor(12 * CHUNK), 3, Thz(subbands=8))
    assert set(schedule.plan.shard.tolist()) == {0, 1, 2}


def test_a_tensor_of_fewer_bytes_than_shards_leaves_shards_out() -> None:
    for name in ("proposed", "ring", "ring-duplex"):
        schedule = even_run("allreduce", name, Tensor(2), 6, Thz())
        assert set(schedule.plan.shard.tolist()) == {0, 1}


def test_one_rack_has_nothing_to_do() -> None:
    assert even_run("allreduce", "proposed", Tensor(CHUNK), 1, Thz()).plan.flows == 0


@pytest.mark.parametrize(("kind", "name"), METHODS)
def test_a_link_dead_on_all_subbands_is_reported_by_name(kind: str, name: str) -> None:
    thz = Thz(fallback_timeout_s=0.01)
    dead = gains_for_snr(thz, 1e-12, 16)
    with pytest.raises(ThzSyncError, match=r"rack \d -> rack \d"):
        run(kind, name, demand_for(kind, 3), 3, thz, channel_of(dead))


def test_a_blocked_link_waits_for_the_channel_within_the_timeout() -> None:
    thz = Thz(fallback_timeout_s=0.01)
    dead, fine = gains_for_snr(thz, 1e-12, 16), even_gains(thz, 16)
    demand = everyone_to_everyone(2, CHUNK)
    in_time = channel_of(dead, fine, at_ps=(0, 9_000_000_000))
    schedule = run("a2a", "proposed", demand, 2, thz, in_time)
    assert schedule.start_ps.min() == 9_000_000_000
    too_late = channel_of(dead, fine, at_ps=(0, 11_000_000_000))
    with pytest.raises(ThzSyncError, match=r"rack 0 -> rack 1|rack 1 -> rack 0"):
        run("a2a", "proposed", demand, 2, thz, too_late)


def test_racks_must_exist_and_be_named_once() -> None:
    scenario = Scenario(floor=Floor(rings=1, slots_per_ring=4))
    channel = channel_of(even_gains(scenario.thz, 4))
    for racks in ([], [1, 1], [2, 1], [0, 9]):
        with pytest.raises(ThzSyncError, match="racks"):
            run_collective(
                Tensor(1),
                racks,
                find_method("allreduce", "ring"),
                scenario,
                Topology(scenario.floor),
                channel,
                [0.0] * len(racks),
            )


# -- random instances ----------------------------------------------------------------------------


def random_instance(seed: int) -> None:
    """Any kind and method, racks 2-16, subbands 1-8, gains over 60 dB, dead links, late racks."""
    generator = np.random.default_rng(seed)
    kind, name = METHODS[int(generator.integers(len(METHODS)))]
    racks, subbands = int(generator.integers(2, 17)), int(generator.integers(1, 9))
    thz = Thz(
        subbands=subbands,
        rf_chains=int(generator.integers(1, subbands + 1)) if generator.random() < 0.5 else None,
        round_overhead_s=float(generator.choice([0.0, 3e-5])),
    )
    gains = random_gains(generator, thz, racks)
    dead = generator.random((racks, racks)) < 0.1 * (generator.random() < 0.3)
    dead |= dead.T
    gains[dead] *= 1e-12
    late_s = generator.uniform(0, 0.1, racks) * (generator.random(racks) < 0.2)
    demand = demand_of(kind, racks, generator)
    try:
        schedule = run(kind, name, demand, racks, thz, channel_of(gains), late_s.tolist())
    except ThzSyncError as error:
        assert re.search(r"rack \d+ -> rack \d+", str(error))  # noqa: PT017
        assert dead.any()
        return
    assert int(schedule.chunks.sum()) == int(schedule.plan.chunks.sum())


@given(st.integers(0, 2**32))
@settings(max_examples=250)
def test_no_random_instance_violates_a_constraint(seed: int) -> None:
    random_instance(seed)


@pytest.mark.slow
def test_none_of_ten_thousand_random_instances_violates_a_constraint() -> None:
    for seed in range(10_000):
        random_instance(seed)
