"""Parts of the overlay that faults have taken out of use."""

from __future__ import annotations

import numpy as np

from thzsync.arrays import BoolArray, IntArray


class Outages:
    """Counts of overlapping faults per transceiver, subband and rack pair."""

    def __init__(self, racks: int, subbands: int) -> None:
        self._racks = np.zeros(racks, dtype=np.int64)
        self._subbands = np.zeros(subbands, dtype=np.int64)
        self._pairs: dict[tuple[int, int], int] = {}

    def change(
        self,
        by: int,
        rack: int | None = None,
        subband: int | None = None,
        pair: tuple[int, int] | None = None,
    ) -> None:
        """Add (+1) or remove (-1) one fault of each part that is named."""
        if rack is not None:
            self._racks[rack] += by
        if subband is not None:
            self._subbands[subband] += by
        if pair is not None:
            key = (min(pair), max(pair))
            self._pairs[key] = self._pairs.get(key, 0) + by
            if not self._pairs[key]:
                del self._pairs[key]

    def usable(self, src: IntArray, dst: IntArray) -> BoolArray | None:
        """By (link, subband), whether no fault forbids it; None when there are no faults."""
        if not (self._racks.any() or self._subbands.any() or self._pairs):
            return None
        up = (self._racks[src] == 0) & (self._racks[dst] == 0)
        for i, j in self._pairs:
            up &= ~(((src == i) & (dst == j)) | ((src == j) & (dst == i)))
        usable: BoolArray = up[:, None] & (self._subbands == 0)[None, :]
        return usable
