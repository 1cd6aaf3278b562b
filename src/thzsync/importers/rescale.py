"""Wider than recorded: absent ranks that do as one that is known, and more data-parallel copies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from thzsync.errors import ThzSyncError
from thzsync.importers.options import Rescaling
from thzsync.importers.ranks import Call, Message, Operation, Recording

_GRADIENTS = ("allreduce", "reduce-scatter")
"""Collectives by which data-parallel groups are known."""

Group = tuple[str, tuple[int, ...]]


def fill(recording: Recording, world: int | None) -> Recording:
    """Ranks without a trace do what the lowest rank with one does."""
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
    """Refuse fewer ranks than there are traces of."""
    if highest >= world:
        raise ThzSyncError(
            f"--world: found {world}, but there is a trace of rank {highest}; use more"
        )


def rescale(recording: Recording, rescaling: Rescaling) -> Recording:
    """``times`` copies of all ranks, joined by the data-parallel groups.

    A copy computes and talks as the original does; only in a data-parallel group do all copies
    meet, over a tensor of the same size.
    """
    if rescaling.times == 1:
        return recording
    if rescaling.times < 1:
        raise ThzSyncError(f"--data-parallel: found {rescaling.times}; use 1 or more")
    joined = data_parallel(recording, rescaling.groups)
    stride = max(recording.ranks) + 1
    ranks = {
        rank + copy * stride: [
            _moved(part, copy, stride, rescaling.times, joined) for part in parts
        ]
        for copy in range(rescaling.times)
        for rank, parts in recording.ranks.items()
    }
    return replace(recording, ranks=ranks, recorded_s=None)


def data_parallel(recording: Recording, names: tuple[str, ...]) -> set[Group]:
    """The groups over which gradients are summed: those named, or those that look like it."""
    kinds: dict[Group, set[str]] = {}
    for call in _calls(recording):
        kinds.setdefault((call.channel, call.group), set()).add(call.kind)
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


def _calls(recording: Recording) -> Iterator[Call]:
    for parts in recording.ranks.values():
        for part in parts:
            if isinstance(part, Call):
                yield part


def _moved(part: Operation, copy: int, stride: int, times: int, joined: set[Group]) -> Operation:
    offset = copy * stride
    if isinstance(part, Message):
        return replace(part, peer=part.peer + offset)
    if not isinstance(part, Call):
        return part
    if (part.channel, part.group) in joined:
        group = tuple(r + c * stride for c in range(times) for r in part.group)
        return replace(part, group=group)
    root = None if part.root is None else part.root + offset
    return replace(part, group=tuple(r + offset for r in part.group), root=root)
