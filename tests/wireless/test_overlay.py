"""Events share transceivers: occupancy, RF chains and power, older events first."""

from __future__ import annotations

import numpy as np
import pytest

from tests.wireless.worlds import (
    CHUNK,
    admit,
    channel_of,
    demand_of,
    even_gains,
    everyone_to_everyone,
    gains_for_snr,
    method_of,
    overlaps,
    peak_power_w,
    plain_kernels,
    play,
    random_gains,
    seconds,
)
from thzsync.collectives import Tensor, Transfer
from thzsync.scenario import Thz
from thzsync.synthesis import Setting
from thzsync.wireless import NEVER_PS, Overlay

KINDS = ("p2p", "a2a", "allreduce")

THZ = Thz()
ONE_BAND = Thz(subbands=1)


def overlay_of(thz: Thz = THZ, racks: int = 4, snr: float = 100.0, **kwargs: bool) -> Overlay:
    return Overlay(thz, channel_of(even_gains(thz, racks, snr)), racks, **kwargs)


def test_an_older_event_goes_first_whatever_the_order_of_admission() -> None:
    overlay = overlay_of(ONE_BAND)
    for number in (7, 3):
        admit(overlay, number, Transfer.of([0], [1], [CHUNK]), 4, method_of("a2a"), ONE_BAND)
    assert [r.number for r in play(overlay)] == [3, 7]


def test_an_event_of_lower_rank_goes_before_an_older_one() -> None:
    overlay = overlay_of(ONE_BAND)
    for number, rank in ((0, 1), (1, 0), (2, 1), (3, 0)):
        demand = Transfer.of([0], [1], [CHUNK])
        admit(overlay, number, demand, 4, method_of("a2a"), ONE_BAND, rank=rank)
    assert [r.number for r in play(overlay)] == [1, 3, 0, 2]


def test_an_event_keeps_its_rank_when_it_comes_to_thz_later() -> None:
    overlay = overlay_of(ONE_BAND)
    offer = method_of("a2a").offer(
        Transfer.of([0], [1], [CHUNK]), np.arange(4), CHUNK, Setting.flat(4, ONE_BAND)
    )
    overlay.admit(0, offer.lower(0 * offer.chunks), np.full(4, 0.1), 1)
    admit(overlay, 1, Transfer.of([0], [1], [CHUNK]), 4, method_of("a2a"), ONE_BAND)
    overlay.adopt(0, np.arange(1))
    overlay.ready(0, np.arange(1))
    assert [r.number for r in play(overlay)] == [1, 0]


def test_events_on_different_racks_run_at_the_same_time() -> None:
    overlay = overlay_of(ONE_BAND)
    for number, pair in enumerate(((0, 1), (2, 3))):
        demand = Transfer.of(pair[:1], pair[1:], [CHUNK])
        admit(overlay, number, demand, np.array(pair), method_of("a2a"), ONE_BAND)
    assert [r.start_ps for r in play(overlay)] == [0, 0]


def test_a_second_event_takes_what_power_the_first_leaves() -> None:
    """Two events, one sender: 60 % of the power for the older, so 40 % is left."""
    overlay = overlay_of()
    for number, dst in enumerate((1, 2)):
        demand = Transfer.of([0], [dst], [CHUNK])
        admit(overlay, number, demand, 4, method_of("a2a"), THZ, budget_w=0.06)
    first, second = overlay.dispatch(0)
    assert first.power_w.sum() == pytest.approx(0.06, rel=1e-6)
    assert second.power_w.sum() == pytest.approx(0.04, rel=1e-6)
    assert second.end_ps == pytest.approx(seconds(8 * CHUNK, 40.0, THZ) * 1e12, abs=2)


def test_an_event_waits_rather_than_start_at_a_crawl() -> None:
    overlay = overlay_of()
    for number, dst in enumerate((1, 2)):
        demand = Transfer.of([0], [dst], [CHUNK])
        admit(overlay, number, demand, 4, method_of("a2a"), THZ, budget_w=0.095)
    first, second = play(overlay)
    assert second.start_ps == first.end_ps


@pytest.mark.parametrize("seed", range(8))
def test_overlapping_events_never_break_a_rule_of_the_air(seed: int) -> None:
    generator = np.random.default_rng(seed)
    racks = 6
    thz = Thz(subbands=int(generator.integers(1, 5)), rf_chains=2, round_overhead_s=1e-5)
    overlay = Overlay(thz, channel_of(random_gains(generator, thz, racks)), racks)
    kinds = ("a2a", "p2p", "a2a", "p2p", "p2p")
    for number, kind in enumerate(kinds):
        demand = demand_of(kind, racks, generator)
        budget_w = float(generator.choice([0.025, 0.05, 0.075, 0.1]))
        admit(overlay, number, demand, racks, method_of(kind), thz, budget_w)
    rounds = play(overlay)
    assert not overlaps(rounds)
    assert (peak_power_w(rounds, racks) <= thz.max_power_w * (1 + 1e-9)).all()
    for instant in {r.start_ps for r in rounds}:
        taking_part = np.zeros(racks, dtype=np.int64)
        for r in rounds:
            if r.start_ps <= instant < r.end_ps:
                np.add.at(taking_part, np.concatenate((r.src, r.dst)), 1)
        assert taking_part.max() <= thz.chains
    assert not overlay.busy.any()
    assert (overlay.power_w == 0).all()
    assert not overlay.waiting()


