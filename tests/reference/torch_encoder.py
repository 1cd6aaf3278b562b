"""The encoder and its training in PyTorch: the twin of the kernels in ``coordinator/training.py``.

The second edition trained with this code until the kernels took its place.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from thzsync.arrays import FloatArray, IntArray
from thzsync.coordinator.dense import Descent
from thzsync.coordinator.encoder import Batch, Encoder


def encode(encoder: Encoder, batch: Batch) -> FloatArray:
    """phi of every sample, one row each."""
    result: FloatArray = _phi([torch.from_numpy(w) for w in encoder], batch).numpy()
    return result


def gradients(
    encoder: Encoder, head: FloatArray, batch: Batch, target: FloatArray
) -> tuple[float, list[FloatArray]]:
    """The mean squared error, and its slope along every weight of encoder and head."""
    weights = [torch.tensor(w, requires_grad=True) for w in (*encoder, head)]
    loss = _loss(weights, batch, target)
    return float(loss.detach()), [g.numpy() for g in torch.autograd.grad(loss, weights)]


def fit(
    encoder: Encoder,
    head: FloatArray,
    memory: Batch,
    draws: IntArray,
    targets: FloatArray,
    how: Descent,
) -> tuple[Encoder, FloatArray]:
    """Encoder and head after one step of AdamW per row of ``draws``."""
    weights = [torch.tensor(w, requires_grad=True) for w in (*encoder, head)]
    optimiser = torch.optim.AdamW(weights, lr=how.rate, weight_decay=how.decay)
    for drawn, target in zip(draws, targets, strict=True):
        optimiser.zero_grad()
        _loss(weights, Batch(memory.rows[drawn], memory.group[drawn]), target).backward()
        optimiser.step()
    *trained, head = (w.detach().numpy() for w in weights)
    return Encoder(*trained), head


def _loss(weights: list[Tensor], batch: Batch, target: FloatArray) -> Tensor:
    value = _phi(weights[:-1], batch) @ weights[-1]
    return torch.mean((value - torch.from_numpy(target)) ** 2)


def _phi(weights: list[Tensor], batch: Batch) -> Tensor:
    flow, flow_bias, dense, dense_bias = weights
    rows, pooling = torch.from_numpy(batch.rows), torch.from_numpy(_pooling(batch.group))
    means = pooling @ torch.relu(rows @ flow + flow_bias)
    pooled = torch.cat((means[:, 0], means[:, 1:].amax(dim=1)), dim=1)
    hidden = torch.relu(pooled @ dense + dense_bias)
    return torch.cat((hidden, torch.ones_like(hidden[:, :1])), dim=1)


def _pooling(group: IntArray) -> FloatArray:
    """The pooling matrix of every sample: the mean over flows, then over each sender."""
    senders = np.arange(max(int(group.max(initial=-1)) + 1, 1))
    pooling = np.empty((len(group), len(senders) + 1, group.shape[1]))
    pooling[:, 0] = group >= 0
    pooling[:, 1:] = group[:, None, :] == senders[:, None]
    pooling /= np.maximum(pooling.sum(axis=2, keepdims=True), 1)
    return pooling
