"""Named random streams: what is drawn depends on the seed alone, never on the order of asking."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

import numpy as np

from thzsync.errors import whole

STREAMS: Final = ("channel", "blockage", "background", "stragglers", "demand", "policy", "paths")


def name_key(name: str) -> int:
    """A number that stands for a name in the path of a stream, the same in every process."""
    return int.from_bytes(sha256(name.encode()).digest()[:7])


class Streams:
    """The random streams of one run.

    Each stream is a child of one ``SeedSequence``; further integers (an iteration, an event) pick
    a grandchild, so a draw for one thing never shifts the draw for another.
    """

    def __init__(self, seed: int) -> None:
        self.seed = whole(seed, "seed", 0)

    def _sequence(self, name: str, *path: int) -> np.random.SeedSequence:
        return np.random.SeedSequence(self.seed, spawn_key=(STREAMS.index(name), *path))

    def generator(self, name: str, *path: int) -> np.random.Generator:
        """A fresh generator for the named stream and path."""
        return np.random.Generator(np.random.PCG64(self._sequence(name, *path)))

    def key(self, name: str, *path: int) -> int:
        """A 63-bit key for counter-based draws inside kernels."""
        state = self._sequence(name, *path).generate_state(1, np.uint64)
        return int(state[0] >> np.uint64(1))
