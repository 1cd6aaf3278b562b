"""Make a training graph from matched operations and a placement; count what is left out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, chain

import numpy as np

from thzsync.arrays import IntArray
from thzsync.collectives import Demand, Tensor, Transfer, find_collective, split_bytes
from thzsync.errors import ThzSyncError
from thzsync.importers.matching import Joint, Member
from thzsync.importers.placement import Floor
from thzsync.importers.ranks import Call, Message, Recording, Spot, Work
from thzsync.ordering import topological_order
from thzsync.workload import Compute, Event, Node, TrainingGraph

JOB = "train"
_LABEL = 80
"""Longest label; names of GPU kernels can be many lines long."""


@dataclass
class Dropped:
    """Traffic within racks."""

    events: int = 0
    """Collectives and messages among ranks of one rack."""
    in_rack_bytes: int = 0
    """Least bytes between ranks of the same rack."""


class Assembly:
    """A training graph of one node per joint, and what was left out."""

    def __init__(
        self, recording: Recording, joints: list[Joint], floor: Floor, skip_empty: bool = False
    ) -> None:
        self.floor = floor
        self.source = recording.source
        self.skip_empty = skip_empty
        self.dropped = Dropped()
        self.passed_over = Counter(recording.passed_over)
        self.recorded_s: dict[int, float] = {}
        """Recorded duration of every event, by id [s]."""
        of: dict[Member, int] = {m: n for n, joint in enumerate(joints) for m in joint.stands_for}
        after = [list(dict.fromkeys(of[member] for member in joint.after)) for joint in joints]
        number = _numbering(after)
        nodes: dict[int, Node] = {}
        for joint, before, new in zip(joints, after, number, strict=True):
            node = self._node(joint, new, tuple(sorted(number[b] for b in before)))
            nodes[new] = node
            if isinstance(node, Event) and joint.recorded_s is not None:
                self.recorded_s[new] = joint.recorded_s
        ordered = tuple(nodes[n] for n in range(len(joints)))
        self.graph = TrainingGraph(ordered, floor.racks, recording.source)

    def _node(self, joint: Joint, number: int, after: tuple[int, ...]) -> Node:
        first = joint.parts[0]
        if isinstance(first, Work):
            return self._compute(joint, number, after, first.duration_s)
        parts = [part for part in joint.parts if not isinstance(part, Work)]
        racks, demand, inside_bytes = self._demand(joint)
        kind = first.kind if isinstance(first, Call) else "p2p"
        silent = demand.payload_bytes == 0 and kind != "barrier"
        if silent and not any(part.size_bytes for part in parts):
            self._refuse_empty(kind, joint)
            return self._compute(joint, number, after, 0.0)
        self.dropped.in_rack_bytes += inside_bytes
        if silent or len(racks) < 2:
            # Nothing leaves the rack, but its dependencies remain.
            self.dropped.events += 1
            return self._compute(joint, number, after, 0.0)
        stage, spot = self._spot(joint)
        label = " ".join(first.label.split())[:_LABEL]
        return Event(
            number, JOB, kind, stage, spot.phase, spot.microbatch, label, racks, demand, after,
            max(part.release_s for part in parts),
        )  # fmt: skip

    def _compute(
        self, joint: Joint, number: int, after: tuple[int, ...], duration_s: float
    ) -> Compute:
        stage, spot = self._spot(joint)
        rank = joint.ranks[0]
        racks = np.array([self.floor.rack[rank]], dtype=np.int64)
        return Compute(
            number, JOB, stage, spot.phase, spot.microbatch, racks, duration_s, after, rank
        )

    def _spot(self, joint: Joint) -> tuple[int, Spot]:
        spot = joint.parts[0].spot
        stage = self.floor.stage[joint.ranks[0]] if spot.stage is None else spot.stage
        return stage, spot

    def _demand(self, joint: Joint) -> tuple[IntArray, Demand, int]:
        """Racks, the demand between them, and the bytes that stay inside."""
        ranks = joint.ranks
        racks = np.array([self.floor.rack[rank] for rank in ranks], dtype=np.int64)
        first = joint.parts[0]
        if isinstance(first, Message):
            return _exchange(racks, np.array([[0, first.size_bytes], [0, 0]], dtype=np.int64))
        assert isinstance(first, Call)
        meaning = find_collective(first.kind)
        if meaning.demand is Transfer:
            return _exchange(racks, _matrix(joint))
        present = np.unique(racks)
        among_ranks = volume_bytes(first.kind, first.size_bytes, len(ranks))
        among_racks = volume_bytes(first.kind, first.size_bytes, len(present))
        root = None
        if meaning.rooted:
            root = self.floor.rack[ranks[0] if first.root is None else first.root]
        return present, Tensor(first.size_bytes, root), among_ranks - among_racks

    def _refuse_empty(self, kind: str, joint: Joint) -> None:
        if not self.skip_empty:
            raise ThzSyncError(
                f"{self.source}: rank {joint.ranks[0]}: {kind} {joint.parts[0].label[:40]!r} "
                "has no bytes; if it should not have any, pass over it with --skip-empty"
            )
        self.passed_over[f"{kind} without bytes"] += 1


def _numbering(after: list[list[int]]) -> list[int]:
    """A new number for every joint, so that each follows what it waits for. With a cycle, the old
    numbers: the graph then reports it."""
    start = np.array([0, *accumulate(map(len, after))], dtype=np.int64)
    order = topological_order(start, np.array(list(chain.from_iterable(after)), dtype=np.int64))
    number = np.arange(len(after), dtype=np.int64)
    if len(order) == len(after):
        number[order] = np.arange(len(after), dtype=np.int64)
    return [int(n) for n in number]


def _matrix(joint: Joint) -> IntArray:
    """Bytes from every member to every other; a rank sends nothing to itself."""
    rows = []
    for part in joint.parts:
        assert isinstance(part, Call)
        rows.append(part.parts or split_bytes(part.size_bytes, len(part.group)))
    sizes = np.array(rows, dtype=np.int64)
    np.fill_diagonal(sizes, 0)
    return sizes


def _exchange(racks: IntArray, sizes: IntArray) -> tuple[IntArray, Transfer, int]:
    """Directed bytes between ranks, summed by rack."""
    present, place = np.unique(racks, return_inverse=True)
    total = np.zeros((len(present), len(present)), dtype=np.int64)
    np.add.at(total, (place[:, None], place[None, :]), sizes)
    inside = int(np.trace(total))
    np.fill_diagonal(total, 0)
    src, dst = np.nonzero(total)
    return present, Transfer(present[src], present[dst], total[src, dst]), inside


@lru_cache(maxsize=4096)
def volume_bytes(kind: str, tensor_bytes: int, members: int) -> int:
    """Least bytes that a collective of one tensor moves between so many members."""
    meaning = find_collective(kind)
    demand = Tensor(tensor_bytes, 0 if meaning.rooted else None)
    return meaning.blocks(demand, np.arange(members, dtype=np.int64)).volume_bytes
