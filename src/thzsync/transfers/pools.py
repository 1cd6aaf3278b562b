"""Storage that grows by doubling, and runs of rows handed out and taken back."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

import numpy as np

from thzsync.arrays import AnyArray


class Runs:
    """First-fit allocator of consecutive rows; freed runs merge with their neighbours."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._free: list[tuple[int, int]] = [(0, capacity)]

    def take(self, count: int) -> int | None:
        """First row of a free run of the given length, or None when there is none."""
        if count == 0:
            return 0
        for k, (start, length) in enumerate(self._free):
            if length >= count:
                if length == count:
                    del self._free[k]
                else:
                    self._free[k] = (start + count, length - count)
                return start
        return None

    def give(self, start: int, count: int) -> None:
        """Take a run back."""
        if count == 0:
            return
        k = bisect_left(self._free, (start, 0))
        if k < len(self._free) and self._free[k][0] == start + count:
            count += self._free.pop(k)[1]
        if k > 0 and sum(self._free[k - 1]) == start:
            k -= 1
            before = self._free.pop(k)
            start, count = before[0], before[1] + count
        self._free.insert(k, (start, count))

    def grow(self, capacity: int) -> None:
        """Add rows at the end."""
        added = capacity - self.capacity
        end, self.capacity = self.capacity, capacity
        self.give(end, added)


def zero_rows(count: int, columns: int, dtype: type[np.integer[Any]] = np.int64) -> AnyArray:
    """Rows of zeros that start at a cache line, so that a row touches as few as possible."""
    size = np.dtype(dtype).itemsize
    raw = np.zeros(count * columns + 64 // size, dtype=dtype)
    skip = -raw.ctypes.data // size % (64 // size)
    return raw[skip : skip + count * columns].reshape(count, columns)


def doubled(array: AnyArray, rows: int) -> AnyArray:
    """A copy with at least the given number of rows, new ones zero."""
    size = len(array)
    while size < rows:
        size *= 2
    columns = 1 if array.ndim == 1 else array.shape[1]
    larger = zero_rows(size, columns, array.dtype.type).reshape(size, *array.shape[1:])
    larger[: len(array)] = array
    return larger
