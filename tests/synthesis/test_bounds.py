"""Lower bounds: closed forms where they are known, and never above any feasible schedule."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.transfers.build import play, random_parent, ring_plan, transfers, tree_plan
from tests.wireless.worlds import admit, channel_of, demand_of, random_gains
from tests.wireless.worlds import play as play_all
from thzsync.channel import link_budget_per_w
from thzsync.collectives import Tensor, Transfer
from thzsync.errors import ThzSyncError
from thzsync.experiments.single_ring import Instance
from thzsync.scenario import Scenario, Thz
from thzsync.synthesis import find_method, method_names
from thzsync.synthesis import program as program_module
from thzsync.synthesis.bounds import a2a_bound_s, allreduce_bound_s, bound_s, turns
from thzsync.synthesis.program import AirtimeProgram, Links, Span
from thzsync.wireless import Overlay

GAIN = 1e-9
MEGABYTE = 10**6


def flat(n, subbands, gain=GAIN):
    gains = np.full((n, n, subbands), gain)
    gains[range(n), range(n)] = 0
    return gains


def rate_bps(thz, power_w, gain=GAIN):
    return thz.subband_hz * math.log2(1 + power_w * link_budget_per_w(thz)[0] * gain)


def transfer_of(matrix):
    i, j = np.nonzero(matrix)
    return Transfer.of(i, j, np.asarray(matrix)[i, j])


def a2a_s(matrix, thz, gains=None, release_s=None):
    n = len(matrix)
    gains = flat(n, thz.subbands) if gains is None else gains
    release_s = np.zeros(n) if release_s is None else np.asarray(release_s)
    return a2a_bound_s(transfer_of(matrix), np.arange(n), gains, thz, release_s)


def allreduce_s(size, n, thz, gains=None, release_s=None):
    gains = flat(n, thz.subbands) if gains is None else gains
    release_s = np.zeros(n) if release_s is None else np.asarray(release_s)
    return allreduce_bound_s(size, np.arange(n), gains, thz, release_s)


def test_headroom_counts_as_noise():
    """No transmission is promised less than the noise times the headroom."""
    matrix = MEGABYTE * (np.ones((4, 4), dtype=np.int64) - np.eye(4, dtype=np.int64))
    beams = Thz(interference="beams", interference_headroom_db=10, noise_figure_db=3)
    louder = Thz(noise_figure_db=13)
    for given_s in (a2a_s, lambda _, thz: allreduce_s(MEGABYTE, 4, thz)):
        assert given_s(matrix, beams) == pytest.approx(given_s(matrix, louder), rel=1e-9)


@pytest.mark.parametrize("subbands", [1, 2, 4, 8])
def test_one_link_alone_spreads_its_power_over_all_subbands(subbands):
    thz = Thz(subbands=subbands, subband_hz=2e9)
    best_s = 8 * MEGABYTE / (subbands * rate_bps(thz, thz.max_power_w / subbands))
    bound = a2a_s([[0, MEGABYTE], [0, 0]], thz)
    assert 0.97 * best_s < bound <= best_s * (1 + 1e-9)


def test_three_racks_on_one_subband_take_turns():
    """Half duplex alone would allow 4 transfers' time; the odd set knows that it takes 6."""
    thz = Thz(subbands=1)
    matrix = MEGABYTE * (1 - np.eye(3, dtype=int))
    one_s = 8 * MEGABYTE / rate_bps(thz, thz.max_power_w)
    assert a2a_s(matrix, thz) == pytest.approx(6 * one_s, rel=1e-6)


def test_an_odd_set_hidden_among_more_racks_is_found():
    """A triangle of demands within four racks: 6 transfers' time again, found by separation."""
    thz = Thz(subbands=1)
    matrix = np.zeros((4, 4), dtype=int)
    matrix[:3, :3] = MEGABYTE * (1 - np.eye(3, dtype=int))
    one_s = 8 * MEGABYTE / rate_bps(thz, thz.max_power_w)
    assert a2a_s(matrix, thz) == pytest.approx(6 * one_s, rel=1e-6)