def test_a_round_carries_its_bytes_and_nothing_moves_in_the_guard_time() -> None:
    thz = Thz(round_overhead_s=5e-6)
    overlay = overlay_of(thz, snr=127.0)
    admit(overlay, 0, Transfer.of([0], [1], [CHUNK]), 4, method_of("a2a"), thz)
    (only,) = play(overlay)
    assert only.overhead_ps == 5_000_000
    assert only.duration_ps == pytest.approx(8 * CHUNK / (7 * thz.subband_hz) * 1e12, abs=2)
    assert only.energy_j == pytest.approx(0.1 * only.duration_ps * 1e-12, rel=1e-9)


def test_a_bundle_waits_for_all_its_chunks_and_travels_as_one() -> None:
    overlay = overlay_of()
    method = method_of("allreduce", "single-tree")
    admit(overlay, 0, Tensor(3 * CHUNK), 2, method, THZ, ready=False)
    overlay.ready(0, np.array([0, 2]))
    assert overlay.dispatch(0) == []
    overlay.ready(0, np.array([1]))
    (only,) = overlay.dispatch(5)
    assert (only.first_chunk[0], only.chunks[0], only.size_bytes[0]) == (0, 3, 3 * CHUNK)


def test_only_the_first_chunks_belong_to_thz() -> None:
    overlay = overlay_of()
    method = method_of("a2a")
    demand = Transfer.of([0], [1], [3 * CHUNK])
    offer = method.offer(demand, np.arange(2), CHUNK, Setting.flat(2, THZ))
    overlay.admit(0, offer.lower(np.array([1])), np.full(2, 0.1))
    overlay.ready(0, np.array([0]))
    for row in (0, -1, 3, 2**40):
        with pytest.raises(ValueError, match="chunks"):
            overlay.ready(0, np.array([row]))
    assert sum(int(r.chunks.sum()) for r in play(overlay)) == 1
    assert overlay.outstanding(0) == 0


def test_a_withdrawn_chunk_is_not_sent_and_an_adopted_one_is() -> None:
    overlay = overlay_of(ONE_BAND)
    admit(overlay, 0, Transfer.of([0], [1], [3 * CHUNK]), 2, method_of("a2a"), ONE_BAND)
    overlay.withdraw(0, np.array([1]))
    assert [int(r.first_chunk[0]) for r in play(overlay)] == [0, 2]
    overlay.adopt(0, np.array([1]))
    overlay.ready(0, np.array([1]))
    assert [int(r.first_chunk[0]) for r in play(overlay)] == [1]
    overlay.retire(0)


def test_sent_chunks_can_neither_be_withdrawn_nor_the_event_retired_too_early() -> None:
    overlay = overlay_of(ONE_BAND)
    admit(overlay, 0, Transfer.of([0], [1], [2 * CHUNK]), 2, method_of("a2a"), ONE_BAND)
    overlay.dispatch(0)
    with pytest.raises(ValueError, match="chunks"):
        overlay.withdraw(0, np.array([0]))
    with pytest.raises(ValueError, match="chunks"):
        overlay.retire(0)


def test_withdrawing_the_last_chunk_of_a_stage_opens_the_next() -> None:
    overlay = overlay_of()
    demand = Transfer.of([0, 1], [1, 3], [CHUNK, CHUNK])  # offsets 1 and 2 of four racks
    admit(overlay, 0, demand, 4, method_of("a2a", "cyclic"), THZ)
    overlay.withdraw(0, np.array([0]))
    (only,) = overlay.dispatch(0)
    assert only.flow.tolist() == [1]


def test_a_blocked_flow_is_reported_since_when_and_others_go_on() -> None:
    snr = np.full((3, 3, THZ.subbands), 100.0)
    snr[0, 1] = snr[1, 0] = 1e-9
    overlay = Overlay(THZ, channel_of(gains_for_snr(THZ, snr, 3)), 3)
    admit(overlay, 0, Transfer.of([0, 0], [1, 2], [CHUNK] * 2), 3, method_of("a2a"), THZ)
    (sent,) = overlay.dispatch(17)
    assert sent.dst.tolist() == [2]
    overlay.finish(sent)
    assert overlay.dispatch(sent.end_ps) == []
    (stuck,) = overlay.waiting()
    assert (stuck.number, stuck.flow, stuck.rows.tolist(), stuck.since_ps) == (0, 0, [0], 17)
    overlay.withdraw(0, np.array([0]))
    assert overlay.waiting() == []
    assert overlay.outstanding(0) == 0


