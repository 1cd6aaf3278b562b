"""What a policy sees, what it decides, and what it is told afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from thzsync.arrays import BoolArray, FloatArray, IntArray
from thzsync.collectives import Kind, Plan
from thzsync.errors import ThzSyncError


@dataclass(frozen=True, eq=False)
class Context:
    """The state of one event when it is activated, one row per flow (eq:bandit_flow_context)."""

    plan: Plan
    """Source, destination and chunk count of every flow."""
    racks: int
    """Racks on the floor, for normalising indices."""
    straggler: BoolArray
    """s: whether the flow's source rack is late."""
    queued_bytes: FloatArray
    """Q: bytes queued along the flow's wired path."""
    shared_occupancy: FloatArray
    """U: fullest shared buffer along the wired path, as a share."""
    gain_db: FloatArray
    """g: signal-to-noise ratio that one watt would give, per flow and subband [dB]."""
    power_levels: FloatArray
    """B: power budgets a rack may be given, as shares of its maximum, rising."""

    @property
    def kind(self) -> Kind:
        """Type of the collective."""
        return self.plan.kind

    @property
    def flows(self) -> int:
        """Number of flows."""
        return self.plan.flows


@dataclass(frozen=True, eq=False)
class Action:
    """THz chunks per flow and a power budget per rack (eq:bandit_action)."""

    thz_chunks: IntArray
    """n^H of every flow: its first n chunks go over THz."""
    power: FloatArray
    """Power budget as a share of the maximum, by position in ``plan.racks``; 0 if silent."""

    @staticmethod
    def uniform(plan: Plan, thz_share: float, power: float) -> Action:
        """The same share of every flow's chunks (rounded to even halves) and the same power."""
        counts = np.rint(plan.chunks * thz_share).astype(np.int64)
        return Action.of(plan, counts, np.full(len(plan.racks), power))

    @staticmethod
    def of(plan: Plan, thz_chunks: IntArray, power: FloatArray) -> Action:
        """From counts and levels; racks without THz chunks are silenced."""
        active = np.zeros(len(plan.racks), dtype=np.bool_)
        sending = plan.src[np.asarray(thz_chunks) > 0]
        active[np.searchsorted(plan.racks, sending)] = True
        return Action(np.asarray(thz_chunks, dtype=np.int64), np.where(active, power, 0.0))

    def check(self, context: Context) -> None:
        """Refuse counts outside the flow, powers outside the level set, power without chunks."""
        plan = context.plan
        if self.thz_chunks.shape != (plan.flows,) or self.power.shape != plan.racks.shape:
            raise ThzSyncError(
                f"action: needs {plan.flows} chunk counts and {len(plan.racks)} power budgets; "
                f"found {self.thz_chunks.shape} and {self.power.shape}"
            )
        outside = (self.thz_chunks < 0) | (self.thz_chunks > plan.chunks)
        if outside.any():
            flow = int(np.argmax(outside))
            raise ThzSyncError(
                f"action: flow {flow} has {int(self.thz_chunks[flow])} THz chunks; "
                f"use 0..{int(plan.chunks[flow])}"
            )
        sending = np.zeros(len(plan.racks), dtype=np.bool_)
        sending[np.searchsorted(plan.racks, plan.src[self.thz_chunks > 0])] = True
        for position, rack in enumerate(plan.racks):
            level = float(self.power[position])
            if not sending[position] and level != 0:
                raise ThzSyncError(f"action: rack {rack} sends no THz chunk but has power {level}")
            if sending[position] and not np.isclose(level, context.power_levels).any():
                allowed = ", ".join(f"{x:g}" for x in context.power_levels)
                raise ThzSyncError(f"action: rack {rack} has power {level}; use one of {allowed}")


@dataclass(frozen=True)
class Outcome:
    """What an event cost."""

    completion_s: float
    """T_e [s]."""
    energy_j: float
    """E_e, optical and THz [J]."""
    reward: float
    """Minus the weighted, normalised cost."""


class Policy(Protocol):
    """Decides every event's split and power, and learns from what it cost."""

    @property
    def name(self) -> str:
        """What tables call it."""
        ...

    def decide(self, context: Context) -> Action:
        """The action for an event that is being activated."""
        ...

    def learn(self, context: Context, action: Action, outcome: Outcome) -> None:
        """The delayed outcome of an earlier decision."""
        ...
