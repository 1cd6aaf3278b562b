"""Faults: what fails, and when."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from thzsync.scenario.base import Fraction, Index, Instant, Model


class _Window(Model):
    """A span of simulated time."""

    start_s: Instant
    """When the fault begins [s]."""
    end_s: Instant
    """When the fault ends [s]."""
    kind: str
    """Which fault this is."""

    @model_validator(mode="after")
    def _ordered(self) -> _Window:
        if self.end_s <= self.start_s:
            raise ValueError(f"end_s ({self.end_s}) must be after start_s ({self.start_s})")
        return self


class TransceiverDown(_Window):
    """A rack's THz transceiver is dead."""

    kind: Literal["transceiver-down"]
    rack: Index
    """The rack (from 0)."""


class SubbandJammed(_Window):
    """No rack can use a subband."""

    kind: Literal["subband-jammed"]
    subband: Index
    """The subband (from 0)."""


class PairBlocked(_Window):
    """Two racks cannot reach each other over THz."""

    kind: Literal["pair-blocked"]
    racks: tuple[Index, Index]
    """The two racks (from 0)."""

    @model_validator(mode="after")
    def _two_racks(self) -> PairBlocked:
        if self.racks[0] == self.racks[1]:
            raise ValueError(f"racks: {list(self.racks)} names one rack twice; name two racks")
        return self


class FibreDegraded(_Window):
    """A fibre is down or slower, in both directions."""

    kind: Literal["fibre"]
    rack: Index | None = None
    """The rack of an access fibre; or give switches."""
    switches: tuple[Index, Index] | None = None
    """The two switches that the fibre connects (from 0, in the network's order); or give rack."""
    rings: tuple[Index, Index] | None = None
    """The same in the paper's network, where switch s is that of ring s."""
    rate_share: Fraction = 0.0
    """Remaining rate, as a share of the full rate; 0 means down."""

    @model_validator(mode="after")
    def _one_fibre(self) -> FibreDegraded:
        if [self.rack, self.switches, self.rings].count(None) != 2:
            raise ValueError("give one of rack (an access fibre), switches and rings (two of them)")
        return self

    @property
    def ends(self) -> tuple[int, int] | None:
        """The two switches; None for an access fibre."""
        return self.rings if self.switches is None else self.switches


class ComputeFrozen(_Window):
    """A rack produces no data."""

    kind: Literal["compute-frozen"]
    rack: Index
    """The rack (from 0)."""


Fault = Annotated[
    TransceiverDown | SubbandJammed | PairBlocked | FibreDegraded | ComputeFrozen,
    Field(discriminator="kind"),
]
