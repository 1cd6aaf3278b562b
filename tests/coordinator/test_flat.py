"""A faithful implementation of the paper's encoder and search."""

from __future__ import annotations

from itertools import product
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tests.coordinator.environment import KINDS, LEVELS, SUBBANDS, ToyFloor
from thzsync.arrays import FloatArray
from thzsync.coordinator import Action, Situation, make_policy
from thzsync.coordinator.beam import Head
from thzsync.coordinator.dense import Descent
from thzsync.coordinator.encoder import Batch, Encoder, grown, random_flat_encoder, represent
from thzsync.coordinator.features import Features, alone, group_flows
from thzsync.coordinator.learning import Flat
from thzsync.coordinator.posterior import LinearHead
from thzsync.coordinator.search import Search, search
from thzsync.coordinator.training import encode, fit, gradient, scratch_for, unpacked
from thzsync.scenario import Scenario
from thzsync.streams import Streams

TWO = np.array([0.5, 1.0])
VIEW = Flat(2)


def random_event(seed: int) -> tuple[Encoder, Head, Features]:
    """A random encoder and head, and three flows of two senders with up to three chunks."""
    draw = np.random.default_rng(seed)
    encoder = grown(random_flat_encoder(7, 5, draw), VIEW.columns, 4, draw)
    posterior = LinearHead(encoder.size, 0.5)
    for phi in draw.uniform(0, 2, (8, encoder.size)):
        posterior.update(phi, float(draw.normal()))
    head = Head(posterior.weights, posterior.inverse_factor, 0.3)
    rows = draw.normal(0.0, 0.5, (3, VIEW.columns - 2))
    group, counts = np.array([0, 1, draw.integers(2)]), draw.integers(1, 4, 3)
    return encoder, head, group_flows(rows, group, counts, TWO)


def found(features: Features, counts: Any, level: Any, levels: FloatArray = TWO) -> FloatArray:
    return VIEW.found(alone(features), counts[None], level[None], levels)[0]


def value(encoder: Encoder, head: Head, features: Features, counts: Any, level: Any) -> float:
    taken = found(features, np.array(counts), np.array(level))
    phi = represent(encoder, features, taken)
    width = np.linalg.norm(phi @ head.inverse_factor)
    return float(phi @ head.weights + head.exploration * width)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("partial", [True, False])
def test_a_wide_beam_finds_the_best_of_all_actions(seed: int, partial: bool) -> None:
    encoder, head, features = random_event(seed)
    how = Search(4, 600, 0.0, partial)
    counts, level, score = search(encoder, head, features, TWO, how)
    every = product(*(range(n + 1) for n in features.chunks), range(2), range(2))
    best = max(value(encoder, head, features, a[:3], a[3:]) for a in every)
    assert score == pytest.approx(best, abs=1e-9)
    assert value(encoder, head, features, counts, level) == pytest.approx(score, abs=1e-9)


def test_a_narrow_search_keeps_the_best_partial_action_at_every_step() -> None:
    encoder, head, features = random_event(3)
    counts, _, _ = search(encoder, head, features, TWO, Search(4, 1, 0.0, True))
    open_level = np.full(2, -1)
    built = np.zeros(3, dtype=np.int64)
    for flow in range(3):

        def score(count: int, flow: int = flow) -> float:
            tried = built.copy()
            tried[flow] = count
            taken = found(features, tried, open_level)
            taken[:, 1] = 0.0  # no level is chosen yet
            phi = represent(encoder, features, taken)
            return float(
                phi @ head.weights + head.exploration * np.linalg.norm(phi @ head.inverse_factor)
            )

        built[flow] = max(range(int(features.chunks[flow]) + 1), key=score)
    assert counts.tolist() == built.tolist()


@pytest.mark.parametrize("partial", [True, False])
def test_the_uncompiled_kernel_decides_the_same(
    partial: bool, uncompiled_search: ModuleType
) -> None:
    for seed in range(4):
        event, how = random_event(seed), Search(4, 3, 0.01, partial)
        compiled, uncompiled = search(*event, TWO, how), uncompiled_search.search(*event, TWO, how)
        for one, other in zip(compiled, uncompiled, strict=True):
            assert one == pytest.approx(other, abs=1e-12)


def memory(draw: np.random.Generator, samples: int = 6) -> Batch:
    rows = draw.normal(0, 0.5, (samples, 4, VIEW.columns))
    rows[0, 2:] = 0.0
    return Batch(rows, np.zeros((samples, 4), dtype=np.int64))


