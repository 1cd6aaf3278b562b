"""From ranks to racks."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from thzsync.errors import ThzSyncError
from thzsync.importers.bounded import read_bytes


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
class Floor:
    """The rack and the stage of every rank."""

    rack: dict[int, int]
    stage: dict[int, int]
    racks: int
    """Racks that the floor must have."""


def place(ranks: Iterable[int], placement: Placement) -> Floor:
    """The rack and the stage of every rank."""
    ordered = sorted(ranks)
    if placement.ranks_per_rack < 1:
        raise ThzSyncError(f"--ranks-per-rack: found {placement.ranks_per_rack}; use 1 or more")
    if placement.table is not None:
        rack = _table(placement.table, ordered)
        stage = dict.fromkeys(ordered, 0)
        return Floor(rack, stage, max(rack.values(), default=0) + 1)
    return _by_stage(ordered, placement)


def _by_stage(ranks: list[int], placement: Placement) -> Floor:
    """Stages are equal groups of ranks, numbered as in Megatron; one stage by default."""
    stages = 1 if placement.stages is None else placement.stages
    if stages < 1 or len(ranks) % stages:
        raise ThzSyncError(
            f"--stages: {len(ranks)} ranks cannot be cut into {stages} equal stages; name a divisor"
        )
    width = len(ranks) // stages
    filled = -(-width // placement.ranks_per_rack)
    lanes = filled if placement.lanes is None else placement.lanes
    if stages > 1 and lanes < filled:
        raise ThzSyncError(
            f"--lanes: a stage of {width} ranks fills {filled} racks but a ring has {lanes}; "
            "raise --ranks-per-rack or --lanes"
        )
    rack, stage = {}, {}
    for position, rank in enumerate(ranks):
        ring, inside = divmod(position, width)
        rack[rank] = ring * lanes + inside // placement.ranks_per_rack
        stage[rank] = ring
    return Floor(rack, stage, max(filled, (stages - 1) * lanes + filled))


def _table(path: Path, ranks: list[int]) -> dict[int, int]:
    rack: dict[int, int] = {}
    try:
        rows = list(csv.DictReader(read_bytes(path, 1 << 24).decode().splitlines()))
        for row in rows:
            rack[int(row["rank"])] = int(row["rack"])
    except (ValueError, KeyError, TypeError, csv.Error):
        raise ThzSyncError(
            f"{path}: row {len(rack) + 1} is not as expected; write CSV with the columns rank,rack"
        ) from None
    missing = [rank for rank in ranks if rank not in rack]
    if missing:
        raise ThzSyncError(f"{path}: rank {missing[0]} has no rack; add a row for it")
    if min(rack.values(), default=0) < 0:
        raise ThzSyncError(f"{path}: racks count from 0; found {min(rack.values())}")
    return {rank: rack[rank] for rank in ranks}
