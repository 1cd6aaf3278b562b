"""What the pre- and postconditions of every collective must keep."""

from __future__ import annotations

import numpy as np

from thzsync.collectives import Collective
from thzsync.collectives.blocks import Blocks
from thzsync.collectives.collective import COLLECTIVES
from thzsync.errors import ThzSyncError
from thzsync.synthesis.conformance import demands

SIZES = (1, 2, 3, 5, 8)


def check_collective(collective: Collective, seed: int = 0) -> int:
    """Ask for the blocks of many demands; returns how many blocks there were.

    Every block has bytes, sources and targets, each once and among the racks. A demand gives the
    same blocks again. Algorithm and bus bandwidth have bytes where data moves.
    """
    generator, count = np.random.default_rng(seed), 0
    with COLLECTIVES.temporarily(collective):
        for n in SIZES:
            racks = np.sort(generator.choice(40, n, replace=False)).astype(np.int64)
            for demand in demands(collective.name, racks, generator):
                place = f"collective {collective.name!r}, {n} racks"
                blocks, again = (collective.blocks(demand, racks) for _ in range(2))
                for name in ("size_bytes", "source", "source_start", "target", "target_start"):
                    if not np.array_equal(getattr(blocks, name), getattr(again, name)):
                        raise ThzSyncError(f"{place}: two readings of a demand differ in {name}")
                for block in range(len(blocks)):
                    _check_block(f"{place}, block {block}", blocks, block, racks.tolist())
                moved = any(
                    set(blocks.targets(b)) - set(blocks.sources(b)) for b in range(len(blocks))
                )
                if moved and min(collective.measured_bytes(demand, racks)) <= 0:
                    raise ThzSyncError(f"{place}: data moves, but its bandwidth counts no bytes")
                count += len(blocks)
    return count


def _check_block(place: str, blocks: Blocks, block: int, racks: list[int]) -> None:
    if blocks.size_bytes[block] <= 0:
        raise ThzSyncError(f"{place}: has no bytes; leave it out")
    for noun, ends in (("sources", blocks.sources(block)), ("targets", blocks.targets(block))):
        found = ends.tolist()
        if not found or len(set(found)) < len(found) or not set(found) <= set(racks):
            raise ThzSyncError(
                f"{place}: its {noun} are {found}; name racks of the event, each once"
            )
