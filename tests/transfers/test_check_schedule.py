"""Feasible schedules pass; each mutation breaks one rule and is named for it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference.tensors import execute
from tests.transfers.build import (
    edited,
    play,
    random_parent,
    ring_plan,
    transfers,
    tree_plan,
    without_rows,
)
from thzsync.errors import ThzSyncError
from thzsync.scenario import Thz
from thzsync.transfers.check import check_schedule

THZ = Thz()
SENDERS = transfers([[0, 2500, 900], [700, 0, 0], [0, 1000, 0]])


def refused(schedule, match, thz=THZ, **limits):
    with pytest.raises(ThzSyncError, match=match) as caught:
        check_schedule(schedule, thz, **limits)
    assert "\n" not in str(caught.value)


@given(
    n=st.integers(2, 8),
    subbands=st.integers(1, 6),
    overhead_s=st.sampled_from([0.0, 1e-5]),
    seed=st.integers(0, 2**32),
)
@settings(max_examples=60, deadline=None)
def test_feasible_schedules_pass_and_work_on_arrays(n, subbands, overhead_s, seed):
    rng, thz = np.random.default_rng(seed), Thz(subbands=subbands)
    matrix = rng.integers(0, 3000, (n, n)) * (rng.random((n, n)) < 0.7)
    np.fill_diagonal(matrix, 0)
    trees = [random_parent(n, rng) for _ in range(min(n, subbands))]
    release_s = (rng.random(n) * 1e-3).tolist()
    for plan in (transfers(matrix), tree_plan(trees, 5000), ring_plan(n, 4000)):
        schedule = play(plan, thz, release_s, rng=rng, overhead_s=overhead_s)
        check_schedule(schedule, thz)
        execute(schedule, rng)


def test_an_empty_schedule_of_an_empty_demand_passes():
    check_schedule(play(transfers(np.zeros((2, 2), dtype=int))), THZ)


def test_a_dropped_chunk_is_named():
    schedule = play(SENDERS)
    check_schedule(schedule, THZ)
    refused(without_rows(schedule, 1), r"chunk 1 .*flow 0 \(0->1\) .*\b0\b")
    with pytest.raises(ThzSyncError, match="rack 0"):
        execute(without_rows(schedule, 1), np.random.default_rng(0))


def test_a_chunk_sent_twice_is_named():
    schedule = edited(play(SENDERS), first_chunk={1: 0})
    refused(schedule, r"chunk 0 .*flow 0 .*\b2\b")


def test_chunks_on_the_fibre_are_not_asked_for_and_must_not_be_sent():
    owned = SENDERS.chunks.copy()
    owned[0] = 1
    schedule = play(SENDERS)
    split = edited(schedule, plan=SENDERS.split(owned))
    refused(split, "transmission 1 .*1 chunks")
    check_schedule(without_rows(split, 1, 2), THZ)
    refused(edited(schedule, plan=SENDERS.split(owned + 9)), "flow 0 .*10 of 3")


def test_starting_before_the_data_is_released_is_refused():
    schedule = play(SENDERS, release_s=[1e-3, 0, 0])
    check_schedule(schedule, THZ)
    late = np.array([10**9 + 1, 0, 0])
    refused(edited(schedule, release_ps=late), "transmission 0 .*data")


def test_swapping_the_order_of_dependent_flows_is_refused():
    schedule = play(tree_plan([[-1, 0, 1]], 1000))
    first, second = (int(np.flatnonzero(schedule.flow == f)[0]) for f in (1, 0))
    swapped = edited(schedule, flow={first: 0, second: 1})
    refused(swapped, "flow 0 .* 0 ps, .*flow 1 ")
    with pytest.raises(ThzSyncError, match="rack"):
        execute(swapped, np.random.default_rng(0))


def test_precedence_towards_the_fibre_is_left_to_the_engine():
    plan = tree_plan([[-1, 0, 1]], 1000)
    owned = np.array([1, 0, 1, 1])
    schedule = play(plan)
    wired = int(np.flatnonzero(schedule.flow == 1)[0])
    split = edited(schedule, plan=plan.split(owned))
    check_schedule(without_rows(split, wired), THZ)


def test_a_rack_cannot_do_two_things_on_one_subband():
    schedule = play(SENDERS, Thz(subbands=1))
    check_schedule(schedule, Thz(subbands=1))
    length_ps = schedule.end_ps[1] - schedule.start_ps[1]
    start_ps = int(schedule.end_ps[0]) - 1
    overlapping = edited(schedule, start_ps={1: start_ps}, end_ps={1: start_ps + length_ps})
    refused(overlapping, "rack 0 .*subband", Thz(subbands=1))


def test_sending_and_receiving_on_one_subband_is_refused_and_on_two_it_is_not():
    plan = transfers([[0, 900], [900, 0]])
    schedule = edited(play(plan), start_ps=np.zeros(2, dtype=np.int64), subband=np.array([0, 1]))
    length_ps = int(play(plan).end_ps[0])
    schedule = edited(schedule, end_ps=np.full(2, length_ps))
    check_schedule(schedule, THZ)
    refused(edited(schedule, subband=np.array([2, 2])), "rack [01] .*subband")
    refused(schedule, "rack 0 .*1 RF chains", Thz(rf_chains=1))


def test_power_above_the_rack_limit_is_refused():
    plan = transfers([[0, 900, 900], [0, 0, 0], [0, 0, 0]])
    base = play(plan)
    together = edited(
        base,
        subband=np.array([0, 1]),
        start_ps=np.zeros(2, dtype=np.int64),
        end_ps=np.full(2, base.end_ps[0]),
        power_w=np.array([0.06, 0.04]),
    )
    check_schedule(together, THZ)
    refused(edited(together, power_w={0: 0.0601}), r"rack 0 .*0\.1001 W, .* 0\.1 W")
    refused(together, r" 0\.08 W", budget_w=np.array([0.08, 0.1, 0.1]))
    one_by_one = edited(
        together,
        start_ps={1: base.end_ps[0]},
        end_ps={1: 2 * base.end_ps[0]},
        power_w=np.array([0.1, 0.1]),
    )
    check_schedule(one_by_one, THZ)


def test_too_little_time_for_the_bytes_is_refused():
    schedule = play(SENDERS)
    length_ps = int(schedule.end_ps[0] - schedule.start_ps[0])
    shorter = edited(schedule, end_ps={0: schedule.start_ps[0] + length_ps * 99 // 100})
    refused(shorter, " bits .*8000")
    refused(edited(schedule, gain={0: 0.0}), " 0 bits")
    refused(edited(schedule, gain={0: np.nan}), "gain nan")
    refused(edited(schedule, power_w={0: -0.1}), r"power_w -0\.1")


def test_the_guard_time_carries_nothing():
    schedule = play(SENDERS, overhead_s=1e-5)
    check_schedule(schedule, THZ)
    refused(
        edited(schedule, overhead_ps=schedule.overhead_ps + 2 * 10**7),
        "transmission [0-9]+ .*(time|bits)",
    )


def test_an_unknown_subband_or_flow_is_refused():
    refused(edited(play(SENDERS), subband={0: 4}), r"subband 4; .*0\.\.3")
    refused(edited(play(SENDERS), flow={0: 44}), "flow 44")


def test_stages_wait_for_the_stages_below():
    plan = transfers([[0, 900, 0, 0], [0, 0, 0, 0], [0, 0, 0, 900], [0, 0, 0, 0]])
    schedule = play(plan)
    check_schedule(schedule, THZ)
    staged = edited(plan, stage=np.array([0, 1]))
    refused(edited(schedule, plan=staged), "stage 1 ")
    shift = int(schedule.end_ps[0])
    later = edited(
        schedule,
        plan=staged,
        start_ps={1: shift},
        end_ps={1: shift + schedule.end_ps[1] - schedule.start_ps[1]},
    )
    check_schedule(later, THZ)


def test_transmissions_of_a_round_start_together():
    schedule = play(transfers([[0, 1500], [0, 0]], "p2p"), Thz(subbands=1))
    refused(edited(schedule, round=np.zeros(2, dtype=np.int64)), "round")


def test_a_bundled_flow_travels_at_once():
    plan = tree_plan([[-1, 0]], 3000, bundled=False)
    schedule = play(plan)
    check_schedule(schedule, THZ)
    refused(edited(schedule, plan=edited(plan, bundled=~plan.bundled)), "flow 0 .*bundled")


def test_ragged_columns_are_refused():
    refused(edited(play(SENDERS), gain=np.ones(1)), "columns")
