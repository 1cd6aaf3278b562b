"""Byte sizes for a step that was recorded without: from a built-in model, or from options."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from thzsync.errors import ThzSyncError
from thzsync.importers.options import ReadOptions
from thzsync.scenario import ModelJob
from thzsync.topology import Partition
from thzsync.workload.zoo import derive

NORM_BYTES: Final = 4
"""Norm of all gradients: one number, for clipping [bytes]."""


@dataclass(frozen=True)
class StepSizes:
    """Sizes of what a step sends [bytes]."""

    p2p_bytes: int
    """Activation or its gradient between two stages, per micro-batch."""
    gradient_bytes: tuple[int, ...]
    """Gradients of every stage."""


def step_sizes(options: ReadOptions, stages: int, replicas: int, path: Path) -> StepSizes:
    """Sizes from the options; the others come from the model."""
    if options.model is None and None in (options.p2p_bytes, options.gradient_bytes):
        raise ThzSyncError(
            f"{path}: this format has no byte sizes; name a model of the zoo with --model, or give "
            "--p2p-bytes and --gradient-bytes"
        )
    p2p_bytes, gradients = options.p2p_bytes or 0, (options.gradient_bytes or 0,) * stages
    if options.model is not None:
        racks = np.arange(stages * replicas, dtype=np.int64).reshape(stages, replicas)
        pipeline = derive(ModelJob(name=options.model), Partition("import", racks))
        if options.p2p_bytes is None:
            p2p_bytes = pipeline.p2p_bytes
        if options.gradient_bytes is None:
            gradients = tuple(sum(b.tensor_bytes for b in s.buckets) for s in pipeline.stages)
    return StepSizes(p2p_bytes, gradients)
