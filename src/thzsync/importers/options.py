"""What a user may say about a trace that the trace does not say itself."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

DEFAULT_FLOPS: Final = 989e12 * 0.4
"""Peak of one accelerator times the achieved share, as for models of the zoo [FLOP/s]."""


@dataclass(frozen=True)
class ReadOptions:
    """How files are read."""

    groups: Path | None = None
    """A file with the ranks of every group: {"name": [ranks]}."""
    world: int | None = None
    """Ranks of the whole job; those without a file do as the lowest rank that has one."""
    element_bytes: int | None = None
    """Bytes per element where sizes count elements; what the format says when absent."""
    flops: float = DEFAULT_FLOPS
    """Speed of a rank where a trace counts operations instead of time [FLOP/s]."""
    step: int | None = None
    """Which training step of a file with several; all, or the median one, when absent."""
    skip_empty: bool = False
    """Pass over collectives and messages without bytes instead of refusing them."""
    model: str | None = None
    """Model of the zoo that gives byte sizes where the trace has none."""
    p2p_bytes: int | None = None
    """Bytes from stage to stage per micro-batch, where the trace has none."""
    gradient_bytes: int | None = None
    """Gradients of one stage, where the trace has none [bytes]."""


@dataclass(frozen=True)
class Placement:
    """Which rank stands in which rack."""

    ranks_per_rack: int = 1
    """Neighbouring ranks that share a rack."""
    stages: int | None = None
    """Pipeline stages: equal runs of neighbouring ranks, each on a ring of its own."""
    lanes: int | None = None
    """Racks on a ring of the floor; as many as a stage fills when absent."""
    table: Path | None = None
    """A CSV file with columns rank and rack, instead of the rules above."""


@dataclass(frozen=True)
class Rescaling:
    """How wide the data-parallel dimension becomes."""

    times: int = 1
    """Copies of all ranks."""
    groups: tuple[str, ...] = ()
    """Names of the data-parallel groups; those that reduce gradients when empty."""
