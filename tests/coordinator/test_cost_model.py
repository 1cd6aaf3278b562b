"""Estimated costs are bytes over rates; factors converge on what outcomes measure."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from thzsync.collectives import Tensor, Transfer
from thzsync.coordinator import Action, Outcome, Situation, Terms
from thzsync.coordinator.estimate import _fill, estimate
from thzsync.coordinator.features import featurise
from thzsync.coordinator.model_based import EVEN, PROMISING, CostModel, Factor, ModelBasedBandits
from thzsync.coordinator.registry import make_policy
from thzsync.coordinator.saved import load_policy, save_policy
from thzsync.network import network_of
from thzsync.scenario import Scenario
from thzsync.simulation import Session, simulate
from thzsync.streams import Streams
from thzsync.synthesis import Setting, find_method

MIB = 2**20
PAPER = Scenario.preset("paper").with_({"optical.background.load": 0.0})
SNR_DB_PER_W = 40.0


def situation(kind: str, method: str, demand: Transfer | Tensor, racks: np.ndarray) -> Situation:
    thz = PAPER.thz
    offer = find_method(kind, method).offer(
        demand, racks, PAPER.collectives.chunk_bytes, Setting.flat(len(racks), thz)
    )
    return Situation(
        decision=0,
        offer=offer,
        racks=32,
        straggler=np.zeros(offer.units, dtype=np.bool_),
        queued_bytes=np.zeros(offer.units),
        shared_occupancy=np.zeros(offer.units),
        snr_db_per_w=np.full((offer.units, thz.subbands), SNR_DB_PER_W),
        power_levels=np.array([0.5, 1.0]),
        terms=Terms(PAPER, network_of(PAPER), 10.0, 2.0),
    )


def lanes() -> Situation:
    """Eight lanes of 16 MiB from ring 0 to ring 1."""
    demand = Transfer.of(np.arange(8), np.arange(8, 16), np.full(8, 16 * MIB))
    return situation("p2p", "striped", demand, np.arange(16))


def test_estimates_and_features_follow_the_rate_law() -> None:
    modes = PAPER.with_({"thz.rate": {"kind": "802.15.3d", "sndr_db": 18}})
    usual = lanes()
    assert usual.terms is not None
    other = replace(usual, terms=replace(usual.terms, scenario=modes))
    snr = 10 ** (SNR_DB_PER_W / 10) * 0.1 / 4
    effective_db = 10 * np.log10(1 / (1 / snr + 10**-1.8))
    steps = [s.efficiency for s in modes.thz.rate.steps() if s.snr_db <= effective_db]
    ratio = np.log2(1 + snr) / max(steps)
    assert ratio > 1
    assert estimate(other).air_s[1] == pytest.approx(estimate(usual).air_s[1] * ratio)
    assert (featurise(other).air >= featurise(usual).air).all()
    assert (featurise(other).rows == featurise(usual).rows).all()


def test_estimates_on_steps_radiate_no_more_than_a_step_needs() -> None:
    keys = {"thz.rate": {"kind": "802.15.3d", "sndr_db": 18}}
    usual = lanes()
    assert usual.terms is not None
    found = {}
    for radiation in ("needed", "budget"):
        modes = PAPER.with_({**keys, "thz.radiation": radiation})
        found[radiation] = estimate(replace(usual, terms=replace(usual.terms, scenario=modes)))
    # the same step at every level: 16.02 dB of SNR_eff are 20.4 dB under an SNDR of 18 dB
    needed_w = 1 / (10**-1.602 - 10**-1.8) / 10 ** (SNR_DB_PER_W / 10)
    level_w = np.array([0.05, 0.1]) / 4
    ratio = found["needed"].air_j / found["budget"].air_j
    assert ratio == pytest.approx(np.broadcast_to((needed_w / level_w)[:, None], ratio.shape))


def test_lanes_share_the_fibre_between_rings_and_nothing_on_thz() -> None:
    estimated = estimate(lanes())
    counts = np.stack((np.zeros(8), estimated.chunks)).astype(np.int64)
    _, _, fibre_s, air_s, energy_j = estimated.candidate(counts, np.array([1, 1]))
    bits = 16 * MIB * 8.0
    assert fibre_s.tolist() == pytest.approx([8 * bits / 100e9, 0.0])
    per_hz = np.log2(1 + 10 ** (SNR_DB_PER_W / 10) * 0.1 / 4)
    alone_s = bits / (4 * PAPER.thz.subband_hz * per_hz)
    assert air_s.tolist() == pytest.approx([0.0, alone_s])
    assert energy_j.tolist() == pytest.approx([8 * bits * 3 * 40e-12, 8 * alone_s * 0.1])


def test_a_tensor_is_estimated_by_its_structure_on_each_fabric() -> None:
    """A ring on fibre, and on THz a cycle that sends on half the subbands."""
    tensor = situation("allreduce", "streamed-and-ring", Tensor(64 * MIB), np.arange(8))
    estimated = estimate(tensor)
    bits = 2 * 7 / 8 * 64 * MIB * 8.0
    assert estimated.fibre_s.max() == pytest.approx(bits / 100e9)
    per_hz = np.log2(1 + 10 ** (SNR_DB_PER_W / 10) * 0.1 / 2)
    assert estimated.air_s[1].max() == pytest.approx(bits / (2 * PAPER.thz.subband_hz * per_hz))


def test_candidates_reach_from_nothing_to_everything_and_keep_to_their_budgets() -> None:
    estimated = estimate(lanes())
    tried = estimated.candidates(9)
    assert tried.counts[0].sum() == 0
    assert (tried.counts[-1] == estimated.chunks).all()
    assert len(tried.counts) == 1 + 2 * 8
    assert (np.diff(tried.air_s[1:9]) >= 0).all()


def test_budgets_go_to_the_quickest_units_first() -> None:
    air_s = np.array([[2.0, 2.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    order = np.array([1, 2, 0])
    share = _fill(air_s, order, np.array([0.5, 1.0, 3.0]))
    assert share.tolist() == [[0.0, 0.5, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 1.0]]
    np.testing.assert_array_equal(
        share,
        _fill.py_func(air_s, order, np.array([0.5, 1.0, 3.0])),  # type: ignore[attr-defined]
    )


def test_factors_learn_from_punctual_events_only() -> None:
    event, model = lanes(), CostModel(9)
    action = Action.uniform(event.offer, 0.5, 1.0)
    taken = model.only(event, action)
    outcome = Outcome(0, 0.1, 1.0, -1.0, 2 * float(taken.fibre_s[0]), 3 * float(taken.air_s[0]))
    late = replace(event, straggler=np.ones(event.units, dtype=np.bool_))
    model.learn(late, taken, outcome)
    assert model.rewards(event, taken)[0] == pytest.approx(
        -(10.0 * max(taken.fibre_s[0], taken.air_s[0]) + 2.0 * taken.energy_j[0])
    )
    model.learn(event, taken, outcome)
    factors = model.factors["p2p"]
    assert (factors.fibre.value, factors.air.value) == pytest.approx((2.0, 3.0))
    again = CostModel(9)
    again.load(model.state())
    assert again.factors == model.factors


def test_even_splits_stand_beside_those_that_fill_the_best_units_first() -> None:
    estimated = estimate(lanes())
    tried = estimated.candidates(9, even_too=True)
    even = tried.even(estimated.chunks)
    assert len(tried.counts) == 1 + 2 * (8 + 16)
    shares = np.unique(tried.counts[even] / estimated.chunks, axis=0)
    assert (shares == shares[:, :1]).all()  # 32 chunks divide into sixteenths
    assert len(shares) == 17
    filled = np.array([[32, 32, 32, 32, 0, 0, 0, 0]])
    assert not estimated.candidate(filled, np.array([1])).even(estimated.chunks)[0]


def test_each_shape_learns_from_its_own_outcomes() -> None:
    event, model = lanes(), CostModel(9, even_too=True)
    even = model.only(event, Action.uniform(event.offer, 0.5, 1.0))
    half = np.repeat([32, 0], 4)
    uneven = model.only(event, Action.of(event.offer, half, np.ones(16)))
    for taken, factor in ((even, 2.0), (uneven, 5.0)):
        measured = factor * float(taken.fibre_s[0]), factor * float(taken.air_s[0])
        model.learn(event, taken, Outcome(0, 0.1, 1.0, -1.0, *measured))
    values = {name: factors.air.value for name, factors in model.factors.items()}
    assert values == pytest.approx({"p2p, even": 2.0, "p2p": 5.0})
    for taken, factor in ((even, 2.0), (uneven, 5.0)):
        time_s = factor * max(taken.fibre_s[0], taken.air_s[0])
        earned = -(10.0 * time_s + 2.0 * taken.energy_j[0])
        assert model.rewards(event, taken)[0] == pytest.approx(earned)


def test_a_cost_model_of_two_shapes_hands_on_the_most_promising() -> None:
    event = lanes()
    tried = CostModel(17, even_too=True).candidates(event)
    assert tried is not None
    everything = estimate(event).candidates(17, even_too=True)
    earned = np.sort(CostModel(17, even_too=True).rewards(event, everything))[::-1]
    assert len(tried.counts) == PROMISING
    np.testing.assert_allclose(
        CostModel(17, even_too=True).rewards(event, tried), earned[:PROMISING]
    )


def test_a_fabric_that_carried_nothing_says_nothing() -> None:
    factor = Factor()
    factor.learn(0.0, 1.0)
    factor.learn(1.0, 0.0)
    assert factor == Factor()


def test_outcomes_tell_when_each_fabric_was_done() -> None:
    session = Session("tiny", 0, 1, {})
    for asked in session:
        session.send(Action.uniform(asked.offer, 0.5, 1.0))
    told = [outcome for outcome in session.outcomes() if outcome.completion_s > 0]
    assert told
    for outcome in told:
        assert max(outcome.fibre_s, outcome.air_s) == pytest.approx(outcome.completion_s)


def test_a_model_based_policy_of_two_shapes_keeps_what_it_has_learnt(tmp_path: Path) -> None:
    keys = {"coordinator.search": "model-based-even", "coordinator.bandit.warm_up": 0}
    scenario = Scenario.preset("tiny").with_(keys)
    policy = make_policy("thz-sync", scenario, Streams(0))
    assert isinstance(policy, ModelBasedBandits)
    simulate(scenario, policy, 1, 0)
    assert any(name.endswith(EVEN) for name in policy.cost_model.factors)
    save_policy(policy, tmp_path / "learnt.safetensors", scenario)
    again = load_policy(tmp_path / "learnt.safetensors", scenario, Streams(0))
    assert isinstance(again, ModelBasedBandits)
    assert again.cost_model.factors == policy.cost_model.factors