def test_a_flow_that_merely_waits_for_its_turn_is_not_stuck() -> None:
    overlay = overlay_of(ONE_BAND)
    for number in range(2):
        admit(overlay, number, Transfer.of([0], [1], [CHUNK]), 2, method_of("a2a"), ONE_BAND)
    overlay.dispatch(0)
    assert overlay.waiting() == []


def test_when_the_channel_recovers_a_blocked_flow_is_sent() -> None:
    bad, good = (gains_for_snr(ONE_BAND, snr, 2) for snr in (1e-9, 100.0))
    overlay = Overlay(ONE_BAND, channel_of(bad, good, at_ps=(0, 1000)), 2)
    admit(overlay, 0, Transfer.of([0], [1], [CHUNK]), 2, method_of("a2a"), ONE_BAND)
    assert overlay.dispatch(0) == []
    assert overlay.next_change_ps(0) == 1000
    (sent,) = overlay.dispatch(1000)
    assert sent.start_ps == 1000
    assert overlay.waiting() == []
    assert overlay.next_change_ps(1000) == NEVER_PS


@pytest.mark.parametrize("part", [{"rack": 1}, {"subband": 0}, {"pair": (1, 0)}])
def test_what_is_disabled_is_not_used_until_every_fault_on_it_is_over(part: dict) -> None:
    overlay = overlay_of(ONE_BAND, racks=2)
    admit(overlay, 0, Transfer.of([0], [1], [CHUNK]), 2, method_of("a2a"), ONE_BAND)
    overlay.disable(**part)
    overlay.disable(**part)
    assert overlay.dispatch(0) == []
    overlay.enable(**part)
    assert overlay.dispatch(1) == []
    assert len(overlay.waiting()) == 1
    overlay.enable(**part)
    assert len(overlay.dispatch(2)) == 1


def test_a_jammed_subband_leaves_the_others() -> None:
    overlay = overlay_of()
    overlay.disable(subband=2)
    admit(overlay, 0, everyone_to_everyone(4, 8 * CHUNK), 4, method_of("a2a"), THZ)
    used = np.concatenate([r.subband for r in play(overlay)])
    assert set(used.tolist()) == {0, 1, 3}


def test_p2p_uses_the_best_free_subband_of_each_pair() -> None:
    snr = np.full((3, 3, 4), 10.0)
    snr[..., 2] = 1000.0
    snr[..., 1] = 100.0
    overlay = Overlay(THZ, channel_of(gains_for_snr(THZ, snr, 3)), 3)
    demand = Transfer.of([0, 1], [2, 2], [CHUNK] * 2)
    admit(overlay, 0, demand, 3, method_of("p2p"), THZ)
    rounds = overlay.dispatch(0)
    assert [int(r.subband[0]) for r in rounds] == [2, 1]
    assert [r.overhead_ps for r in rounds] == [0, 0]


def test_p2p_flows_of_one_rack_share_its_budget() -> None:
    overlay = overlay_of()
    demand = Transfer.of([0, 0, 1], [1, 2, 3], [CHUNK, CHUNK, CHUNK])
    admit(overlay, 0, demand, 4, method_of("p2p"), THZ, budget_w=0.08)
    power = {int(r.flow[0]): float(r.power_w[0]) for r in overlay.dispatch(0)}
    assert power == pytest.approx({0: 0.04, 1: 0.04, 2: 0.08})


def test_p2p_serves_the_least_served_flow_first() -> None:
    overlay = overlay_of(ONE_BAND, trains=False)
    admit(overlay, 0, Transfer.of([0, 0], [1, 2], [2 * CHUNK] * 2), 3, method_of("p2p"), ONE_BAND)
    assert [int(r.flow[0]) for r in play(overlay)] == [0, 1, 0, 1]


def test_p2p_takes_its_time_at_full_budget() -> None:
    overlay = overlay_of(snr=63.0, trains=False)
    admit(overlay, 0, Transfer.of([0], [1], [4 * CHUNK]), 2, method_of("p2p"), THZ)
    rounds = play(overlay)
    assert len(rounds) == 4
    assert rounds[-1].end_ps == pytest.approx(4 * seconds(8 * CHUNK, 63.0, THZ) * 1e12, abs=8)


@pytest.mark.parametrize("kind", list(KINDS))
def test_plain_python_sends_what_machine_code_sends(kind: str) -> None:
    generator = np.random.default_rng(5)
    thz = Thz(subbands=3)
    gains = random_gains(generator, thz, 4)
    demand = demand_of(kind, 4, generator)

    def outcome() -> list[tuple[object, ...]]:
        overlay = Overlay(thz, channel_of(gains), 4)
        admit(overlay, 0, demand, 4, method_of(kind), thz)
        rounds = play(overlay)
        return [(r.start_ps, r.end_ps, r.flow.tolist(), r.subband.tolist()) for r in rounds]

    with plain_kernels():
        plain = outcome()
    assert plain == outcome()
