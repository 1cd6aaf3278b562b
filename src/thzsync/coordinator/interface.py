"""What a policy sees, what it decides, and what it learns from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np

from thzsync.arrays import BoolArray, FloatArray, IntArray
from thzsync.carriers import THZ
from thzsync.errors import ThzSyncError
from thzsync.network import Network
from thzsync.scenario import Scenario
from thzsync.synthesis import Offer


@dataclass(frozen=True, eq=False)
class Terms:
    """Capacities of the data centre and prices, for policies with a cost model."""

    scenario: Scenario
    network: Network
    per_s: float
    """Reward lost per second [1/s]."""
    per_j: float
    """Reward lost per joule [1/J]."""


@dataclass(frozen=True, eq=False)
class Situation:
    """An event to decide, one row per unit (eq:bandit_flow_context)."""

    decision: int
    """Number of the decision in its run; the outcome has the same number."""
    offer: Offer
    """What can be split: links and chunk count of every unit."""
    racks: int
    """Racks of the floor, for normalising indices."""
    straggler: BoolArray
    """s: whether a source rack of the unit is a straggler."""
    queued_bytes: FloatArray
    """Q: bytes queued along the fullest of the unit's wired paths."""
    shared_occupancy: FloatArray
    """U: largest filling of a shared buffer along the wired paths, as a share."""
    snr_db_per_w: FloatArray
    """g: signal-to-noise ratio at one watt, by unit (its weakest link) and subband [dB]."""
    power_levels: FloatArray
    """B: power budgets that a rack may get, as shares of its maximum, ascending."""
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
    """Chunks per unit and carrier, and a power budget per rack (eq:bandit_action)."""

    chunks: IntArray
    """Chunks by (unit, carrier beside fibre), in the scenario's order; a vector means THz."""
    power: FloatArray
    """Power budget as a share of the maximum, by position in ``offer.racks``; 0 if silent."""

    def __post_init__(self) -> None:
        if self.chunks.ndim == 1:
            object.__setattr__(self, "chunks", self.chunks[:, None])

    @cached_property
    def thz_chunks(self) -> IntArray:
        """n^H: number of THz chunks of every unit."""
        return np.ascontiguousarray(self.chunks[:, THZ - 1])

    @staticmethod
    def uniform(offer: Offer, thz_share: float, power: float) -> Action:
        """The same share of every unit's chunks (rounded to even halves) and the same power."""
        counts = np.rint(offer.chunks * thz_share).astype(np.int64)
        return Action.of(offer, counts, np.full(len(offer.racks), power))

    @staticmethod
    def of(offer: Offer, chunks: IntArray, power: FloatArray) -> Action:
        """From counts and power; racks without THz chunks get power 0."""
        counts = np.asarray(chunks, dtype=np.int64)
        on_thz = counts if counts.ndim == 1 else counts[:, THZ - 1]
        return Action(counts, np.where(offer.sending(on_thz), power, 0.0))

    def check(self, situation: Situation) -> None:
        """Refuse counts outside the unit, powers outside the level set, power without chunks."""
        offer = situation.offer
        if self.chunks.shape[0] != offer.units or self.power.shape != offer.racks.shape:
            raise ThzSyncError(
                f"action: needs {offer.units} chunk counts and {len(offer.racks)} power budgets; "
                f"found {self.chunks.shape} and {self.power.shape}"
            )
        self._check_chunks(offer)
        levels = situation.power_levels
        sending = offer.sending(self.thz_chunks)
        near = np.abs(self.power[:, None] - levels) <= 1e-8 + 1e-5 * levels
        known: BoolArray = np.logical_or.reduce(near, axis=1)
        for position in np.flatnonzero(~np.where(sending, known, self.power == 0)).tolist():
            rack, level = offer.racks[position], float(self.power[position])
            if not sending[position]:
                raise ThzSyncError(f"action: rack {rack} sends no THz chunk but has power {level}")
            allowed = ", ".join(f"{x:g}" for x in levels)
            raise ThzSyncError(f"action: rack {rack} has power {level}; use one of {allowed}")

    def _check_chunks(self, offer: Offer) -> None:
        what = "THz chunks" if self.chunks.shape[1] == 1 else "chunks on carriers beside fibre"
        outside = (self.chunks < 0).any(axis=1) | (self.chunks.sum(axis=1) > offer.chunks)
        for unit in np.flatnonzero(outside).tolist():
            counts = ", ".join(map(str, self.chunks[unit].tolist()))
            raise ThzSyncError(
                f"action: unit {unit} has {counts} {what}; use 0..{int(offer.chunks[unit])}"
            )
        closed = (self.chunks > 0) & ~offer.open_to(self.chunks.shape[1])
        for unit, column in np.argwhere(closed).tolist():
            raise ThzSyncError(
                f"action: unit {unit} may not use carrier {column + 1}; see its offer"
            )


@dataclass(frozen=True)
class Outcome:
    """Cost of an event."""

    decision: int
    """Number of the decision."""
    completion_s: float
    """T_e [s]."""
    energy_j: float
    """E_e, optical and THz [J]."""
    reward: float
    """Minus the weighted, normalised cost."""
    fibre_s: float = 0.0
    """Arrival of the last wired chunk, counted like ``completion_s``; 0 without any [s]."""
    air_s: float = 0.0
    """Arrival of the last THz chunk; 0 without any [s]."""
    further_s: tuple[float, ...] = ()
    """The same of every further carrier [s]."""


class Policy(Protocol):
    """Decides every event's split and power, and learns from the outcomes."""

    @property
    def name(self) -> str:
        """Name in tables."""

    def decide(self, situation: Situation) -> Action:
        """The action for an event that is being activated."""

    def learn(self, situation: Situation, action: Action, outcome: Outcome) -> None:
        """Learn from the outcome of an earlier decision."""


State = dict[str, Any]
"""What a policy knows, by name: NumPy arrays, and plain values as in JSON."""


@runtime_checkable
class LearningPolicy(Policy, Protocol):
    """A policy whose knowledge can be saved, restored and frozen.

    A file fits a run with the same racks, subbands, power levels and carriers. A policy that needs
    more to agree, or less, says so in an attribute ``shape`` with plain values by name.
    """

    def state(self) -> State:
        """All that later decisions depend on, random generators included."""

    def load(self, state: State) -> None:
        """Take over what ``state`` returned; a new run may follow, which counts from 0 again."""

    def freeze(self) -> None:
        """Neither explore nor learn from now on."""
