"""What an event asks for: directed bytes, or a reduction of one tensor."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from thzsync.arrays import IntArray
from thzsync.errors import ThzSyncError


class Kind(StrEnum):
    """Communication type tau_e (eq:communication_event)."""

    P2P = "p2p"
    A2A = "a2a"
    ALLREDUCE = "allreduce"


@dataclass(frozen=True, eq=False)
class Transfer:
    """Directed byte demand D_ij of a P2P or All-to-All event."""

    src: IntArray
    dst: IntArray
    size_bytes: IntArray

    @staticmethod
    def of(src: object, dst: object, size_bytes: object) -> Transfer:
        """From anything that NumPy turns into integer vectors."""
        columns = [np.array(c, dtype=np.int64, ndmin=1) for c in (src, dst, size_bytes)]
        return Transfer(*columns)

    @property
    def total_bytes(self) -> int:
        """Bytes over all pairs."""
        return int(self.size_bytes.sum())

    def check(self, place: str) -> None:
        """Refuse negative sizes, transfers to oneself and ragged columns."""
        if not len(self.src) == len(self.dst) == len(self.size_bytes):
            raise ThzSyncError(f"{place}: src, dst and bytes must have the same length")
        if len(self.src) and int(self.size_bytes.min()) < 0:
            raise ThzSyncError(f"{place}: negative size {int(self.size_bytes.min())} bytes")
        if bool((self.src == self.dst).any()):
            rack = int(self.src[self.src == self.dst][0])
            raise ThzSyncError(f"{place}: rack {rack} sends to itself; remove that transfer")


@dataclass(frozen=True)
class Reduction:
    """AllReduce: every rack contributes a tensor and receives the sum of all."""

    tensor_bytes: int

    def check(self, place: str) -> None:
        """Refuse a negative size."""
        if self.tensor_bytes < 0:
            raise ThzSyncError(f"{place}: negative size {self.tensor_bytes} bytes")


Demand = Transfer | Reduction


def split_bytes(total: int, parts: int) -> IntArray:
    """Cut ``total`` into ``parts`` whole numbers that differ by at most one."""
    base, extra = divmod(int(total), parts)
    shares = np.full(parts, base, dtype=np.int64)
    shares[:extra] += 1
    return shares
