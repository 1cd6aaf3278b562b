"""The work of every pipeline stage in one iteration, and the demand of its events."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.collectives import Transfer, split_bytes
from thzsync.scenario import Training
from thzsync.topology import Partition


@dataclass(frozen=True)
class Bucket:
    """Gradients that are reduced together.

    Racks ``lane, lane + stride, lane + 2 stride, ...`` of a stage hold the same parameters, for
    every ``lane < stride``. The stride is 1 if all replicas do, and the size of the expert group
    for experts.
    """

    tensor_bytes: int
    stride: int = 1


@dataclass(frozen=True)
class StageWork:
    """One pipeline stage."""

    forward_s: float
    backward_s: float
    moe_layers: int
    buckets: tuple[Bucket, ...]


@dataclass(frozen=True)
class Pipeline:
    """One training iteration of a job, stage by stage."""

    stages: tuple[StageWork, ...]
    microbatches: int
    p2p_bytes: int
    a2a_bytes_per_rack: int
    expert_group: int
    """Neighbouring racks of a stage that share the experts; divides the lanes."""
    a2a_skew: float = 0.0
    backward_a2a: bool = False
    overlap_allreduce: bool = False

    @staticmethod
    def uniform(training: Training, partition: Partition) -> Pipeline:
        """Equal stages, from the table ``training`` of a scenario."""
        buckets = (Bucket(training.allreduce_bytes),) * training.allreduce_buckets
        layers = training.moe_layers_per_stage
        return Pipeline(
            stages=tuple(
                StageWork(
                    training.forward_s,
                    training.backward_s,
                    layers if stage in training.moe_stages else 0,
                    buckets,
                )
                for stage in range(partition.stages)
            ),
            microbatches=training.microbatches,
            p2p_bytes=training.p2p_bytes,
            a2a_bytes_per_rack=training.a2a_bytes_per_rack,
            expert_group=partition.lanes,
            a2a_skew=training.a2a_skew,
            backward_a2a=training.backward_a2a,
            overlap_allreduce=training.overlap_allreduce,
        )


def even_exchange(racks: IntArray, group: int, bytes_per_rack: int) -> Transfer:
    """All-to-All within groups of neighbours; every rack splits its bytes evenly [bytes]."""
    src, dst = _pairs(racks, group)
    return Transfer(src, dst, np.tile(split_bytes(bytes_per_rack, group - 1), len(racks)))


def skewed_exchange(
    racks: IntArray, group: int, bytes_per_rack: int, sigma: float, rng: np.random.Generator
) -> Transfer:
    """All-to-All with log-normal shares per pair; every rack still sends the same sum [bytes]."""
    src, dst = _pairs(racks, group)
    exponents = sigma * rng.standard_normal((len(racks), group - 1))
    below = exponents - exponents.max(axis=1, keepdims=True)
    # one by one: the digits of NumPy depend on the processor, and compiling takes longer
    weights = np.array([[math.exp(x) for x in row] for row in below.tolist()])
    return Transfer(src, dst, apportion(bytes_per_rack, weights).ravel())


def apportion(total: int, weights: FloatArray) -> IntArray:
    """Whole shares of ``total`` in proportion to each row of ``weights``, with an exact sum.

    The running sum is rounded, not every share. So the sum is exact, and every share differs by
    less than one from its proportional value.
    """
    running = np.cumsum(weights, axis=-1)
    edges = np.rint(total * (running / running[..., -1:])).astype(np.int64)
    return np.diff(edges, axis=-1, prepend=0)


def returned(transfer: Transfer) -> Transfer:
    """The same bytes in the other direction."""
    return Transfer(transfer.dst, transfer.src, transfer.size_bytes)


def _pairs(racks: IntArray, group: int) -> tuple[IntArray, IntArray]:
    """All ordered pairs within each group, ordered by source."""
    others = np.array([[j for j in range(group) if j != i] for i in range(group)])
    blocks = racks.reshape(-1, group)
    return np.repeat(racks, group - 1), blocks[:, others].ravel()
