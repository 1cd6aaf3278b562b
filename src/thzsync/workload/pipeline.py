"""The work of every pipeline stage in one iteration, in bytes and seconds."""

from __future__ import annotations

from dataclasses import dataclass

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
