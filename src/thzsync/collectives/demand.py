"""What an event asks for: directed bytes, or one tensor of all participants."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thzsync.arrays import IntArray, among
from thzsync.errors import ThzSyncError


@dataclass(frozen=True, eq=False)
class Transfer:
    """Directed byte demand D_ij: who sends how much to whom."""

    src: IntArray
    dst: IntArray
    size_bytes: IntArray

    @staticmethod
    def of(src: object, dst: object, size_bytes: object) -> Transfer:
        """From anything that NumPy turns into integer vectors."""
        columns = [np.array(c, dtype=np.int64, ndmin=1) for c in (src, dst, size_bytes)]
        return Transfer(*columns)

    @property
    def payload_bytes(self) -> int:
        """Bytes over all pairs."""
        return int(self.size_bytes.sum())

    def check(self, place: str, racks: IntArray) -> None:
        """Refuse negative sizes, transfers to oneself, ragged columns and racks outside, once."""
        if self.__dict__.get("_sound_among") is racks:
            return
        if not len(self.src) == len(self.dst) == len(self.size_bytes):
            raise ThzSyncError(f"{place}: src, dst and bytes must have the same length")
        if len(self.src) and int(self.size_bytes.min()) < 0:
            raise ThzSyncError(f"{place}: negative size {int(self.size_bytes.min())} bytes")
        if bool((self.src == self.dst).any()):
            rack = int(self.src[self.src == self.dst][0])
            raise ThzSyncError(f"{place}: rack {rack} sends to itself; remove that transfer")
        outside = ~(among(self.src, racks) & among(self.dst, racks))
        for k in np.flatnonzero(outside)[:1]:
            raise ThzSyncError(
                f"{place}: rack {self.src[k]} -> rack {self.dst[k]} is not among the event's "
                "racks; add the rack or remove the transfer"
            )
        self.__dict__["_sound_among"] = racks


@dataclass(frozen=True)
class Tensor:
    """One tensor: reduced, gathered, scattered or sent to all, as the collective says."""

    tensor_bytes: int
    """Size of the whole tensor, all parts together [bytes]."""
    root: int | None = None
    """The rack at which a rooted collective begins or ends."""

    @property
    def payload_bytes(self) -> int:
        """Size of the tensor [bytes]."""
        return self.tensor_bytes

    def check(self, place: str, racks: IntArray) -> None:
        """Refuse a negative size and a root that takes no part."""
        if self.tensor_bytes < 0:
            raise ThzSyncError(f"{place}: negative size {self.tensor_bytes} bytes")
        if self.root is not None and self.root not in racks:
            raise ThzSyncError(
                f"{place}: the root, rack {self.root}, takes no part in the event; add it to racks"
            )


Demand = Transfer | Tensor


def split_bytes(total: int, parts: int) -> IntArray:
    """Cut ``total`` into ``parts`` whole numbers that differ by at most one."""
    base, extra = divmod(int(total), parts)
    shares = np.full(parts, base, dtype=np.int64)
    shares[:extra] += 1
    return shares
