"""Operations of ranks: the form that every importer returns.

A rank is a list of operations. An operation waits for others of its own rank, by position. Two
things connect ranks: collectives, matched by group and order, and pairs of sends and receives.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from thzsync.collectives import collective_names
from thzsync.errors import ThzSyncError
from thzsync.workload import Phase


@dataclass(frozen=True, slots=True)
class Spot:
    """The place of an operation in the training step, as far as the format says."""

    stage: int | None = None
    """Pipeline stage; the placement decides when absent."""
    phase: Phase = Phase.FORWARD
    microbatch: int = 0


NOWHERE = Spot()


@dataclass(frozen=True, slots=True)
class Work:
    """Compute of one rank."""

    after: tuple[int, ...]
    """Operations of the same rank that must be done before, by position."""
    duration_s: float
    label: str = ""
    spot: Spot = NOWHERE


@dataclass(frozen=True, slots=True)
class Call:
    """One rank's part in a collective."""

    after: tuple[int, ...]
    kind: str
    """Name of the collective."""
    group: tuple[int, ...]
    """Ranks that take part, ascending."""
    size_bytes: int
    """The whole tensor; for an All-to-All, the bytes of this rank [bytes]."""
    channel: str = ""
    """Name of the group; groups of the same ranks with different names are different."""
    root: int | None = None
    """Root of a rooted collective; the group's first rank when absent."""
    parts: tuple[int, ...] = ()
    """Bytes for each member of an uneven All-to-All, in the group's order; even when empty."""
    label: str = ""
    recorded_s: float | None = None
    """Time of this rank in it, including waiting [s]."""
    release_s: float = 0.0
    """Earliest start after the iteration's start [s]."""
    spot: Spot = NOWHERE


@dataclass(frozen=True, slots=True)
class Message:
    """One end of a transfer from rank to rank."""

    after: tuple[int, ...]
    sends: bool
    peer: int
    size_bytes: int
    tag: int = 0
    label: str = ""
    recorded_s: float | None = None
    release_s: float = 0.0
    spot: Spot = NOWHERE


Operation = Work | Call | Message


@dataclass
class Track:
    """The operations of one rank so far."""

    operations: list[Operation] = field(default_factory=list, init=False)
    last: tuple[int, ...] = field(default=(), init=False)
    """Operations that the next one waits for, by position."""

    def add(self, operation: Operation) -> int:
        """Add an operation that the next one does not wait for; return its position."""
        self.operations.append(operation)
        return len(self.operations) - 1

    def then(self, operation: Operation) -> None:
        """Add an operation that the next one waits for."""
        self.last = (self.add(operation),)


@dataclass(frozen=True, eq=False)
class Recording:
    """A training step from a set of files."""

    source: str
    """How messages begin: a file, or the first of several."""
    ranks: dict[int, list[Operation]]
    """Operations of every rank, by rank."""
    passed_over: Counter[str] = field(default_factory=Counter)
    """Unused contents of the files, with counts."""
    recorded_s: float | None = None
    """Recorded duration of the step [s]."""


def known_kind(kind: str | None, name: str, place: str) -> str:
    """The collective that a format's name stands for; refuse an unknown name."""
    if kind is None:
        raise ThzSyncError(
            f"{place}: collective {name!r} is not known; known are {', '.join(collective_names())}"
        )
    return kind
