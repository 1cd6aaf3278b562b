"""The encoder phi_theta (eq:bandit_representation): weights, batches, and phi of one event.

Pooled (ours): all flow slots share their first-layer weights. Their hidden units are pooled twice:
by the mean over flows, which measures the amount of work, and by the largest mean over one sender's
flows, which a completion time follows. A dense layer and a constant make phi.

Flat (the paper's): one padded, masked vector of all flows and the whole action. Slot f contains
flow f's context (eq:bandit_flow_context), a mask, its THz share and, so that one layout serves all
events, the power of sender f (eq:bandit_action_vector); the rest is zero. The first layer has a row
of weights per entry of the vector, so it grows with the widest event so far.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.coordinator.features import FLAT_ACTION_COLUMNS, Features
from thzsync.jit import bare, inner, kernel


class Encoder(NamedTuple):
    """Weights; a row is what one input adds to all units."""

    flow: FloatArray
    """First layer (inputs, hidden units); the last rows of a slot belong to the action columns."""
    flow_bias: FloatArray
    dense: FloatArray
    """Second layer. Pooled: (2 x hidden units, units), mean-pooled units first, then the largest
    sender's. Flat: (hidden units, units)."""
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


@bare
def is_flat(encoder: Encoder) -> bool:
    """Whether the second layer reads the hidden units directly instead of pooled ones."""
    return len(encoder.dense) == len(encoder.flow_bias)


@bare
def filled(group: IntArray) -> int:
    """Number of slots before the first empty one."""
    for f in range(len(group)):
        if group[f] < 0:
            return f
    return len(group)


def random_encoder(
    inputs: int, flow_units: int, units: int, generator: np.random.Generator
) -> Encoder:
    """Scaled for rectifiers with spread-out kinks: useful random features before any training."""
    flow = generator.normal(0.0, np.sqrt(2 / inputs), (inputs, flow_units))
    dense = generator.normal(0.0, np.sqrt(1 / flow_units), (2 * flow_units, units))
    flow_bias = generator.uniform(-0.5, 0.5, flow_units)
    return Encoder(flow, flow_bias, dense, generator.uniform(-0.5, 0.5, units))


def random_flat_encoder(first: int, units: int, generator: np.random.Generator) -> Encoder:
    """A flat encoder without slots; the second layer is scaled for rectifiers."""
    flow_bias = generator.uniform(-0.5, 0.5, first)
    dense = generator.normal(0.0, np.sqrt(2 / first), (first, units))
    return Encoder(np.zeros((0, first)), flow_bias, dense, generator.uniform(-0.5, 0.5, units))


def grown(encoder: Encoder, columns: int, slots: int, generator: np.random.Generator) -> Encoder:
    """The encoder with weights for at least this number of slots; trained weights stay."""
    missing = slots - len(encoder.flow) // columns
    if missing <= 0:
        return encoder
    shape = missing * columns, encoder.flow.shape[1]
    # All entries of the vector add to one sum, so their weights' spread falls with their number.
    more = generator.normal(0.0, np.sqrt(2 / (columns * slots)), shape)
    return encoder._replace(flow=np.concatenate((encoder.flow, more)))


@kernel
def represent(encoder: Encoder, features: Features, action: FloatArray) -> FloatArray:
    """phi of one event and action; ``action`` has the action columns of every flow."""
    if is_flat(encoder):
        inputs = _flat_units(encoder, features, action)
    else:
        inputs = _pooled_units(encoder, features, action)
    phi = np.ones(len(encoder.dense_bias) + 1)
    for j in range(len(encoder.dense_bias)):
        value = encoder.dense_bias[j]
        for k in range(len(inputs)):
            value += inputs[k] * encoder.dense[k, j]
        phi[j] = max(value, 0.0)
    return phi


@inner
def _pooled_units(encoder: Encoder, features: Features, action: FloatArray) -> FloatArray:
    """Mean over all flows, then the largest mean over one sender's flows."""
    flows, contexts = features.rows.shape
    hidden, senders = len(encoder.flow_bias), features.group.max() + 1
    total, members, pooled = np.zeros((senders, hidden)), np.zeros(senders), np.zeros(2 * hidden)
    units = context_units(encoder, features.rows, contexts)
    for f in range(flows):
        sender = features.group[f]
        members[sender] += 1
        for k in range(hidden):
            for c in range(action.shape[1]):
                units[f, k] += action[f, c] * encoder.flow[contexts + c, k]
            total[sender, k] += max(units[f, k], 0.0)
    for s in range(senders):
        for k in range(hidden):
            pooled[k] += total[s, k] / flows
            pooled[hidden + k] = max(pooled[hidden + k], total[s, k] / members[s])
    return pooled


@inner
def _flat_units(encoder: Encoder, features: Features, action: FloatArray) -> FloatArray:
    """Hidden units of the one vector."""
    flows, contexts = features.rows.shape
    size = contexts + FLAT_ACTION_COLUMNS
    sums: FloatArray = context_sums(encoder, features.rows, contexts)[0]
    for f in range(flows):
        for c in range(FLAT_ACTION_COLUMNS):
            for k in range(len(sums)):
                sums[k] += action[f, c] * encoder.flow[f * size + contexts + c, k]
    for k in range(len(sums)):
        sums[k] = max(sums[k], 0.0)
    return sums


@inner
def context_units(encoder: Encoder, rows: FloatArray, contexts: int) -> FloatArray:
    """What the context alone adds to every flow's hidden units (flow, hidden units)."""
    hidden = len(encoder.flow_bias)
    base = np.empty((len(rows), hidden))
    for f in range(len(rows)):
        for k in range(hidden):
            base[f, k] = encoder.flow_bias[k]
        for c in range(contexts):
            value = rows[f, c]
            for k in range(hidden):
                base[f, k] += value * encoder.flow[c, k]
    return base


@inner
def context_sums(encoder: Encoder, rows: FloatArray, contexts: int) -> FloatArray:
    """What the context alone adds to the first layer of a flat encoder (1, hidden units)."""
    size, hidden = contexts + FLAT_ACTION_COLUMNS, len(encoder.flow_bias)
    sums = np.empty((1, hidden))
    for k in range(hidden):
        sums[0, k] = encoder.flow_bias[k]
    for f in range(len(rows)):
        for c in range(contexts):
            value = rows[f, c]
            if value != 0.0:
                for k in range(hidden):
                    sums[0, k] += value * encoder.flow[f * size + c, k]
    return sums
