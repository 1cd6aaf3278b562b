"""What the overlay sends: transmissions that start together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.jit import kernel

FLOW, FIRST_CHUNK, CHUNKS, SRC, DST, SUBBAND, BYTES, LOCAL_FLOW, GUARD, BEAM, COLUMNS = range(11)
"""Columns of a round's table, one row per transmission."""


@kernel
def numbered(first: IntArray, base: int, table: IntArray, delivers: int) -> IntArray:
    """Every chunk of a round, as ``base`` + the number of its flow's chunk 0 + its own."""
    numbers = np.empty(delivers, dtype=np.int64)
    count = 0
    for a in range(len(table)):
        number = base + first[table[a, FLOW]] + table[a, FIRST_CHUNK]
        for k in range(table[a, CHUNKS]):
            numbers[count] = number + k
            count += 1
    return numbers


@dataclass(eq=False, slots=True)
class Round:
    """Transmissions of one event that start together; without common rounds, a single one.

    Nobody changes one, but there are ten thousands: freezing them would make them three times as
    dear, and so would an array of its own for every whole number of a transmission.
    """

    number: int
    """The event."""
    group: int
    """Which of the event's disciplines."""
    discipline: str
    """Its name."""
    common: bool
    """Whether it is the event's only round of this discipline while it lasts."""
    index: int
    """Which round of the event this is, from 0."""
    start_ps: int
    end_ps: int
    overhead_ps: int
    """Guard time at the start, in which nothing is sent [ps]."""
    delivers: int
    """Chunks of all transmissions."""
    table: IntArray
    """Whole numbers of every transmission, in the columns above."""
    power_w: FloatArray
    gain: FloatArray
    """Channel power gain g_ij^c, linear, at the round's start."""
    noise_w: FloatArray
    """Noise and interference that every transmission was promised [W]."""

    def delivered(self, first: IntArray, base: int) -> IntArray:
        """Numbers of its chunks, where those of flow f begin at ``base + first[f]``."""
        return numbered(first, base, self.table, self.delivers)

    @property
    def flow(self) -> IntArray:
        """Flow of every transmission, as the event's graph numbers them."""
        return self.table[:, FLOW]

    @property
    def first_chunk(self) -> IntArray:
        """First chunk of the flow that a transmission carries."""
        return self.table[:, FIRST_CHUNK]

    @property
    def chunks(self) -> IntArray:
        """How many consecutive chunks it carries."""
        return self.table[:, CHUNKS]

    @property
    def src(self) -> IntArray:
        """The rack that sends."""
        return self.table[:, SRC]

    @property
    def dst(self) -> IntArray:
        """The rack that receives."""
        return self.table[:, DST]

    @property
    def subband(self) -> IntArray:
        """Where it is sent."""
        return self.table[:, SUBBAND]

    @property
    def size_bytes(self) -> IntArray:
        """What it carries [bytes]."""
        return self.table[:, BYTES]

    @property
    def duration_ps(self) -> int:
        """Time in which data is sent [ps]."""
        return self.end_ps - self.start_ps - self.overhead_ps

    @property
    def energy_j(self) -> float:
        """Transmission energy [J] (eq:thz_energy)."""
        power_w = self.power_w
        total_w = power_w.item() if len(power_w) == 1 else float(power_w.sum())
        return total_w * self.duration_ps * 1e-12


@dataclass(frozen=True, eq=False, slots=True)
class Stuck:
    """Ready chunks of one flow that no subband can carry, as rows of their graph."""

    number: int
    flow: int
    rows: IntArray
    since_ps: int
