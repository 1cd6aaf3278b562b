"""Disciplines without rounds: every flow sends chunk after chunk, whatever the others do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from thzsync.wireless.bookkeeping import Started
from thzsync.wireless.party import Party
from thzsync.wireless.streaming import stream
from thzsync.wireless.sustaining import sustain


@dataclass(frozen=True)
class Streaming:
    """Every flow on its best free subband, at an equal share of its sender's budget."""

    name: str
    flights: int = 1
    """Transmissions that a flow may have in the air at once, each on a subband of its own."""
    common: bool = False
    guarded: bool = False
    steers: bool = False

    @property
    def in_turn(self) -> bool:
        """One transmission of a flow at a time, where it may have no more."""
        return self.flights == 1

    def tune(self, party: Party) -> None:
        """Nothing to prepare: each transmission looks at the gains itself."""

    def start(self, party: Party, now_ps: int) -> Started:
        """The next transmission of every flow that may send."""
        far = party.farsighted and self.in_turn
        return stream(party.seat, party.stage, self.flights, far, now_ps)


NO_LEAD: Final = np.ones(0)
"""Where nothing is passed on, nobody waits for a flow."""


@dataclass(frozen=True)
class Sustained:
    """Links of the busiest racks, held for a while; every link sends what its rate allows."""

    name: str
    hold_s: float = 1e-4
    """How long a link is to be held [s]; for a chunk at least."""
    relayed: bool = False
    """Whether chunks are passed on: power is then spread evenly, and nobody may lag behind."""
    common: bool = False
    guarded: bool = False
    steers: bool = True
    in_turn: bool = False

    def tune(self, party: Party) -> None:
        """Nothing to prepare: rates are looked at in every round."""

    def start(self, party: Party, now_ps: int) -> Started:
        """The next transmissions."""
        lead = party.lead if self.relayed else NO_LEAD
        return sustain(party.seat, party.stage, self.hold_s, self.relayed, lead, now_ps)


STREAMS: Final = (
    Streaming("streaming"),
    Streaming("striping", flights=64),
    Sustained("sustained"),
    Sustained("sustained-chunk", hold_s=0.0, relayed=True),
)
