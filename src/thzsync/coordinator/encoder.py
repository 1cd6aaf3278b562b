"""The encoder phi_theta (eq:bandit_representation): weights, batches, and phi of one event.

All flow slots share their first-layer weights. Their hidden units are pooled twice: the mean over
flows (how much work there is) and the largest mean over one sender's flows (how bad the worst
sender fares, which is what a completion time follows). A dense layer and a constant make phi.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.coordinator.features import Features
from thzsync.jit import kernel


class Encoder(NamedTuple):
    """Weights, laid out so that a row is what one input adds to all units."""

    flow: FloatArray
    """(inputs, flow units); the last rows belong to the action columns."""
    flow_bias: FloatArray
    dense: FloatArray
    """(2 x flow units, units): mean-pooled units first, then the largest sender's."""
    dense_bias: FloatArray

    @property
    def size(self) -> int:
        """Length of phi: the dense units and a constant."""
        return len(self.dense_bias) + 1


class Batch(NamedTuple):
    """Padded and masked samples (eq:bandit_flow_context beside eq:bandit_action_vector)."""

    rows: FloatArray
    """(samples, slots, inputs), zero in empty slots."""
    group: IntArray
    """(samples, slots): sender of every flow; -1 marks an empty slot, behind all flows."""


def random_encoder(
    inputs: int, flow_units: int, units: int, generator: np.random.Generator
) -> Encoder:
    """Scaled for rectifiers, with spread-out kinks: useful random features before any training."""
    flow = generator.normal(0.0, np.sqrt(2 / inputs), (inputs, flow_units))
    dense = generator.normal(0.0, np.sqrt(1 / flow_units), (2 * flow_units, units))
    return Encoder(
        flow,
        generator.uniform(-0.5, 0.5, flow_units),
        dense,
        generator.uniform(-0.5, 0.5, units),
    )


@kernel
def represent(encoder: Encoder, features: Features, action: FloatArray) -> FloatArray:
    """phi of one event and action; ``action`` holds the action columns of every flow."""
    flows, contexts = features.rows.shape
    hidden = len(encoder.flow_bias)
    pooled = np.zeros(2 * hidden)
    for g in range(len(features.start) - 1):
        total = np.zeros(hidden)
        for m in range(features.start[g], features.start[g + 1]):
            f = features.members[m]
            unit = encoder.flow_bias.copy()
            for c in range(contexts):
                for k in range(hidden):
                    unit[k] += features.rows[f, c] * encoder.flow[c, k]
            for k in range(hidden):
                for c in range(action.shape[1]):
                    unit[k] += action[f, c] * encoder.flow[contexts + c, k]
                total[k] += max(unit[k], 0.0)
        members = features.start[g + 1] - features.start[g]
        for k in range(hidden):
            pooled[k] += total[k] / flows
            pooled[hidden + k] = max(pooled[hidden + k], total[k] / members)
    phi = np.ones(len(encoder.dense_bias) + 1)
    for j in range(len(encoder.dense_bias)):
        value = encoder.dense_bias[j]
        for k in range(len(pooled)):
            value += pooled[k] * encoder.dense[k, j]
        phi[j] = max(value, 0.0)
    return phi
