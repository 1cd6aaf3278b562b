"""What a synthesis method is: a plan's structure, how its rounds are formed, how power is set."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.collectives import Demand, Kind, Plan
from thzsync.scenario import Thz


@dataclass(frozen=True, eq=False)
class Context:
    """What is known when an event is activated; rows and columns follow the event's racks."""

    gains: FloatArray
    """Channel power gain by (rack, rack, subband), linear; the diagonal is ignored."""
    delay_s: FloatArray
    """Expected lateness of every rack's own data [s]."""
    thz: Thz
    """The transceivers."""

    @staticmethod
    def flat(racks: int, thz: Thz) -> Context:
        """Equal gains and no delays, for callers that know neither."""
        return Context(np.ones((racks, racks, thz.subbands)), np.zeros(racks), thz)


class Synthesizer(Protocol):
    """Turns an event into flows, chunks and precedence."""

    def plan(self, demand: Demand, racks: IntArray, chunk_bytes: int, context: Context) -> Plan:
        """The plan of one event among ``racks`` (ascending), in chunks of ``chunk_bytes``."""
        ...


class Rounds(StrEnum):
    """How the wireless executor forms transmissions from what is ready."""

    MATCHING = "matching"
    """Rounds by greedy b-matching and augmentation (eq:a2a_matching)."""
    ASSIGNMENT = "assignment"
    """Rounds in which every ready transmission takes one subband (eq:ar_round_problem)."""
    STREAMING = "streaming"
    """No rounds: every flow sends chunk after chunk on its best free subband."""


@dataclass(frozen=True)
class Method:
    """A named way to carry out one kind of collective on the THz overlay."""

    kind: Kind
    name: str
    synthesizer: Synthesizer
    rounds: Rounds
    summary: str = ""
    channel_aware: bool = True
    """Whether gains guide the choice of transmissions and subbands."""
    optimal_power: bool = True
    """Minimum common duration at minimum power, or each budget split equally."""
    one_subband: bool = False
    """Whether the event keeps to one subband, the one whose weakest link is best."""

    def plan(self, demand: Demand, racks: IntArray, chunk_bytes: int, context: Context) -> Plan:
        """The plan of one event among ``racks`` (ascending), in chunks of ``chunk_bytes``."""
        plan = self.synthesizer.plan(demand, racks, chunk_bytes, context)
        return replace(plan, method=self.name)
