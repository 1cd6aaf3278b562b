from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.coordinator.samples import INPUTS, encoder_of, random_batch
from thzsync.coordinator.encoder import Batch, represent
from thzsync.coordinator.features import ACTION_COLUMNS, group_flows
from thzsync.coordinator.training import encode


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
def test_an_event_is_represented_as_its_sample_is_encoded(seed: int) -> None:
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
