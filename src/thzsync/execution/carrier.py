"""What the executor asks of whatever carries chunks."""

from __future__ import annotations

from typing import Protocol

from thzsync.arrays import BoolArray, FloatArray, IntArray
from thzsync.transfers import TransferGraph
from thzsync.transfers.batch import ChunkBatch
from thzsync.transfers.ledger import Deliveries, Ledger, Reports
from thzsync.wireless import Round, Stuck


class Fibre(Protocol):
    """The carrier under whose clock everything runs: a packet fabric, or a bare :class:`Ledger`.

    It takes ready chunks of its own inside ``advance``, without being asked.
    """

    @property
    def ledger(self) -> Ledger:
        """Precedence and ownership of all chunks, whoever carries them."""
        ...

    def submit(self, batch: ChunkBatch, at_ps: int) -> int:
        """Take on an event's nodes."""
        ...

    def advance(self, until_ps: int) -> Reports:
        """Run to the first instant with something to report."""
        ...

    def complete(self, nodes: IntArray, at_ps: int) -> None:
        """Chunks that another carrier had have arrived."""
        ...

    def to_fibre(self, nodes: IntArray, at_ps: int) -> None:
        """Take chunks over."""
        ...

    def to_air(self, nodes: IntArray, at_ps: int) -> BoolArray:
        """Let chunks go that have not begun to leave; which ones could go."""
        ...

    def finished(self, base: int, count: int) -> Deliveries:
        """When nodes were ready, and when they arrived."""
        ...

    def retire(self, base: int) -> None:
        """Forget a finished event."""
        ...


class Air(Protocol):
    """A carrier without a clock: it says what starts now, and is told when that has ended."""

    def admit(self, number: int, graph: TransferGraph, budget_w: FloatArray, rank: int) -> None:
        """Take on an event's chunks; lower ranks are served first."""
        ...

    def ready(self, number: int, rows: IntArray) -> None:
        """Chunks may be sent."""
        ...

    def dispatch(self, now_ps: int) -> list[Round]:
        """Start what can start."""
        ...

    def finish(self, ended: Round) -> None:
        """A round has ended."""
        ...

    def withdraw(self, number: int, rows: IntArray) -> None:
        """Let chunks go that have not been sent."""
        ...

    def adopt(self, number: int, rows: IntArray) -> None:
        """Take chunks over."""
        ...

    def waiting(self) -> list[Stuck]:
        """Chunks that cannot be sent, and since when."""
        ...

    def next_change_ps(self, now_ps: int) -> int:
        """When it is worth trying again."""
        ...

    def retire(self, number: int) -> None:
        """Forget a finished event."""
        ...
