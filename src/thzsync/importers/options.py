"""Options of an import: what the trace does not say and a user does."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

DEFAULT_FLOPS: Final = 989e12 * 0.4
"""Peak of an accelerator times the achieved share, as for built-in models [FLOP/s]."""


@dataclass(frozen=True)
class ReadOptions:
    """Options for reading files."""

    groups: Path | None = None
    """A file with the ranks of every group: {"name": [ranks]}."""
    world: int | None = None
    """Ranks of the job; a rank without a file does the same as the lowest rank with one."""
    element_bytes: int | None = None
    """Bytes per element, if sizes count elements; from the format when absent."""
    flops: float = DEFAULT_FLOPS
    """Speed of a rank, if a trace counts operations instead of time [FLOP/s]."""
    step: int | None = None
    """Training step of a file with several; all, or the median one, when absent."""
    skip_empty: bool = False
    """Skip collectives and messages without bytes instead of refusing them."""
    model: str | None = None
    """Built-in model that gives byte sizes if the trace has none."""
    p2p_bytes: int | None = None
    """Bytes from stage to stage per micro-batch, if the trace has none."""
    gradient_bytes: int | None = None
    """Gradients of one stage, if the trace has none [bytes]."""


@dataclass(frozen=True)
class Placement:
    """Options for placing ranks in racks."""

    ranks_per_rack: int = 1
    """Neighbouring ranks that share a rack."""
    stages: int | None = None
    """Pipeline stages: equal groups of neighbouring ranks, each on its own ring."""
    lanes: int | None = None
    """Racks on a ring of the floor; as many as a stage fills when absent."""
    table: Path | None = None
    """A CSV file with columns rank and rack, instead of the rules above."""


@dataclass(frozen=True)
class Rescaling:
    """Options for more data-parallel replicas."""

    times: int = 1
    """Copies of all ranks."""
    groups: tuple[str, ...] = ()
    """Names of the data-parallel groups; all groups that reduce gradients when empty."""
