"""Training in compiled kernels, against PyTorch and against finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.coordinator.samples import encoder_of, ragged_batch, random_batch
from tests.reference import torch_encoder
from thzsync.arrays import FloatArray
from thzsync.coordinator import dense, training
from thzsync.coordinator import encoder as encoder_module
from thzsync.coordinator.dense import Descent
from thzsync.coordinator.encoder import Batch, Encoder
from thzsync.coordinator.training import encode, fit, gradient, scratch_for, unpacked

SEEDS = st.integers(0, 10**6)
HOW = Descent(0.01, 0.1)


def packed(encoder: Encoder, head: FloatArray) -> FloatArray:
    return np.concatenate([w.ravel() for w in (*encoder, head)])


def problem(seed: int) -> tuple[Encoder, FloatArray, Batch, FloatArray]:
    """Encoder, head, samples and what they should come to."""
    draw, encoder, batch = np.random.default_rng(seed), encoder_of(seed), ragged_batch(seed)
    return encoder, draw.normal(size=encoder.size), batch, draw.normal(size=len(batch.group))


def loss_and_slope(
    flat: FloatArray, like: Encoder, batch: Batch, target: FloatArray
) -> tuple[float, FloatArray]:
    encoder, head = unpacked(flat, like)
    slopes = unpacked(np.zeros_like(packed(encoder, head)), encoder)
    everything, scratch = np.arange(len(target)), scratch_for(encoder, batch, len(target))
    loss = gradient(encoder, head, batch, everything, target, slopes, scratch)
    return loss, packed(*slopes)


@given(seed=SEEDS)
def test_samples_are_encoded_as_torch_does(seed: int) -> None:
    encoder, _, batch, _ = problem(seed)
    expected = torch_encoder.encode(encoder, batch)
    np.testing.assert_allclose(encode(encoder, batch), expected, atol=1e-12)


@given(seed=SEEDS)
def test_loss_and_gradients_are_those_of_torch(seed: int) -> None:
    encoder, head, batch, target = problem(seed)
    loss, slope = loss_and_slope(packed(encoder, head), encoder, batch, target)
    expected, slopes = torch_encoder.gradients(encoder, head, batch, target)
    assert loss == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(slope, np.concatenate([g.ravel() for g in slopes]), atol=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_the_gradient_is_the_slope_of_the_loss(seed: int) -> None:
    encoder, head, batch, target = problem(seed)
    flat = packed(encoder, head)
    _, slope = loss_and_slope(flat, encoder, batch, target)
    measured = np.zeros_like(flat)
    step = 1e-6
    for p in range(len(flat)):
        ends = []
        for sign in (-step, step):
            moved = flat.copy()
            moved[p] += sign
            ends.append(loss_and_slope(moved, encoder, batch, target)[0])
        measured[p] = (ends[1] - ends[0]) / (2 * step)
    np.testing.assert_allclose(slope, measured, atol=1e-6)


@given(seed=SEEDS)
def test_twenty_steps_end_where_torch_ends(seed: int) -> None:
    encoder, head, batch, target = problem(seed)
    draws = np.random.default_rng(seed).integers(len(target), size=(20, 6))
    found = fit(encoder, head, batch, draws, target[draws], HOW)
    expected = torch_encoder.fit(encoder, head, batch, draws, target[draws], HOW)
    # Adam divides by the size of a slope: where that is next to nothing, rounding shows.
    np.testing.assert_allclose(packed(*found), packed(*expected), atol=1e-6)


def test_the_uncompiled_kernels_train_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder, head, batch, target = problem(4)
    draws = np.random.default_rng(4).integers(len(target), size=(3, 5))
    compiled = fit(encoder, head, batch, draws, target[draws], HOW)
    for module in (dense, encoder_module, training):
        for name, function in list(vars(module).items()):
            if hasattr(function, "py_func"):
                monkeypatch.setattr(module, name, function.py_func)
    uncompiled = training.fit(encoder, head, batch, draws, target[draws], HOW)
    np.testing.assert_allclose(packed(*compiled), packed(*uncompiled), atol=1e-12)


def test_training_brings_the_squared_error_down() -> None:
    batch, encoder = random_batch(5, samples=40), encoder_of(5)
    target = batch.rows[:, :, -1].mean(axis=1)
    everything = np.tile(np.arange(40), (300, 1))
    head = np.zeros(encoder.size)
    trained, fitted = fit(encoder, head, batch, everything, target[everything], Descent(0.01, 0.0))
    error = np.mean((encode(trained, batch) @ fitted - target) ** 2)
    assert error < 0.05 * np.mean(target**2)


def test_training_is_repeatable_and_leaves_its_surroundings_alone() -> None:
    encoder, head, batch, target = problem(5)
    draws = np.random.default_rng(5).integers(len(target), size=(5, 8))
    given = [w.copy() for w in (*encoder, head, *batch)]
    first = fit(encoder, head, batch, draws, target[draws], HOW)
    second = fit(encoder, head, batch, draws, target[draws], HOW)
    np.testing.assert_array_equal(packed(*first), packed(*second))
    for a, b in zip((*encoder, head, *batch), given, strict=True):
        np.testing.assert_array_equal(a, b)


def test_weights_decay_by_their_share_where_the_loss_is_flat() -> None:
    weights, nothing = np.arange(-3.0, 5.0), np.zeros(8)
    dense.descend(weights, nothing, nothing.copy(), nothing.copy(), 1, Descent(0.5, 0.2))
    np.testing.assert_allclose(weights, 0.9 * np.arange(-3.0, 5.0))


def test_layers_of_plain_vectors_learn_with_the_same_kernels() -> None:
    """Two layers on one vector, as a flat encoder has them: slopes against finite differences."""
    draw = np.random.default_rng(6)
    x, first, second = (
        draw.normal(size=(5, 9)),
        draw.normal(size=(9, 16)),
        draw.normal(size=(16, 8)),
    )
    bias = draw.normal(size=16), draw.normal(size=8)

    def outputs(weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        middle, top = np.zeros((5, 16)), np.zeros((5, 8))
        dense.rectified(x, weights, bias[0], middle)
        dense.rectified(middle, second, bias[1], top)
        return middle, top

    middle, top = outputs(first)
    slope, below = np.ones((5, 8)), np.zeros((5, 16))
    dense.close_silent(top, slope)
    dense.pass_back(slope, np.ascontiguousarray(second.T), below)
    dense.close_silent(middle, below)
    found, ignored = np.zeros_like(first), np.zeros(16)
    dense.add_slopes(x, below, found, ignored)
    for c, k in np.ndindex(first.shape):
        moved = [first.copy(), first.copy()]
        moved[0][c, k] -= 1e-6
        moved[1][c, k] += 1e-6
        low, high = (outputs(weights)[1].sum() for weights in moved)
        assert found[c, k] == pytest.approx((high - low) / 2e-6, abs=1e-6)
