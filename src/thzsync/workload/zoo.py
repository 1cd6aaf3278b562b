"""The model zoo: bytes and seconds of an iteration from the dimensions of a built-in model."""

from __future__ import annotations

from itertools import pairwise
from math import gcd
from typing import Final

import numpy as np

from thzsync.collectives import split_bytes
from thzsync.errors import ThzSyncError
from thzsync.scenario import ModelJob
from thzsync.topology import Partition
from thzsync.workload.architecture import Architecture, Attention, Experts, LatentAttention
from thzsync.workload.pipeline import Bucket, Pipeline, StageWork

ZOO: Final[dict[str, Architecture]] = {
    "gpt3-175b": Architecture(
        96, 12288, 49152, 50257, Attention(96, 96, 128), ffn_matrices=2, positions=2048, tied=True
    ),
    "llama3-8b": Architecture(32, 4096, 14336, 128256, Attention(32, 8, 128)),
    "llama3-70b": Architecture(80, 8192, 28672, 128256, Attention(64, 8, 128)),
    "llama3-405b": Architecture(126, 16384, 53248, 128256, Attention(128, 8, 128)),
    "mixtral-8x7b": Architecture(
        32, 4096, 14336, 32000, Attention(32, 8, 128), Experts(8, 2, 14336)
    ),
    "mixtral-8x22b": Architecture(
        56, 6144, 16384, 32768, Attention(48, 8, 128), Experts(8, 2, 16384)
    ),
    "deepseek-v3": Architecture(
        61,
        7168,
        18432,
        129280,
        LatentAttention(128, 1536, 512, 128, 64, 128),
        Experts(256, 8, 2048, shared=1, first_layer=3),
    ),
    "qwen3-30b-a3b": Architecture(
        48, 2048, 6144, 151936, Attention(32, 4, 128), Experts(128, 8, 768)
    ),
    "qwen3-235b-a22b": Architecture(
        94, 4096, 12288, 151936, Attention(64, 4, 128), Experts(128, 8, 1536)
    ),
}


def architecture(name: str) -> Architecture:
    """The built-in model of this name."""
    if name not in ZOO:
        raise ThzSyncError(f"model {name!r} is not in the zoo; use one of {', '.join(ZOO)}")
    return ZOO[name]


def derive(model: ModelJob, partition: Partition) -> Pipeline:
    """What every stage computes and sends if a model trains on a partition.

    A rack has one replica of one stage, on ``tensor_parallel`` accelerators in lockstep. Experts
    are spread over the largest group of neighbouring racks that divides them evenly.
    """
    design = architecture(model.name)
    if partition.stages > design.layers:
        raise ThzSyncError(
            f"job {partition.job!r}: {model.name} has {design.layers} layers but the partition has "
            f"{partition.stages} stages; set rings to at most {design.layers}"
        )
    group = 1 if design.experts is None else gcd(design.experts.routed, partition.lanes)
    tokens = model.sequence_length * model.micro_batch
    message_bytes = tokens * design.hidden * model.activation_bytes
    routed = 0 if design.experts is None else design.experts.active
    return Pipeline(
        stages=tuple(
            _stage(model, design, layers, partition, group)
            for layers in _layers_by_stage(design.layers, partition.stages)
        ),
        microbatches=model.microbatches,
        p2p_bytes=message_bytes,
        # Tokens for a rack's own experts stay there: (group - 1) / group of them are sent.
        a2a_bytes_per_rack=message_bytes * routed * (group - 1) // group,
        expert_group=group,
        backward_a2a=model.backward_a2a,
        overlap_allreduce=model.overlap_allreduce,
    )


def _layers_by_stage(layers: int, stages: int) -> list[range]:
    """Consecutive layers, as evenly as possible. The first stages take the extra ones, because
    the last stage has the output matrix."""
    bounds = [0, *np.cumsum(split_bytes(layers, stages)).tolist()]
    return [range(begin, end) for begin, end in pairwise(bounds)]


def _stage(
    model: ModelJob, design: Architecture, layers: range, partition: Partition, group: int
) -> StageWork:
    tokens = model.sequence_length * model.micro_batch
    flops = sum(design.layer_flops(n, model.sequence_length) for n in layers)
    replicated = sum(design.replicated_parameters(n) for n in layers)
    experts = sum(design.expert_parameters(n) for n in layers) // group
    first, last = layers.start == 0, layers.stop == design.layers
    if first:
        replicated += design.input_parameters
    if last:
        flops += 2 * design.output_parameters
        # Both end stages of a tied model have the matrix; a pipeline of one stage has it once.
        replicated += 0 if design.tied and first else design.output_parameters
    rack_flops = model.accelerator_flops * model.efficiency * model.tensor_parallel
    forward_s = flops * tokens / rack_flops
    return StageWork(
        forward_s=forward_s,
        backward_s=2 * forward_s,
        moe_layers=sum(design.is_moe(n) for n in layers),
        buckets=(
            *_buckets(model, replicated, partition.lanes, 1),
            *_buckets(model, experts, partition.lanes, group),
        ),
    )


def _buckets(model: ModelJob, parameters: int, lanes: int, stride: int) -> list[Bucket]:
    """Full buckets and a smaller last one, summed over a rack's accelerators."""
    replicas = lanes // stride
    per_accelerator = max(model.bucket_parameters, 1_000_000 * replicas)
    full = per_accelerator * model.tensor_parallel
    sizes = [full] * (parameters // full)
    if parameters % full:
        sizes.append(parameters % full)
    return [Bucket(size * model.gradient_bytes, stride) for size in sizes]
