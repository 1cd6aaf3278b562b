"""The protocols of the two carriers: fibre, which has the clock, and THz."""

from __future__ import annotations

from typing import Protocol

from thzsync.arrays import BoolArray, FloatArray, IntArray
from thzsync.transfers import TransferGraph
from thzsync.transfers.batch import ChunkBatch
from thzsync.transfers.ledger import Deliveries, Ledger, Reports
from thzsync.wireless import Round, Stuck


class Fibre(Protocol):
    """The carrier with the clock of the simulation: a packet fabric, or a bare :class:`Ledger`.

    Its own chunks start inside ``advance`` when they are ready.
    """

    @property
    def ledger(self) -> Ledger:
        """Precedence and ownership of all chunks on either carrier."""

    def submit(self, batch: ChunkBatch, at_ps: int) -> int:
        """Add an event's nodes; return the number of the first."""

    def advance(self, until_ps: int) -> Reports:
        """Run to the next report, or to ``until_ps``."""

    def complete(self, nodes: IntArray, at_ps: int) -> None:
        """Mark chunks of the other carrier as arrived."""

    def to_fibre(self, nodes: IntArray, at_ps: int) -> None:
        """Take chunks over."""

    def to_air(self, nodes: IntArray, at_ps: int) -> BoolArray:
        """Release chunks of which no packet has left; return which ones."""

    def finished(self, base: int, count: int) -> Deliveries:
        """Times at which nodes were ready and arrived."""

    def retire(self, base: int) -> None:
        """Forget a finished event."""


class Air(Protocol):
    """A carrier without a clock: it returns what starts now, and is told when that ends."""

    def admit(self, number: int, graph: TransferGraph, budget_w: FloatArray, rank: int) -> None:
        """Add an event's chunks; lower ranks are served first."""

    def ready(self, number: int, rows: IntArray) -> None:
        """Mark chunks as ready to be sent."""

    def dispatch(self, now_ps: int) -> list[Round]:
        """Start all rounds that can start."""

    def finish(self, ended: Round) -> None:
        """Note the end of a round."""

    def withdraw(self, number: int, rows: IntArray) -> None:
        """Release chunks that have not been sent."""

    def adopt(self, number: int, rows: IntArray) -> None:
        """Take chunks over."""

    def waiting(self) -> list[Stuck]:
        """Chunks that no subband can carry, and since when."""

    def next_change_ps(self, now_ps: int) -> int:
        """When a changed channel may let something start [ps]."""

    def retire(self, number: int) -> None:
        """Forget a finished event."""
