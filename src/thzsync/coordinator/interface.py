"""What a policy sees, what it decides, and what it is told afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from thzsync.arrays import BoolArray, FloatArray, IntArray
from thzsync.errors import ThzSyncError
from thzsync.network import Network
from thzsync.scenario import Scenario
from thzsync.synthesis import Offer


@dataclass(frozen=True, eq=False)
class Terms:
    """What is known of the data centre, for policies with a cost model: capacities and prices."""

    scenario: Scenario
    network: Network
    per_s: float
    """Reward that a second costs."""
    per_j: float
    """Reward that a joule costs."""


@dataclass(frozen=True, eq=False)
class Situation:
    """An event that is to be decided, one row per unit (eq:bandit_flow_context)."""

    decision: int
    """Number of the decision in its run; the outcome will carry it."""
    offer: Offer
    """What can be split: links and chunk count of every unit."""
    racks: int
    """Racks on the floor, for normalising indices."""
    straggler: BoolArray
    """s: whether a source rack of the unit is late."""
    queued_bytes: FloatArray
    """Q: bytes queued along the unit's wired paths, the fullest one's."""
    shared_occupancy: FloatArray
    """U: fullest shared buffer along the wired paths, as a share."""
    snr_db_per_w: FloatArray
    """g: signal-to-noise ratio that one watt would give, per unit and subband, the weakest link's
    [dB]."""
    power_levels: FloatArray
    """B: power budgets a rack may be given, as shares of its maximum, rising."""
    terms: Terms | None = None
    """Capacities and prices, where the caller knows them."""

    @property
    def kind(self) -> str:
        """Name of the collective."""
        return self.offer.kind

    @property
    def units(self) -> int:
        """Number of units."""
        return self.offer.units


@dataclass(frozen=True, eq=False)
class Action:
    """THz chunks per unit and a power budget per rack (eq:bandit_action)."""

    thz_chunks: IntArray
    """n^H of every unit: so many of its chunks go over THz."""
    power: FloatArray
    """Power budget as a share of the maximum, by position in ``offer.racks``; 0 if silent."""

    @staticmethod
    def uniform(offer: Offer, thz_share: float, power: float) -> Action:
        """The same share of every unit's chunks (rounded to even halves) and the same power."""
        counts = np.rint(offer.chunks * thz_share).astype(np.int64)
        return Action.of(offer, counts, np.full(len(offer.racks), power))

    @staticmethod
    def of(offer: Offer, thz_chunks: IntArray, power: FloatArray) -> Action:
        """From counts and levels; racks without THz chunks are silenced."""
        counts = np.asarray(thz_chunks, dtype=np.int64)
        return Action(counts, np.where(offer.sending(counts), power, 0.0))

    def check(self, situation: Situation) -> None:
        """Refuse counts outside the unit, powers outside the level set, power without chunks."""
        offer = situation.offer
        if self.thz_chunks.shape != (offer.units,) or self.power.shape != offer.racks.shape:
            raise ThzSyncError(
                f"action: needs {offer.units} chunk counts and {len(offer.racks)} power budgets; "
                f"found {self.thz_chunks.shape} and {self.power.shape}"
            )
        outside = (self.thz_chunks < 0) | (self.thz_chunks > offer.chunks)
        if outside.any():
            unit = int(np.argmax(outside))
            raise ThzSyncError(
                f"action: unit {unit} has {int(self.thz_chunks[unit])} THz chunks; "
                f"use 0..{int(offer.chunks[unit])}"
            )
        sending = offer.sending(self.thz_chunks)
        levels = situation.power_levels
        near = np.abs(self.power[:, None] - levels) <= 1e-8 + 1e-5 * levels
        known: BoolArray = np.logical_or.reduce(near, axis=1)
        if np.where(sending, known, self.power == 0).all():
            return
        for position, rack in enumerate(offer.racks):
            level = float(self.power[position])
            if not sending[position] and level != 0:
                raise ThzSyncError(f"action: rack {rack} sends no THz chunk but has power {level}")
            if sending[position] and not known[position]:
                allowed = ", ".join(f"{x:g}" for x in situation.power_levels)
                raise ThzSyncError(f"action: rack {rack} has power {level}; use one of {allowed}")


@dataclass(frozen=True)
class Outcome:
    """What an event cost."""

    decision: int
    """The decision that led to it."""
    completion_s: float
    """T_e [s]."""
    energy_j: float
    """E_e, optical and THz [J]."""
    reward: float
    """Minus the weighted, normalised cost."""
    fibre_s: float = 0.0
    """When the last wired chunk was there, counted like ``completion_s``; 0 without any [s]."""
    air_s: float = 0.0
    """When the last THz chunk was there; 0 without any [s]."""


class Policy(Protocol):
    """Decides every event's split and power, and learns from what it cost."""

    @property
    def name(self) -> str:
        """What tables call it."""
        ...

    def decide(self, situation: Situation) -> Action:
        """The action for an event that is being activated."""
        ...

    def learn(self, situation: Situation, action: Action, outcome: Outcome) -> None:
        """The delayed outcome of an earlier decision."""
        ...