def test_two_racks_exchange_at_once_on_two_subbands_and_in_turn_on_one():
    matrix = [[0, MEGABYTE], [MEGABYTE, 0]]
    one, two = Thz(subbands=1), Thz(subbands=2)
    alone_s = 8 * MEGABYTE / rate_bps(one, one.max_power_w)
    assert a2a_s(matrix, one) == pytest.approx(2 * alone_s, rel=1e-6)
    assert a2a_s(matrix, two) == pytest.approx(alone_s, rel=1e-6)
    single_chain = Thz(subbands=2, rf_chains=1)
    assert a2a_s(matrix, single_chain) == pytest.approx(2 * alone_s, rel=1e-6)


def test_guard_times_count_once_per_flow_but_not_for_p2p():
    matrix = [[0, MEGABYTE], [MEGABYTE, 0]]
    thz, guarded = Thz(subbands=1), Thz(subbands=1, round_overhead_s=1e-3)
    assert a2a_s(matrix, guarded) == pytest.approx(a2a_s(matrix, thz) + 2e-3, rel=1e-6)
    arguments = (transfer_of(matrix), np.arange(2), flat(2, 1), guarded, np.zeros(2))
    free_s = bound_s("p2p", *arguments, guarded=False)
    assert free_s == pytest.approx(a2a_s(matrix, thz), rel=1e-6)
    assert bound_s("a2a", *arguments) == bound_s("p2p", *arguments) == a2a_s(matrix, guarded)


def test_links_that_stay_pointed_owe_one_guard_time_per_partner():
    matrix = [[0, MEGABYTE], [MEGABYTE, 0]]
    guarded = Thz(subbands=1, round_overhead_s=1e-3)
    arguments = (transfer_of(matrix), np.arange(2), flat(2, 1), guarded, np.zeros(2))
    free_s = bound_s("a2a", *arguments, guarded=False)
    assert bound_s("a2a", *arguments, pointed=True) == pytest.approx(free_s + 1e-3, rel=1e-6)
    tensor = (Tensor(MEGABYTE), *arguments[1:])
    assert bound_s("allreduce", *tensor, pointed=True) < bound_s("allreduce", *tensor) - 0.9e-3


def test_a_link_that_was_pointed_before_a_late_release_owes_nothing_after_it():
    """Rack 1 sends first and stays pointed; rack 0 answers at once when its data is there."""
    thz = Thz(subbands=1, round_overhead_s=1e-3)
    one_s, late_s = 8 * MEGABYTE / rate_bps(thz, thz.max_power_w), 1.0
    matrix = [[0, MEGABYTE], [MEGABYTE, 0]]
    arguments = (transfer_of(matrix), np.arange(2), flat(2, 1), thz, np.array([late_s, 0.0]))
    possible_s = late_s + one_s
    assert bound_s("a2a", *arguments, pointed=True) == pytest.approx(possible_s, rel=1e-6)
    assert bound_s("a2a", *arguments) == pytest.approx(possible_s + 1e-3, rel=1e-6)


