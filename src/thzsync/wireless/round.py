"""What the overlay sends: transmissions that start together."""

from __future__ import annotations

from dataclasses import dataclass

from thzsync.arrays import FloatArray, IntArray


@dataclass(eq=False, slots=True)
class Round:
    """Transmissions of one event that start together; without common rounds, a single one.

    Nobody changes one, but there are ten thousands: freezing them would make them three times as
    dear.
    """

    number: int
    """The event."""
    party: int
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
    flow: IntArray
    first_chunk: IntArray
    """First chunk of the flow that a transmission carries."""
    chunks: IntArray
    """How many consecutive chunks it carries."""
    delivers: int
    """Chunks of all transmissions."""
    src: IntArray
    dst: IntArray
    subband: IntArray
    power_w: FloatArray
    gain: FloatArray
    """Channel power gain g_ij^c, linear, at the round's start."""
    size_bytes: IntArray
    local_flow: IntArray
    """Number of every flow within its party."""

    @property
    def duration_ps(self) -> int:
        """Time in which data is sent [ps]."""
        return self.end_ps - self.start_ps - self.overhead_ps

    @property
    def energy_j(self) -> float:
        """Transmission energy [J] (eq:thz_energy)."""
        power_w = self.power_w
        total_w = float(power_w[0]) if len(power_w) == 1 else float(power_w.sum())
        return total_w * self.duration_ps * 1e-12


@dataclass(frozen=True, eq=False, slots=True)
class Stuck:
    """Ready chunks of one flow that no subband can carry, as rows of their graph."""

    number: int
    flow: int
    rows: IntArray
    since_ps: int
