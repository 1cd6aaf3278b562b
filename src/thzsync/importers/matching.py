"""Which operations of different ranks are one: collectives by order, messages by their ends."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from thzsync.collectives import Transfer, find_collective
from thzsync.errors import ThzSyncError
from thzsync.importers.ranks import Call, Message, Operation, Recording, Work

Member = tuple[int, int]
"""A rank and the position of one of its operations."""


@dataclass(frozen=True, slots=True)
class Joint:
    """One node of the merged graph: work of one rank, or what several do together."""

    ranks: tuple[int, ...]
    """Who takes part, in the group's order; of a message, the sender first."""
    parts: tuple[Operation, ...]
    """Their operations, in the same order."""
    stands_for: tuple[Member, ...]
    """Operations that are done when this is."""
    after: tuple[Member, ...]
    """Operations that must be done before."""

    @property
    def recorded_s(self) -> float | None:
        """How long the transfer took: what the last to arrive spent in it [s]."""
        times = [p.recorded_s for p in self.parts if not isinstance(p, Work)]
        known = [t for t in times if t is not None]
        return min(known) if known else None


def _waits(rank: int, part: Operation) -> tuple[Member, ...]:
    return tuple((rank, position) for position in part.after)


def join(recording: Recording) -> list[Joint]:
    """All nodes of a recording; refuse ranks that do not fit together."""
    calls: dict[tuple[str, tuple[int, ...]], dict[int, list[Member]]] = {}
    sends: dict[tuple[int, int, int], list[Member]] = defaultdict(list)
    receives: dict[tuple[int, int, int], list[Member]] = defaultdict(list)
    joints: list[Joint] = []
    for rank in sorted(recording.ranks):
        for position, part in enumerate(recording.ranks[rank]):
            member = (rank, position)
            if isinstance(part, Work):
                joints.append(Joint((rank,), (part,), (member,), _waits(rank, part)))
            elif isinstance(part, Call):
                of_rank = calls.setdefault((part.channel, part.group), {})
                of_rank.setdefault(rank, []).append(member)
            elif part.sends:
                sends[rank, part.peer, part.tag].append(member)
            else:
                receives[part.peer, rank, part.tag].append(member)
    for (channel, group), of_rank in calls.items():
        joints += _collectives(recording, channel, group, of_rank)
    joints += _messages(recording, sends, receives)
    return joints


def _operation(recording: Recording, member: Member) -> Operation:
    return recording.ranks[member[0]][member[1]]


def _collectives(
    recording: Recording,
    channel: str,
    group: tuple[int, ...],
    of_rank: dict[int, list[Member]],
) -> Iterator[Joint]:
    place = f"{recording.source}: group {channel or 'of all'!r}"
    for rank in group:
        if rank not in recording.ranks:
            raise ThzSyncError(
                f"{place}: rank {rank} has no trace; give the files of all ranks, or let absent "
                "ranks do as the first with --world"
            )
    counts = {rank: len(of_rank.get(rank, ())) for rank in group}
    most = max(counts.values())
    for rank, count in counts.items():
        if count < most:
            other = next(r for r, c in counts.items() if c == most)
            raise ThzSyncError(
                f"{place}: rank {other} takes part in {most} collectives but rank {rank} in "
                f"{count}; are the traces of the same step?"
            )
    for number, members in enumerate(zip(*(of_rank[rank] for rank in group), strict=True)):
        parts = tuple(_operation(recording, member) for member in members)
        _check_agreement(f"{place}: collective {number}", members, parts)
        # A rank that arrives late is waited for.
        after = tuple(
            w for rank, part in zip(group, parts, strict=True) for w in _waits(rank, part)
        )
        yield Joint(group, parts, tuple(members), after)


def _check_agreement(place: str, members: tuple[Member, ...], parts: tuple[Operation, ...]) -> None:
    first = parts[0]
    assert isinstance(first, Call)
    for (rank, _), part in zip(members, parts, strict=True):
        assert isinstance(part, Call)
        # What ranks hand in may differ where each has bytes of its own for each other.
        uneven = find_collective(first.kind).demand is Transfer
        same_size = uneven or part.size_bytes == first.size_bytes
        if part.kind != first.kind or not same_size or part.root != first.root:
            raise ThzSyncError(
                f"{place}: rank {members[0][0]} does {_described(first)} but rank {rank} "
                f"{_described(part)}; are the traces of the same step?"
            )


def _described(call: Call) -> str:
    root = "" if call.root is None else f" at {call.root}"
    return f"{call.kind}{root} of {call.size_bytes} bytes ({call.label[:40]!r})"


def _messages(
    recording: Recording,
    sends: dict[tuple[int, int, int], list[Member]],
    receives: dict[tuple[int, int, int], list[Member]],
) -> Iterator[Joint]:
    for key in dict.fromkeys([*sends, *receives]):
        out, into = sends.get(key, []), receives.get(key, [])
        if len(out) != len(into):
            src, dst, tag = key
            found = "send" if len(out) > len(into) else "receive"
            label = _operation(recording, (out or into)[-1]).label[:40]
            raise ThzSyncError(
                f"{recording.source}: rank {src} sends {len(out)} messages of tag {tag} to rank "
                f"{dst}, which receives {len(into)}: a {found} ({label!r}) has no partner; give "
                "the files of all ranks"
            )
        for a, b in zip(out, into, strict=True):
            yield from _message(a, b, *_checked_pair(recording, a, b))


def _message(a: Member, b: Member, sent: Operation, received: Operation) -> Iterator[Joint]:
    """A transfer, which waits for its sender alone, and its arrival where the receiver has to come.

    The receiver has room for it: a ring in which everybody sends before it receives would never
    move otherwise.
    """
    ends, parts = (a[0], b[0]), (sent, received)
    if not received.after:
        yield Joint(ends, parts, (a, b), _waits(a[0], sent))
        return
    yield Joint(ends, parts, (a,), _waits(a[0], sent))
    arrival = Work(received.after, 0.0, received.label, received.spot)
    yield Joint((b[0],), (arrival,), (b,), (a, *_waits(b[0], received)))


def _checked_pair(recording: Recording, a: Member, b: Member) -> tuple[Operation, Operation]:
    sent, received = _operation(recording, a), _operation(recording, b)
    assert isinstance(sent, Message)
    assert isinstance(received, Message)
    if sent.size_bytes != received.size_bytes:
        raise ThzSyncError(
            f"{recording.source}: rank {a[0]} sends {sent.size_bytes} bytes ({sent.label[:40]!r}) "
            f"but rank {b[0]} receives {received.size_bytes} ({received.label[:40]!r}); are the "
            "traces of the same step?"
        )
    return sent, received
