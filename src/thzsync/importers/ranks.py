"""What ranks did, whatever format told it: the form that every importer hands over.

A rank is a list of operations. An operation waits for others of its own rank, by position; what
binds ranks together are collectives, matched by group and order, and pairs of sends and receives.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from thzsync.collectives import collective_names
from thzsync.errors import ThzSyncError
from thzsync.workload import Phase


@dataclass(frozen=True, slots=True)
class Spot:
    """Where in the training step an operation belongs, as far as the format says."""

    stage: int | None = None
    """Pipeline stage; where absent, the placement decides."""
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
    """The whole tensor, all parts together; of an All-to-All, what this rank hands in [bytes]."""
    channel: str = ""
    """Name of the group; groups of the same ranks but another name count for themselves."""
    root: int | None = None
    """The rank at which a rooted collective begins or ends; the group's first when absent."""
    parts: tuple[int, ...] = ()
    """Bytes for each member of an uneven All-to-All, in the group's order; even when empty."""
    label: str = ""
    recorded_s: float | None = None
    """How long this rank was in it, waiting included [s]."""
    release_s: float = 0.0
    """Earliest start, counted from the iteration's start [s]."""
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


class Track:
    """One rank's operations so far."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self.last: tuple[int, ...] = ()
        """What the next operation waits for, by position."""

    def add(self, operation: Operation) -> int:
        """Put an operation beside the others; its position."""
        self.operations.append(operation)
        return len(self.operations) - 1

    def then(self, operation: Operation) -> None:
        """Put an operation that the next one waits for."""
        self.last = (self.add(operation),)


@dataclass(frozen=True, eq=False)
class Recording:
    """What a set of files tells of a training step."""

    source: str
    """What messages begin with: a file, or the first of several."""
    ranks: dict[int, list[Operation]]
    """Operations of every rank, by rank."""
    passed_over: Counter[str] = field(default_factory=Counter)
    """What was in the files and is not used, with how often."""
    recorded_s: float | None = None
    """How long the step took when it was recorded [s]."""


def known_kind(kind: str | None, name: str, place: str) -> str:
    """The collective that a format's name stands for; refuse one that means nothing here."""
    if kind is None:
        raise ThzSyncError(
            f"{place}: collective {name!r} is not known; known are {', '.join(collective_names())}"
        )
    return kind
