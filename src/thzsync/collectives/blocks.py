"""Pre- and postcondition of a collective, as blocks of data.

Every collective of this package, and any that is added to it, is a set of blocks. Before it, each
*source* of a block holds a part of its own; after it, each *target* holds the sum of all parts,
every part in it exactly once. With one source the sum is a copy. An AllReduce is one block from all
to all, an All-to-All one block per pair, an all-gather one block per rack to everybody.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from thzsync.arrays import IntArray

Racks = Sequence[int] | IntArray


@dataclass(frozen=True, eq=False)
class Blocks:
    """Blocks 0, 1, ... with bytes; sources and targets in compressed rows."""

    size_bytes: IntArray
    source_start: IntArray
    source: IntArray
    """Racks that hold a part before."""
    target_start: IntArray
    target: IntArray
    """Racks that hold the sum of all parts afterwards."""

    @staticmethod
    def of(rows: Iterable[tuple[int, Racks, Racks]]) -> Blocks:
        """From rows of (bytes, sources, targets); blocks without bytes are left out."""
        kept = [(size, list(a), list(b)) for size, a, b in rows if size > 0]
        return Blocks(
            np.array([size for size, _, _ in kept], dtype=np.int64),
            *_rows([sources for _, sources, _ in kept]),
            *_rows([targets for _, _, targets in kept]),
        )

    @staticmethod
    def pairs(src: IntArray, dst: IntArray, size_bytes: IntArray) -> Blocks:
        """One block per pair that has bytes."""
        wanted = size_bytes > 0
        each = np.arange(int(wanted.sum()) + 1, dtype=np.int64)
        return Blocks(size_bytes[wanted], each, src[wanted], each, dst[wanted])

    def __len__(self) -> int:
        return len(self.size_bytes)

    def sources(self, block: int) -> IntArray:
        """Racks that hold a part of a block before."""
        return self.source[self.source_start[block] : self.source_start[block + 1]]

    def targets(self, block: int) -> IntArray:
        """Racks that hold a block's sum afterwards."""
        return self.target[self.target_start[block] : self.target_start[block + 1]]

    @property
    def volume_bytes(self) -> int:
        """Bytes that must pass between racks at least, however they are routed.

        The first rack with a complete block received from all other sources, and all other targets
        receive from it. It may be a source and a target itself.
        """
        sources, targets = np.diff(self.source_start), np.diff(self.target_start)
        holds = self._keys(self.source_start, self.source)
        meets = np.isin(holds, self._keys(self.target_start, self.target))
        block = np.repeat(np.arange(len(self)), sources)
        met = np.bincount(block[meets], minlength=len(self)) > 0
        return int((self.size_bytes * (sources + targets - 1 - met)).sum())

    @property
    def bus_bytes(self) -> float:
        """Bytes that the busiest rack sends or receives, in the best case.

        Every source sends its part unless it is the only target, every target receives unless it
        is the only source, and all together move ``volume_bytes``. nccl-tests divides this by the
        time to get the bus bandwidth: (n - 1) / n of an all-gather's tensor, twice that of an
        AllReduce's, all of a broadcast's.
        """
        if len(self.source) == len(self.target) == len(self):  # pairs, as most exchanges are
            size = np.where(self.source == self.target, 0, self.size_bytes)
            ends = (np.bincount(rack, size) for rack in (self.source, self.target))
            return max((float(load.max(initial=0)) for load in ends), default=0.0)
        spread = self.volume_bytes / max(1, len(np.union1d(self.source, self.target)))
        got = self._most_bytes(self.target_start, self.target, self.source_start, self.source)
        return max(self.own_bytes, got, spread)

    @property
    def own_bytes(self) -> float:
        """Most bytes of its own that a source must send to others."""
        return self._most_bytes(self.source_start, self.source, self.target_start, self.target)

    def _most_bytes(
        self, start: IntArray, here: IntArray, far_start: IntArray, far: IntArray
    ) -> float:
        """Most bytes of one rack's blocks, without those that stay where they are."""
        block = np.repeat(np.arange(len(self)), np.diff(start))
        stays = (np.diff(far_start)[block] == 1) & (far[far_start[:-1][block]] == here)
        return float(np.bincount(here[~stays], self.size_bytes[block[~stays]]).max(initial=0))

    def _keys(self, start: IntArray, racks: IntArray) -> IntArray:
        """One number per block and rack."""
        block = np.repeat(np.arange(len(self)), np.diff(start))
        width = 1 + max(int(self.source.max(initial=0)), int(self.target.max(initial=0)))
        return block * width + racks

    @property
    def single(self) -> IntArray:
        """Blocks that go from one rack to one rack."""
        alone = (np.diff(self.source_start) == 1) & (np.diff(self.target_start) == 1)
        return np.flatnonzero(alone)


def _rows(lists: list[list[int]]) -> tuple[IntArray, IntArray]:
    lengths = np.array([len(row) for row in lists], dtype=np.int64)
    start = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths)))
    return start, np.array([rack for row in lists for rack in row], dtype=np.int64)
