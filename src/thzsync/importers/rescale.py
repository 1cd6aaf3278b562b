"""More ranks than recorded: ranks without a file, and more data-parallel copies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain

from thzsync.errors import ThzSyncError
from thzsync.importers.ranks import Call, Message, Operation, Recording

_GRADIENTS = ("allreduce", "reduce-scatter")
"""Collectives of data-parallel groups."""

Group = tuple[str, tuple[int, ...]]


@dataclass(frozen=True)
class Rescaling:
    """Options for more data-parallel replicas."""

    times: int = 1
    """Copies of all ranks."""
    groups: tuple[str, ...] = ()
    """Names of the data-parallel groups; all groups that reduce gradients when empty."""


def fill(recording: Recording, world: int | None) -> Recording:
    """Let ranks without a trace do the same as the lowest rank with one."""
    if world is None or not recording.ranks:
        return recording
    check_world(world, max(recording.ranks))
    model = recording.ranks[min(recording.ranks)]
    if any(isinstance(part, Message) for part in model):
        raise ThzSyncError(
            f"{recording.source}: with --world, rank {min(recording.ranks)} stands for absent "
            "ranks, but it sends or receives from rank to rank; give the files of all ranks"
        )
    ranks = {rank: recording.ranks.get(rank, model) for rank in range(world)}
    return replace(recording, ranks=ranks)


def check_world(world: int, highest: int) -> None:
    """Refuse fewer ranks than there are traces."""
    if highest >= world:
        raise ThzSyncError(
            f"--world: found {world}, but there is a trace of rank {highest}; use more"
        )


def rescale(recording: Recording, rescaling: Rescaling, stages: int | None = None) -> Recording:
    """``times`` copies of all ranks, joined by the data-parallel groups.

    A copy computes and communicates like the original. In a data-parallel group all copies take
    part, with a tensor of the same size. Ranks get new numbers, so that the copies of a stage
    are neighbours.
    """
    if rescaling.times == 1:
        return recording
    if rescaling.times < 1:
        raise ThzSyncError(f"--data-parallel: found {rescaling.times}; use 1 or more")
    copies = _Copies(recording, rescaling, stages or 1)
    ranks = {
        copies.number(rank, copy): [copies.moved(part, copy) for part in parts]
        for copy in range(rescaling.times)
        for rank, parts in recording.ranks.items()
    }
    return replace(recording, ranks=ranks, recorded_s=None)


class _Copies:
    """Numbers of the copies of every rank, and their operations."""

    def __init__(self, recording: Recording, rescaling: Rescaling, stages: int) -> None:
        self.source = recording.source
        self.joined = data_parallel(recording, rescaling.groups)
        self.times = rescaling.times
        self.position = {rank: place for place, rank in enumerate(sorted(recording.ranks))}
        self.width = max(1, len(self.position) // stages)
        """Ranks of one stage."""

    def number(self, rank: int, copy: int) -> int:
        """Stage by stage, copy by copy."""
        if rank not in self.position:
            raise ThzSyncError(
                f"{self.source}: rank {rank} has no trace; --data-parallel needs those of all ranks"
            )
        stage, inside = divmod(self.position[rank], self.width)
        return (stage * self.times + copy) * self.width + inside

    def moved(self, part: Operation, copy: int) -> Operation:
        """The operation of a copy for the original's ``part``."""
        if isinstance(part, Message):
            return replace(part, peer=self.number(part.peer, copy))
        if not isinstance(part, Call):
            return part
        joined = (part.channel, part.group) in self.joined
        met = range(self.times) if joined else (copy,)
        group = tuple(sorted(self.number(rank, c) for c in met for rank in part.group))
        root = None if part.root is None else self.number(part.root, 0 if joined else copy)
        return replace(part, group=group, root=root, parts=() if joined else part.parts)


def data_parallel(recording: Recording, names: tuple[str, ...]) -> set[Group]:
    """The groups that sum gradients: those named, or those recognised by their collectives."""
    kinds: dict[Group, set[str]] = {}
    for part in chain.from_iterable(recording.ranks.values()):
        if isinstance(part, Call):
            kinds.setdefault((part.channel, part.group), set()).add(part.kind)
    if names:
        unknown = [name for name in names if all(name != channel for channel, _ in kinds)]
        if unknown:
            known = ", ".join(dict.fromkeys(channel for channel, _ in kinds))
            raise ThzSyncError(
                f"--groups-joined: no group {unknown[0]!r} in {recording.source}; use {known}"
            )
        return {group for group in kinds if group[0] in names}
    found = {g for g, of in kinds.items() if of.intersection(_GRADIENTS) and "a2a" not in of}
    if not found:
        raise ThzSyncError(
            f"{recording.source}: no group sums gradients, so its data-parallel width cannot grow; "
            "name the groups with --groups-joined"
        )
    return found