def test_a_rack_turns_to_more_partners_than_it_can_face():
    talk = np.zeros((6, 6), dtype=bool)
    talk[0, 1:] = talk[1, 0] = True
    thz = Thz(subbands=2)
    assert turns(talk, thz).tolist() == [5, 1, 1, 1, 1, 1]
    assert turns(talk, thz, before=True).tolist() == [3, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("seed", range(12))
def test_no_method_whose_links_stay_pointed_beats_its_bound(seed):
    """Guard times as long as chunks, few chunks, late racks: whatever makes turns count."""
    from tests.wireless.worlds import CHUNK, channel_of, random_gains
    from thzsync.execution.alone import run_collective
    from thzsync.synthesis import find_method
    from thzsync.topology import Topology

    rng = np.random.default_rng(seed)
    n, subbands = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    thz = Thz(subbands=subbands, round_overhead_s=float(rng.choice([3e-5, 2e-4])))
    scenario = Scenario.preset("single-ring").model_copy(update={"thz": thz})
    gains = random_gains(rng, thz, n)
    matrix = rng.integers(0, 3, (n, n)) * CHUNK
    np.fill_diagonal(matrix, 0)
    matrix[0, 1] = CHUNK
    release_s = rng.random(n) * 1e-3 * (rng.random(n) < 0.4)
    racks, topology = np.arange(n), Topology(scenario.floor)
    cases = [
        ("a2a", "sustained", transfer_of(matrix)),
        ("allreduce", "streamed", Tensor(5 * CHUNK)),
    ]
    for kind, method, demand in cases:
        schedule = run_collective(
            demand, racks, find_method(kind, method), scenario, topology, channel_of(gains),
            release_s,
        )  # fmt: skip
        bound = bound_s(kind, demand, racks, gains, thz, release_s, tight=True, pointed=True)
        assert bound <= schedule.completion_ps * 1e-12 * (1 + 1e-9)


def test_a_late_rack_starts_when_its_data_is_there():
    thz = Thz(subbands=1)
    alone_s = 8 * MEGABYTE / rate_bps(thz, thz.max_power_w)
    matrix = np.zeros((3, 3), dtype=int)
    matrix[0, 1] = matrix[2, 1] = MEGABYTE
    late_s = 10 * alone_s
    assert a2a_s(matrix, thz, release_s=[late_s, 0, 0]) == pytest.approx(late_s + alone_s, rel=1e-6)
    # Only just late: rack 1 must receive both, and is busy from the beginning.
    assert a2a_s(matrix, thz, release_s=[alone_s / 2, 0, 0]) == pytest.approx(2 * alone_s, rel=1e-6)
    # Rack 1 sends nothing, so its own delay does not matter.
    assert a2a_s(matrix, thz, release_s=[0, 9.0, 0]) == pytest.approx(2 * alone_s, rel=1e-6)


def test_what_late_racks_send_to_one_rack_follows_each_other_after_their_release():
    """Racks 0 and 1 are late; rack 2 hears from both, and from rack 3 meanwhile."""
    thz = Thz(subbands=1)
    alone_s = 8 * MEGABYTE / rate_bps(thz, thz.max_power_w)
    matrix = np.zeros((4, 4), dtype=int)
    matrix[[0, 1, 3], 2] = MEGABYTE
    late_s = 10 * alone_s
    release_s = [late_s, late_s, 0, 0]
    assert a2a_s(matrix, thz, release_s=release_s) == pytest.approx(late_s + 2 * alone_s, rel=1e-6)


def test_nothing_takes_no_time_and_the_impossible_for_ever():
    thz = Thz()
    assert a2a_s(np.zeros((3, 3), dtype=int), thz) == 0.0
    dead = flat(2, 4)
    dead[:] = 0
    assert a2a_s([[0, 1], [0, 0]], thz, dead) == math.inf
    assert allreduce_s(1, 2, thz, dead) == math.inf
    assert allreduce_s(0, 5, thz) == 0.0
    assert allreduce_s(MEGABYTE, 1, thz) == 0.0


@pytest.mark.parametrize(("n", "transfers_in_turn"), [(2, 2), (3, 4)])
def test_an_allreduce_on_one_subband_sends_two_tensors_less_two_shares(n, transfers_in_turn):
    """Two or three racks have room for one link at a time: 2(N - 1) D in a row."""
    thz = Thz(subbands=1)
    one_s = 8 * MEGABYTE / rate_bps(thz, thz.max_power_w)
    assert allreduce_s(MEGABYTE, n, thz) == pytest.approx(transfers_in_turn * one_s, rel=1e-6)


def test_two_racks_allreduce_at_once_on_two_subbands():
    thz = Thz(subbands=2)
    one_s = 8 * MEGABYTE / rate_bps(thz, thz.max_power_w)
    assert allreduce_s(MEGABYTE, 2, thz) == pytest.approx(one_s, rel=1e-6)


def test_the_latest_rack_of_an_allreduce_still_has_to_send_its_tensor():
    thz = Thz(subbands=1)
    one_s = 8 * MEGABYTE / rate_bps(thz, thz.max_power_w)
    late = allreduce_s(MEGABYTE, 3, thz, release_s=[0, 0, 50 * one_s])
    # Two racks must learn of it, one link at a time.
    assert late == pytest.approx(52 * one_s, rel=1e-6)


def test_what_a_late_rack_sends_before_another_comes_does_not_count_for_that_one():
    """Three racks, one link at a time: each late tensor needs two transfers after its release."""
    thz = Thz(subbands=1)
    one_s = 8 * MEGABYTE / rate_bps(thz, thz.max_power_w)
    gains, racks = flat(3, 1), np.arange(3)

    def bounds(gap):
        release_s = np.array([0, 50 * one_s, (50 + gap) * one_s])
        return [
            allreduce_bound_s(MEGABYTE, racks, gains, thz, release_s, tight) / one_s
            for tight in (False, True)
        ]

    # Both late at once: three transfers. One later: its two, and the other's one before.
    assert bounds(0) == pytest.approx([53, 53], rel=1e-6)
    assert bounds(0.5) == pytest.approx([53, 53], rel=1e-6)
    assert bounds(1) == pytest.approx([53, 53], rel=1e-6)
    assert bounds(2) == pytest.approx([54, 54], rel=1e-6)


@pytest.mark.parametrize("seed", range(2))
def test_a_tight_bound_lies_above_the_quick_one_and_below_every_schedule(seed):
    from thzsync.experiments.single_ring import Instance

    instance = Instance(Scenario.preset("single-ring"), "allreduce", 9, True, seed, 64 * 2**20)
    quick_ms, tight_ms = (instance.bound_ms("streamed", tight=tight) for tight in (False, True))
    assert quick_ms <= tight_ms <= instance.run("streamed").completion_ps / 1e9


def test_a_far_late_rack_must_be_heard_across_the_gap():
    """Racks 0, 1 | 2, 3, both 0 and 3 late, 3 later: a tensor each way over weak links."""
    thz = Thz(subbands=1)
    gains = flat(4, 1, 1e-7)
    gains[:2, 2:] = gains[2:, :2] = 1e-12
    weak_s = 8 * MEGABYTE / rate_bps(thz, thz.max_power_w, 1e-12)
    release_s = np.array([1.0, 0, 0, 1.0 + 10 * weak_s])
    assert allreduce_bound_s(MEGABYTE, np.arange(4), gains, thz, release_s, True) >= (
        1.0 + 10.5 * weak_s
    )


def test_two_clusters_joined_by_weak_links_must_use_them():
    """The volume bound of the cut {0,1} | {2,3}: one tensor each way over weak links."""
    thz = Thz(subbands=1)
    gains = flat(4, 1, 1e-7)
    gains[:2, 2:] = gains[2:, :2] = 1e-12
    weak_s = 8 * MEGABYTE / rate_bps(thz, thz.max_power_w, 1e-12)
    bound = allreduce_s(MEGABYTE, 4, thz, gains)
    assert bound >= weak_s  # at most two weak links at once, two tensors to cross
    assert bound > 3 * allreduce_s(MEGABYTE, 4, thz, flat(4, 1, 1e-7))


RATES = ({}, {"sndr_db": 18}, {"sndr_db": 200}, {"kind": "802.15.3d", "sndr_db": 18})


@pytest.mark.parametrize("rate", RATES)
def test_corners_lie_above_the_rate_curve_everywhere(rate):
    snr = np.logspace(-12, 8, 41)
    thz = Thz(rate=rate)
    links = Links(2, thz, *(np.zeros(41, dtype=np.int64) for _ in range(3)), snr)
    power, rate = links.corners()
    for p in np.linspace(0, 1, 101):
        envelope = [hull_at(p, power[k], rate[k]) for k in range(len(snr))]
        assert (np.array(envelope) >= links.rate_bps(p) * (1 - 1e-12)).all()


def hull_at(p, power, rate):
    """The highest mix of two corners, or of one and silence, with this power or less."""
    power, rate = np.append(0, power), np.append(0, rate)
    low, high = power[:, None] <= p, power[None, :] > p
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (p - power[:, None]) / (power[None, :] - power[:, None])
        mixed = rate[:, None] * (1 - share) + rate[None, :] * share
    return max(rate[power <= p].max(), np.where(low & high, mixed, 0).max())


@pytest.mark.parametrize("rate", RATES)
def test_multipliers_are_checked_at_every_power(rate):
    rng = np.random.default_rng(1)
    snr = np.logspace(-3, 6, 60)
    thz = Thz(rate=rate)
    ends = np.zeros(60, dtype=np.int64)
    program = AirtimeProgram(Links(2, thz, ends, ends + 1, ends, snr))
    for _ in range(20):
        worth, energy = rng.random(60) * 1e-9, rng.random(60) * rng.choice([0, 0.1, 1, 10, 1e3])
        earned, paid = program._worst(worth, energy)
        for p in np.linspace(0, 1, 301):
            excess = worth * program.links.rate_bps(p) - energy * p
            assert (excess <= np.maximum(earned - paid, 0) + 1e-12 * (1 + np.abs(earned))).all()


@given(n=st.integers(2, 5), rate=st.sampled_from(RATES[1:]), seed=st.integers(0, 2**32))
@settings(max_examples=25, deadline=None)
def test_no_simulated_schedule_beats_its_bound_under_any_rate_law(n, rate, seed):
    rng = np.random.default_rng(seed)
    thz = Thz(subbands=int(rng.integers(1, 4)), rate=rate)
    gains = random_gains(rng, thz, n)
    for kind in ("a2a", "allreduce", "p2p"):
        demand = demand_of(kind, n, rng)
        for name in method_names(kind):
            overlay = Overlay(thz, channel_of(gains), n)
            admit(overlay, 0, demand, n, find_method(kind, name), thz)
            end_s = max((r.end_ps for r in play_all(overlay)), default=0) * 1e-12
            if overlay.outstanding(0):
                continue  # some link reaches no step, and the fibre would take over
            bound = bound_s(kind, demand, np.arange(n), gains, thz, np.zeros(n), forwarding=True)
            assert bound <= end_s * (1 + 1e-9) + 1e-10


@given(
    n=st.integers(2, 6),
    subbands=st.integers(1, 4),
    late=st.booleans(),
    seed=st.integers(0, 2**32),
)
@settings(max_examples=40, deadline=None)
def test_no_feasible_schedule_beats_its_bound(n, subbands, late, seed):
    rng = np.random.default_rng(seed)
    thz = Thz(
        subbands=subbands,
        rf_chains=int(rng.integers(subbands, subbands + 2)),
        round_overhead_s=float(rng.choice([0, 1e-6])),
    )
    release_s = rng.random(n) * 1e-5 * late
    matrix = rng.integers(0, 4000, (n, n)) * (rng.random((n, n)) < 0.8)
    np.fill_diagonal(matrix, 0)
    trees = [random_parent(n, rng) for _ in range(subbands)]
    gains = flat(n, subbands)
    for plan in (transfers(matrix), tree_plan(trees, 9000), ring_plan(n, 8000)):
        schedule = play(plan, thz, release_s.tolist(), GAIN, rng, thz.round_overhead_s)
        bound = bound_s(plan.kind, plan.demand, plan.racks, gains, thz, release_s, tight=True)
        # Hand-made times are rounded to whole picoseconds, one rounding per transmission.
        rounding_ps = len(schedule.end_ps)
        assert bound <= (schedule.completion_ps + rounding_ps) * 1e-12 * (1 + 1e-9)


@given(n=st.integers(2, 7), subbands=st.integers(1, 4), seed=st.integers(0, 2**32))
@example(n=5, subbands=1, seed=0)  # where the checked multipliers once fell below one pair's need
@settings(max_examples=25, deadline=None)
def test_bounds_survive_gains_over_sixty_decibels(n, subbands, seed):
    rng = np.random.default_rng(seed)
    thz = Thz(subbands=subbands)
    level = rng.uniform(-130, -70, (n, n, subbands))
    gains = 10 ** ((level + level.transpose(1, 0, 2)) / 20)
    gains[range(n), range(n)] = 0
    matrix = rng.integers(1, MEGABYTE, (n, n))
    np.fill_diagonal(matrix, 0)
    bound = a2a_s(matrix, thz, gains)
    # The weakest single pair, alone in the air at all its subbands' full power, needs less.
    snr = thz.max_power_w * link_budget_per_w(thz) * gains
    rate = thz.subband_hz * np.log2(1 + snr).sum(axis=2)
    off = ~np.eye(n, dtype=bool)
    assert bound >= (8 * matrix[off] / rate[off]).max() * (1 - 1e-9)
    assert 0 < allreduce_s(MEGABYTE, n, thz, gains) < math.inf


def least_rounds(matrix, subbands, chains):
    """CP-SAT: fewest rounds that move every chunk (eq:a2a_matching over all rounds at once)."""
    cp_model = pytest.importorskip("ortools.sat.python.cp_model")
    n, flows = len(matrix), np.argwhere(matrix > 0)
    for rounds in range(1, int(matrix.sum()) + 1):
        model = cp_model.CpModel()
        sent = {
            (f, c, h): model.new_bool_var("")
            for f in range(len(flows))
            for c in range(subbands)
            for h in range(rounds)
        }
        for f, (i, j) in enumerate(flows):
            model.add(
                sum(sent[f, c, h] for c in range(subbands) for h in range(rounds)) == matrix[i, j]
            )
        for h in range(rounds):
            for v in range(n):
                mine = [f for f, pair in enumerate(flows) if v in pair]
                for c in range(subbands):
                    model.add(sum(sent[f, c, h] for f in mine) <= 1)
                model.add(sum(sent[f, c, h] for f in mine for c in range(subbands)) <= chains)
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        if solver.solve(model) in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return rounds
    raise AssertionError("one chunk per round always works")


SMALL = [
    (np.array([[0, 1], [1, 0]]), 1, 1, 2),
    (np.array([[0, 1], [1, 0]]), 2, 2, 1),
    (np.array([[0, 1], [1, 0]]), 2, 1, 2),
    (1 - np.eye(3, dtype=int), 1, 1, 6),
    (1 - np.eye(4, dtype=int), 2, 2, 3),
    (np.array([[0, 5, 0], [0, 0, 0], [0, 1, 0]]), 2, 2, 3),
]


@pytest.mark.parametrize(("matrix", "subbands", "chains", "rounds"), SMALL)
def test_the_oracle_knows_the_least_rounds_and_the_bound_stays_below(
    matrix, subbands, chains, rounds
):
    """``rounds`` is by hand: rounds - 1 would exceed what a rack or an odd set can do."""
    assert least_rounds(matrix, subbands, chains) == rounds
    thz = Thz(subbands=subbands, rf_chains=chains)
    # In the optimal rounds every chunk may have at most all of its sender's power.
    shortest_s = 8 * MEGABYTE / rate_bps(thz, thz.max_power_w)
    longest_s = 8 * MEGABYTE / rate_bps(thz, thz.max_power_w / subbands)
    bound = a2a_s(MEGABYTE * matrix, thz)
    assert bound <= rounds * longest_s * (1 + 1e-9)
    # And it is no idle bound: it cannot fall short of the fractional number of rounds.
    load = (matrix.sum(axis=0) + matrix.sum(axis=1)).max() / min(subbands, chains)
    assert bound >= load * shortest_s * (1 - 1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_matching_needs_few_more_rounds_than_the_oracle(seed):
    """Greedy and augmentation stay within 1.5 times the least rounds, plus one."""
    from thzsync.channel import ChannelModel
    from thzsync.execution.alone import run_collective
    from thzsync.streams import Streams
    from thzsync.synthesis import find_method
    from thzsync.topology import Topology

    rng = np.random.default_rng(seed)
    n, subbands = int(rng.integers(3, 6)), int(rng.integers(1, 4))
    matrix = rng.integers(0, 3, (n, n))
    np.fill_diagonal(matrix, 0)
    matrix[0, 1] = 1
    base = Scenario.preset("single-ring")
    scenario = base.model_copy(update={"thz": Thz(subbands=subbands)})
    topology = Topology(scenario.floor)
    channel = ChannelModel.build(scenario.channel, scenario.thz, topology, Streams(seed))
    demand = transfer_of(scenario.collectives.chunk_bytes * matrix)
    schedule = run_collective(
        demand,
        np.arange(n),
        find_method("a2a", "proposed"),
        scenario,
        topology,
        channel,
        np.zeros(n),
    )
    least = least_rounds(matrix, subbands, subbands)
    assert least <= schedule.rounds <= 1.5 * least + 1
    gains = channel.gain_matrix(np.arange(n), 0)
    bound = a2a_bound_s(demand, np.arange(n), gains, scenario.thz, np.zeros(n))
    assert bound <= schedule.completion_ps * 1e-12 * (1 + 1e-9)


@pytest.mark.parametrize("method", ["proposed", "ring", "ring-duplex", "single-tree"])
def test_no_allreduce_method_beats_the_bound(method):
    from thzsync.channel import ChannelModel
    from thzsync.execution.alone import run_collective
    from thzsync.streams import Streams
    from thzsync.synthesis import find_method
    from thzsync.topology import Topology

    scenario = Scenario.preset("single-ring")
    topology = Topology(scenario.floor)
    channel = ChannelModel.build(scenario.channel, scenario.thz, topology, Streams(1))
    racks, release_s = np.arange(6), np.array([0, 0.03, 0, 0, 0, 0])
    demand = Tensor(16 * MEGABYTE)
    schedule = run_collective(
        demand,
        racks,
        find_method("allreduce", method),
        scenario,
        topology,
        channel,
        release_s,
    )
    gains = channel.gain_matrix(racks, 0)
    bound = bound_s("allreduce", demand, racks, gains, scenario.thz, release_s)
    assert 0.03 < bound <= schedule.completion_ps * 1e-12


def test_one_link_that_the_solver_got_wrong_costs_only_its_own_demands():
    """Multipliers that overprice one of two demands still prove all that the other is worth."""
    thz = Thz(subbands=1)
    links = Links.of(flat(4, 1), thz, np.eye(4, k=1, dtype=bool) & (np.arange(4) % 2 == 0)[:, None])
    program = AirtimeProgram(links)
    everybody = np.ones(2, dtype=bool)
    program.limit_occupancy(everybody, np.zeros(4, dtype=np.int64), Span(0.0))
    bits = 8.0 * MEGABYTE
    for link in range(2):
        program.demand(np.arange(2) == link, bits)
    one_s = bits / rate_bps(thz, thz.max_power_w)
    price = np.array([0.5, 0.0, 0.5, 0.0])  # of the time of racks 0 and 2, the senders
    fair = price[[0, 2]] * one_s / bits
    assert program._prove(price, fair) == pytest.approx(one_s, rel=1e-6)
    assert program._prove(price, fair * [1.0, 100.0]) == pytest.approx(one_s, rel=1e-3)
    assert program._prove(price, fair * [1.0, 0.0]) == pytest.approx(one_s / 2, rel=1e-6)


@pytest.mark.parametrize("racks", [4, 9, 12])
@pytest.mark.parametrize("seed", range(2))
def test_a_bound_is_no_lower_than_that_of_a_part_of_its_demand(racks, seed):
    """It was half as high where a solver had left a gap in a link worth next to nothing."""
    instance = Instance(Scenario.preset("single-ring"), "p2p", racks, False, seed)
    gains, thz = instance.channel.gain_matrix(instance.members, 0), instance.scenario.thz
    columns = instance.demand.src, instance.demand.dst, instance.demand.size_bytes

    def bound(src, dst, size_bytes):
        part = Transfer.of(src, dst, size_bytes)
        return bound_s("p2p", part, instance.members, gains, thz, np.zeros(racks), guarded=False)

    lanes = [bound(*lane) for lane in zip(*columns, strict=True)]
    assert bound(*columns) >= max(lanes) * (1 - 1e-6)


def test_gaps_in_multipliers_are_mended_at_next_to_no_cost():
    thz = Thz(subbands=1)
    links = Links.of(flat(4, 1), thz, np.eye(4, k=1, dtype=bool) & (np.arange(4) % 2 == 0)[:, None])
    program = AirtimeProgram(links)
    program.limit_occupancy(np.ones(2, dtype=bool), np.zeros(4, dtype=np.int64), Span(0.0))
    bits, one_s = 8.0 * MEGABYTE, 8.0 * MEGABYTE / rate_bps(thz, thz.max_power_w)
    program.demand(np.ones(2, dtype=bool), bits)  # either link may carry it
    gap = np.array([1.0, 0.0, 0.0, 0.0])  # the second link costs nothing, and is worth a little
    worth = np.array([1e-7 * one_s / bits])
    assert program._prove(gap, worth) == 0.0
    mended = program._mended(gap, worth)
    assert mended == pytest.approx([1.0, 0.0, 1e-7, 0.0])
    assert program._prove(mended, worth) == pytest.approx(1e-7 * one_s, rel=1e-5)


@pytest.mark.parametrize(("kind", "late"), [("a2a", False), ("a2a", True), ("allreduce", True)])
def test_an_interior_point_proves_what_the_simplex_method_proves(kind, late, monkeypatch):
    instance = Instance(Scenario.preset("single-ring"), kind, 9, late, 0)
    simplex_ms = instance.bound_ms()
    monkeypatch.setattr(program_module, "_LARGEST_SIMPLEX", 0)
    assert instance.bound_ms() == pytest.approx(simplex_ms, rel=1e-8)  # thirty bisections


def test_a_program_that_is_too_large_is_refused_in_one_line(monkeypatch):
    monkeypatch.setattr(program_module, "_LARGEST_PROGRAM", 100)
    with pytest.raises(ThzSyncError, match="8 racks"):
        Instance(Scenario.preset("single-ring"), "a2a", 8, False, 0).bound_ms()
