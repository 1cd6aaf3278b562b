"""Random samples and encoders for the tests of training."""

from __future__ import annotations

import numpy as np

from thzsync.coordinator.encoder import Batch, Encoder, random_encoder
from thzsync.coordinator.features import columns

INPUTS = columns(4)


def random_batch(seed: int, samples: int = 3, slots: int = 5, senders: int = 3) -> Batch:
    """Samples without empty slots."""
    draw = np.random.default_rng(seed)
    rows = draw.normal(size=(samples, slots, INPUTS))
    return Batch(rows, draw.integers(senders, size=(samples, slots)))


def ragged_batch(seed: int, samples: int = 9, slots: int = 7) -> Batch:
    """Samples of 1 to ``slots`` flows of up to four senders; empty slots are zero."""
    draw = np.random.default_rng(seed)
    batch = random_batch(seed, samples, slots, senders=4)
    empty = np.arange(slots) >= draw.integers(1, slots + 1, samples)[:, None]
    batch.rows[empty] = 0.0
    batch.group[empty] = -1
    return batch


def encoder_of(seed: int) -> Encoder:
    """Few units, of numbers that no vector length divides."""
    return random_encoder(INPUTS, 7, 6, np.random.default_rng(seed))
