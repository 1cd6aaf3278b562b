"""Which events are simulated again packet by packet: one of every block of one type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from thzsync.streams import name_key

LEAST: Final = 4
"""So many blocks of a type are short, whatever the share, so that its error has an interval."""
SHORT: Final = 4
"""Events in a short block, at most."""


@dataclass
class _Type:
    """How far the events of one type have come."""

    shown: int = 0
    block: int = -1
    end: int = 0
    pick: int = -1


class Picker:
    """Picks about a share of the events of each type, and some early ones in any case."""

    def __init__(self, share: float, key: int) -> None:
        self._share, self._key = share, key
        self._types: dict[str, _Type] = {}

    def picks(self, kind: str) -> bool:
        """Whether the next event of this type is picked."""
        if self._share == 0:
            return False
        found = self._types.setdefault(kind, _Type())
        if found.shown == found.end:
            found.block, start = found.block + 1, found.end
            found.end = self._end(found.block)
            draw = np.random.default_rng((self._key, name_key(kind), found.block))
            found.pick = int(draw.integers(start, found.end))
        found.shown += 1
        return found.shown - 1 == found.pick

    def _end(self, block: int) -> int:
        """How many events there are up to the end of a block; no block is empty."""
        blocks = block + 1
        return int(blocks / (max(self._share, 1 / SHORT) if blocks <= LEAST else self._share))