def test_the_gradient_is_that_of_finite_differences() -> None:
    draw = np.random.default_rng(1)
    encoder = grown(random_flat_encoder(7, 5, draw), VIEW.columns, 4, draw)
    head, batch, target = draw.normal(size=encoder.size), memory(draw), draw.normal(size=6)
    drawn = np.arange(6)
    flat = np.concatenate([w.ravel() for w in (*encoder, head)])

    def loss(at: FloatArray, slope: FloatArray) -> float:
        network, top = unpacked(at, encoder)
        scratch = scratch_for(network, batch, 6)
        slopes = unpacked(slope, encoder)
        return float(gradient(network, top, batch, drawn, target, slopes, scratch))

    slope = np.zeros_like(flat)
    loss(flat, slope)
    for place in draw.choice(len(flat), 60, replace=False):
        shifted = [flat.copy(), flat.copy()]
        shifted[0][place] += 1e-6
        shifted[1][place] -= 1e-6
        up, down = (loss(x, np.zeros_like(flat)) for x in shifted)
        assert slope[place] == pytest.approx((up - down) / 2e-6, abs=1e-5)


def test_training_lowers_the_error_and_one_event_is_encoded_like_many() -> None:
    draw = np.random.default_rng(2)
    encoder = grown(random_flat_encoder(16, 8, draw), VIEW.columns, 4, draw)
    batch, target = memory(draw, 70), draw.normal(size=70)
    draws = draw.integers(70, size=(200, 32))
    how = Descent(0.01, 0.0)
    trained, head = fit(encoder, np.zeros(encoder.size), batch, draws, target[draws], how)
    missed = encode(trained, batch) @ head - target
    assert np.mean(missed**2) < 0.5 * np.var(target)
    rows = batch.rows[69]
    features = group_flows(rows[:, :-2], np.arange(4), np.ones(4, dtype=np.int64), TWO)
    alone = represent(trained, features, rows[:, -2:])
    assert alone == pytest.approx(encode(trained, batch)[69])


def test_a_wider_event_adds_slots_and_changes_nothing_that_was_learnt() -> None:
    draw = np.random.default_rng(4)
    small = grown(random_flat_encoder(7, 5, draw), 11, 2, draw)
    large = grown(small, 11, 5, draw)
    assert large.flow.shape == (55, 7)
    assert np.array_equal(large.flow[:22], small.flow)
    assert grown(large, 11, 3, draw) is large


def faithful() -> Scenario:
    keys = {"encoder": "flat", "search": "partial", "reward": "raw", "gains": "by-subband"}
    return Scenario.paper().with_({f"coordinator.{k}": v for k, v in keys.items()})


def test_the_vector_holds_shares_by_flow_and_powers_by_sender() -> None:
    situation = ToyFloor(0).context(0, "p2p")
    view = Flat(SUBBANDS)
    features = view.featurise(situation)
    assert (features.rows[:, 6] == 1).all()
    action = Action.uniform(situation.offer, 0.5, 0.75)
    taken = view.taken(situation, action)
    assert taken[:, 0] == pytest.approx(0.5)
    assert taken[:, 1] == pytest.approx(0.75)
    counts = np.where(np.arange(situation.units) == 1, 4, 0)
    level = np.full(features.senders, 2)
    alone = found(features, counts, level, LEVELS)
    assert np.flatnonzero(alone[:, 1]).tolist() == [int(features.group[1])]
    same = Action.of(situation.offer, counts, LEVELS[level][situation.offer.rack_group])
    assert view.taken(situation, same) == pytest.approx(alone)


@pytest.mark.parametrize("name", ["thz-sync", "shared-bandit", "ddqn"])
def test_a_faithful_learner_decides_learns_and_is_saved(name: str, tmp_path: Any) -> None:
    from thzsync.coordinator.saved import load_policy, save_policy

    policy: Any = make_policy(name, faithful(), Streams(0))
    floor = ToyFloor(1)
    situations: list[Situation] = []
    for event in range(12):
        for kind in KINDS:
            situation = floor.context(event, kind)
            action = policy.decide(situation)
            action.check(situation)
            policy.learn(situation, action, floor.outcome(event, situation, action))
            situations.append(situation)
    save_policy(policy, tmp_path / "policy", faithful())
    again = load_policy(tmp_path / "policy", faithful(), Streams(0))
    policy.frozen = again.frozen = True
    for situation in situations[-3:]:
        one, other = policy.decide(situation), again.decide(situation)
        assert one.thz_chunks.tolist() == other.thz_chunks.tolist()
