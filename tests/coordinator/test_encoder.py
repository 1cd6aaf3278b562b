from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from thzsync.arrays import FloatArray
from thzsync.coordinator.encoder import (
    Batch,
    Encoder,
    encode,
    fit,
    one_thread,
    random_encoder,
    represent,
)
from thzsync.coordinator.features import ACTION_COLUMNS, columns, group_flows

INPUTS = columns(4)


def random_batch(seed: int, samples: int = 3, slots: int = 5, senders: int = 3) -> Batch:
    draw = np.random.default_rng(seed)
    rows = draw.normal(size=(samples, slots, INPUTS))
    return Batch(rows, draw.integers(senders, size=(samples, slots)))


def encoder_of(seed: int) -> Encoder:
    return random_encoder(INPUTS, 7, 6, np.random.default_rng(seed))


@given(seed=st.integers(0, 10**6), extra=st.integers(1, 6))
def test_padding_slots_change_nothing(seed: int, extra: int) -> None:
    batch = random_batch(seed)
    samples = len(batch.group)
    wide = Batch(
        np.concatenate((batch.rows, np.zeros((samples, extra, INPUTS))), axis=1),
        np.concatenate((batch.group, np.full((samples, extra), -1)), axis=1),
    )
    encoder = encoder_of(seed)
    np.testing.assert_allclose(encode(encoder, wide), encode(encoder, batch), atol=1e-12)


@given(seed=st.integers(0, 10**6))
def test_the_order_of_flows_does_not_matter(seed: int) -> None:
    batch = random_batch(seed)
    order = np.random.default_rng(seed).permutation(batch.group.shape[1])
    shuffled = Batch(batch.rows[:, order], batch.group[:, order])
    encoder = encoder_of(seed)
    np.testing.assert_allclose(encode(encoder, shuffled), encode(encoder, batch), atol=1e-12)


@given(seed=st.integers(0, 10**6))
def test_the_kernel_represents_an_event_as_torch_does(seed: int) -> None:
    batch = random_batch(seed, samples=1, slots=6, senders=3)
    group = np.unique(batch.group[0], return_inverse=True)[1]
    context, action = batch.rows[0, :, :-ACTION_COLUMNS], batch.rows[0, :, -ACTION_COLUMNS:]
    features = group_flows(context.copy(), group, np.ones(6, dtype=np.int64), np.ones(1))
    encoder = encoder_of(seed)
    expected = encode(encoder, batch)[0]
    np.testing.assert_allclose(represent(encoder, features, action.copy()), expected, atol=1e-9)


def test_phi_ends_with_a_constant_and_is_never_negative() -> None:
    phi = encode(encoder_of(0), random_batch(0))
    assert phi.shape == (3, encoder_of(0).size)
    assert (phi[:, -1] == 1.0).all()
    assert (phi >= 0.0).all()


def fixed_batches(
    batch: Batch, target: FloatArray, steps: int
) -> Iterator[tuple[Batch, FloatArray]]:
    for _ in range(steps):
        yield batch, target


def test_training_brings_the_squared_error_down() -> None:
    batch, encoder = random_batch(5, samples=40), encoder_of(5)
    target = batch.rows[:, :, -1].mean(axis=1)
    head = np.zeros(encoder.size)
    trained, fitted = fit(encoder, head, fixed_batches(batch, target, 300), 0.01, 0.0)
    error = np.mean((encode(trained, batch) @ fitted - target) ** 2)
    assert error < 0.05 * np.mean(target**2)


def test_training_is_repeatable_and_leaves_its_surroundings_alone() -> None:
    batch, encoder = random_batch(5, samples=20), encoder_of(5)
    target, head = np.arange(20.0) / 20, np.zeros(encoder.size)
    before, rng = [w.copy() for w in encoder], torch.get_rng_state()
    first = fit(encoder, head, fixed_batches(batch, target, 5), 0.01, 1e-4)
    second = fit(encoder, head, fixed_batches(batch, target, 5), 0.01, 1e-4)
    for a, b in zip((*first[0], first[1]), (*second[0], second[1]), strict=True):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(encoder, before, strict=True):
        np.testing.assert_array_equal(a, b)
    assert torch.equal(torch.get_rng_state(), rng)
    assert not head.any()


def fail_on_one_thread() -> None:
    with one_thread():
        assert torch.get_num_threads() == 1
        raise RuntimeError("inside")


def test_the_number_of_torch_threads_is_put_back_even_after_an_error() -> None:
    before = torch.get_num_threads()
    with pytest.raises(RuntimeError, match="inside"):
        fail_on_one_thread()
    assert torch.get_num_threads() == before
