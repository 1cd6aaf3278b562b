"""The encoder phi_theta (eq:bandit_representation): weights, batches and training.

All flow slots share their first-layer weights. Their hidden units are pooled twice: the mean over
flows (how much work there is) and the largest mean over one sender's flows (how bad the worst
sender fares, which is what a completion time follows). A dense layer and a constant make phi.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.coordinator.features import Features
from thzsync.jit import kernel

if TYPE_CHECKING:
    from torch import Tensor


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
    """(samples, slots): sender of every flow; -1 marks an empty slot."""


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


def encode(encoder: Encoder, batch: Batch) -> FloatArray:
    """phi of every sample, one row each."""
    import torch

    with torch.no_grad(), one_thread():
        phi = _forward(tuple(torch.from_numpy(w) for w in encoder), *_tensors(batch))
    result: FloatArray = phi.numpy()
    return result


def fit(
    encoder: Encoder,
    head: FloatArray,
    batches: Iterator[tuple[Batch, FloatArray]],
    learning_rate: float,
    weight_decay: float,
) -> tuple[Encoder, FloatArray]:
    """Encoder and head after one step of Adam on the squared error per batch of (sample, target).

    Deterministic: one thread, no random numbers, a fresh optimiser.
    """
    import torch

    with one_thread():
        weights = [torch.tensor(w, requires_grad=True) for w in (*encoder, head)]
        optimiser = torch.optim.AdamW(
            weights, lr=learning_rate, weight_decay=weight_decay, fused=True
        )
        for batch, target in batches:
            optimiser.zero_grad()
            phi = _forward(tuple(weights[:-1]), *_tensors(batch))
            loss = torch.mean((phi @ weights[-1] - torch.from_numpy(target)) ** 2)
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
    *trained, head = (w.detach().numpy() for w in weights)
    return Encoder(*trained), head


@contextmanager
def one_thread() -> Iterator[None]:
    """Pin torch to one thread (sums then have one order), and put the old setting back."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _tensors(batch: Batch) -> tuple[Tensor, Tensor]:
    """Rows, and the pooling matrix of every sample: the mean over flows, then over each sender."""
    import torch

    senders = np.arange(max(int(batch.group.max(initial=-1)) + 1, 1))
    pooling = np.empty((len(batch.group), len(senders) + 1, batch.group.shape[1]))
    pooling[:, 0] = batch.group >= 0
    pooling[:, 1:] = batch.group[:, None, :] == senders[:, None]
    pooling /= np.maximum(pooling.sum(axis=2, keepdims=True), 1)
    return torch.from_numpy(batch.rows), torch.from_numpy(pooling)


def _forward(weights: tuple[Tensor, ...], rows: Tensor, pooling: Tensor) -> Tensor:
    import torch

    flow, flow_bias, dense, dense_bias = weights
    means = pooling @ torch.relu(rows @ flow + flow_bias)
    pooled = torch.cat((means[:, 0], means[:, 1:].amax(dim=1)), dim=1)
    hidden = torch.relu(pooled @ dense + dense_bias)
    return torch.cat((hidden, torch.ones_like(hidden[:, :1])), dim=1)
