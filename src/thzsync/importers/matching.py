"""Match operations of ranks: collectives by order, messages by sender, receiver and tag."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from thzsync.collectives import Transfer, find_collective
from thzsync.errors import ThzSyncError
from thzsync.importers.ranks import Call, Message, Operation, Recording, Work

Member = tuple[int, int]
"""A rank and the position of one of its operations."""
Group = tuple[str, tuple[int, ...]]
"""Name and ranks of a group."""
Route = tuple[int, int, int]
"""Sender, receiver and tag of messages."""


@dataclass(frozen=True, slots=True)
class Joint:
    """One node of the merged graph: work of one rank, or an operation of several."""

    ranks: tuple[int, ...]
    """The ranks, in the group's order; for a message, the sender first."""
    parts: tuple[Operation, ...]
    """Their operations, in the same order."""
    stands_for: tuple[Member, ...]
    """Operations that end with this one."""
    after: tuple[Member, ...]
    """Operations that must be done before."""

    @property
    def recorded_s(self) -> float | None:
        """Duration of the transfer: the time that the last rank to arrive spent in it [s]."""
        times = [p.recorded_s for p in self.parts if not isinstance(p, Work)]
        known = [t for t in times if t is not None]
        return min(known) if known else None


def _waits(rank: int, part: Operation) -> tuple[Member, ...]:
    return tuple((rank, position) for position in part.after)


def join(recording: Recording) -> list[Joint]:
    """All nodes of a recording; refuse ranks that contradict each other."""
    calls: dict[Group, dict[int, list[tuple[Member, Call]]]] = {}
    sends: dict[Route, list[tuple[Member, Message]]] = defaultdict(list)
    receives: dict[Route, list[tuple[Member, Message]]] = defaultdict(list)
    joints: list[Joint] = []
    for rank in sorted(recording.ranks):
        for position, part in enumerate(recording.ranks[rank]):
            member = (rank, position)
            if isinstance(part, Work):
                joints.append(Joint((rank,), (part,), (member,), _waits(rank, part)))
            elif isinstance(part, Call):
                of_rank = calls.setdefault((part.channel, part.group), {})
                of_rank.setdefault(rank, []).append((member, part))
            elif part.sends:
                sends[rank, part.peer, part.tag].append((member, part))
            else:
                receives[part.peer, rank, part.tag].append((member, part))
    for group, calls_of in calls.items():
        joints += _collectives(recording, group, calls_of)
    for route in dict.fromkeys([*sends, *receives]):
        joints += _messages(recording, route, sends.get(route, []), receives.get(route, []))
    return joints


def _collectives(
    recording: Recording, named: Group, calls: dict[int, list[tuple[Member, Call]]]
) -> Iterator[Joint]:
    channel, group = named
    place = f"{recording.source}: group {channel or 'of all'!r}"
    absent = [rank for rank in group if rank not in recording.ranks]
    if absent:
        raise ThzSyncError(
            f"{place}: rank {absent[0]} has no trace; give the files of all ranks, or let absent "
            "ranks do as the first with --world"
        )
    for rank in calls.keys() - set(group):
        raise ThzSyncError(
            f"{place}: rank {rank} takes part but is not in it, as happens when it only does as "
            "another rank does (--world); give the files of all ranks"
        )
    counts = {rank: len(calls.get(rank, ())) for rank in group}
    other = max(counts, key=lambda rank: counts[rank])
    for rank, count in counts.items():
        if count < counts[other]:
            raise ThzSyncError(
                f"{place}: rank {other} takes part in {counts[other]} collectives but rank {rank} "
                f"in {count}; are the traces of the same step?"
            )
    for number, joined in enumerate(zip(*(calls[rank] for rank in group), strict=True)):
        members, parts = zip(*joined, strict=True)
        _check_agreement(f"{place}: collective {number}", group, parts)
        # The others wait for a rank that arrives late.
        waits = map(_waits, group, parts)
        yield Joint(group, parts, members, tuple(chain.from_iterable(waits)))


def _check_agreement(place: str, group: tuple[int, ...], parts: tuple[Call, ...]) -> None:
    first = parts[0]
    # Sizes may differ between ranks if each has different bytes for every other.
    uneven = find_collective(first.kind).demand is Transfer
    for rank, part in zip(group, parts, strict=True):
        same_size = uneven or part.size_bytes == first.size_bytes
        if part.kind != first.kind or not same_size or part.root != first.root:
            raise ThzSyncError(
                f"{place}: rank {group[0]} does {_described(first)} but rank {rank} "
                f"{_described(part)}; are the traces of the same step?"
            )


def _described(call: Call) -> str:
    root = "" if call.root is None else f" at {call.root}"
    return f"{call.kind}{root} of {call.size_bytes} bytes ({call.label[:40]!r})"


def _messages(
    recording: Recording,
    route: Route,
    sends: list[tuple[Member, Message]],
    receives: list[tuple[Member, Message]],
) -> Iterator[Joint]:
    """Transfers, which wait only for their senders, and arrivals, which wait for the receiver.

    The receiver can always store a transfer. Otherwise a ring in which all ranks send before they
    receive would never proceed.
    """
    src, dst, tag = route
    if len(sends) != len(receives):
        found = "send" if len(sends) > len(receives) else "receive"
        label = (sends or receives)[-1][1].label[:40]
        raise ThzSyncError(
            f"{recording.source}: rank {src} sends {len(sends)} messages of tag {tag} to rank "
            f"{dst}, which receives {len(receives)}: a {found} ({label!r}) has no partner; give "
            "the files of all ranks"
        )
    for (a, sent), (b, received) in zip(sends, receives, strict=True):
        if sent.size_bytes != received.size_bytes:
            raise ThzSyncError(
                f"{recording.source}: rank {src} sends {sent.size_bytes} bytes "
                f"({sent.label[:40]!r}) but rank {dst} receives {received.size_bytes} "
                f"({received.label[:40]!r}); are the traces of the same step?"
            )
        done = (a,) if received.after else (a, b)
        yield Joint((src, dst), (sent, received), done, _waits(src, sent))
        if received.after:
            arrival = Work(received.after, 0.0, received.label, received.spot)
            yield Joint((dst,), (arrival,), (b,), (a, *_waits(dst, received)))
