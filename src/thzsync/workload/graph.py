"""The training graph: compute tasks and events in one acyclic order (eq:training_trace)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

import numpy as np

from thzsync.arrays import BoolArray, FloatArray, IntArray
from thzsync.collectives import Demand, find_collective
from thzsync.errors import ThzSyncError
from thzsync.ordering import topological_order


class Phase(StrEnum):
    """The half of an iteration that a node belongs to."""

    FORWARD = "forward"
    BACKWARD = "backward"


@dataclass(frozen=True, eq=False)
class Compute:
    """Work of racks in lockstep, or of one rank, as the trace says."""

    id: int
    job: str
    stage: int
    phase: Phase
    microbatch: int
    racks: IntArray
    """Racks that compute, ascending."""
    duration_s: float
    after: tuple[int, ...]
    """Nodes that must be done before this one starts."""
    rank: int | None = None
    """The rank that computes, if several share a rack; None if whole racks compute."""

    @property
    def name(self) -> str:
        """What messages call this node."""
        return (
            f"compute {self.id} ({self.phase}, stage {self.stage}, micro-batch {self.microbatch})"
        )

    def check(self, place: str) -> None:
        """Refuse a duration that is negative or not a number."""
        _check_seconds(self.duration_s, "duration", place)


@dataclass(frozen=True, eq=False)
class Event:
    """One collective e = (tau_e, V_e, D_e, r_e, Pred(e)) (eq:communication_event)."""

    id: int
    job: str
    kind: str
    """Name of the collective."""
    stage: int
    """The stage that sends (P2P) or takes part (A2A, AllReduce)."""
    phase: Phase
    microbatch: int
    """The micro-batch whose compute releases the event."""
    label: str
    """What the event sends, such as ``dispatch 0`` or ``bucket 3``."""
    racks: IntArray
    """Participating racks V_e, ascending."""
    demand: Demand
    after: tuple[int, ...]
    """Nodes that must be done before this one starts."""
    release_s: float = 0.0
    """Nominal release r_e after the iteration's start; the event starts no earlier [s]."""

    @property
    def name(self) -> str:
        """What messages call this node."""
        return (
            f"event {self.id} ({self.kind} {self.label}, stage {self.stage}, "
            f"micro-batch {self.microbatch})"
        )

    @property
    def payload_bytes(self) -> int:
        """Directed demand of a transfer, or size of the tensor [bytes]."""
        return self.demand.payload_bytes

    @cached_property
    def measured_bytes(self) -> tuple[float, float]:
        """Bytes that the algorithm bandwidth and the bus bandwidth count."""
        return find_collective(self.kind).measured_bytes(self.demand, self.racks)

    def check(self, place: str) -> None:
        """Refuse a demand that does not fit the kind or the racks."""
        _check_seconds(self.release_s, "release", place)
        find_collective(self.kind).check(self.demand, place, self.racks)


Node = Compute | Event


def _check_seconds(value: float, what: str, place: str) -> None:
    if not (math.isfinite(value) and value >= 0):
        raise ThzSyncError(f"{place}: {what} is {value:g} s; it must be 0 s or more")


Duration = float | Callable[[Event], float]


@dataclass(frozen=True)
class Adjacency:
    """Successors of every node in compressed rows: ``target[start[n]:start[n + 1]]``."""

    start: IntArray
    target: IntArray


@dataclass(frozen=True)
class Times:
    """When every node starts and ends, by node id [s]."""

    start_s: FloatArray
    end_s: FloatArray

    @property
    def makespan_s(self) -> float:
        """When the last node ends [s]."""
        return float(self.end_s.max(initial=0.0))


@dataclass(frozen=True, eq=False)
class TrainingGraph:
    """One iteration as a directed acyclic graph; node ``n`` has id ``n``.

    The constructor checks everything that can be wrong in a user's file. ``rack_count`` is the
    number of racks on the floor, if known. Error messages begin with ``place``.
    """

    nodes: tuple[Node, ...]
    rack_count: int | None = None
    place: str = "training graph"

    def __post_init__(self) -> None:
        for position, node in enumerate(self.nodes):
            self._check_node(position, node)
        if len(self.order) < len(self.nodes):
            raise ThzSyncError(f"{self.place}: {self._describe_cycle()}; remove one dependency")

    def on_floor(self, rack_count: int) -> TrainingGraph:
        """The same graph on a floor of so many racks; only the racks are checked again."""
        known = copy(self)
        object.__setattr__(known, "rack_count", rack_count)
        for node in self.nodes:
            if node.racks[-1] >= rack_count:
                known._check_racks(f"{self.place}: {node.name}", node.racks)
        return known

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """Communication events, by id."""
        return tuple(node for node in self.nodes if isinstance(node, Event))

    @cached_property
    def computes(self) -> tuple[Compute, ...]:
        """Compute tasks, by id."""
        return tuple(node for node in self.nodes if isinstance(node, Compute))

    @cached_property
    def indegree(self) -> IntArray:
        """Number of predecessors of every node."""
        return np.array([len(node.after) for node in self.nodes], dtype=np.int64)

    @cached_property
    def successors(self) -> Adjacency:
        """Nodes that wait for each node, ascending."""
        before = self._predecessors
        after = np.repeat(np.arange(len(self.nodes), dtype=np.int64), self.indegree)
        fan_out = np.bincount(before, minlength=len(self.nodes))
        start = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(fan_out)))
        return Adjacency(start, after[np.argsort(before, kind="stable")])

    @cached_property
    def order(self) -> IntArray:
        """A topological order; it is shorter than the graph only if there is a cycle."""
        start = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(self.indegree)))
        return topological_order(start, self._predecessors)

    @property
    def _predecessors(self) -> IntArray:
        return np.array([p for node in self.nodes for p in node.after], dtype=np.int64)

    @cached_property
    def gates_compute(self) -> BoolArray:
        """Whether a compute task waits for each node, directly or through other nodes."""
        gates = np.zeros(len(self.nodes), dtype=np.bool_)
        for n in self.order[::-1].tolist():
            node = self.nodes[n]
            if gates[n] or isinstance(node, Compute):
                gates[list(node.after)] = True
        return gates

    def times(self, communication_s: Duration = 0.0) -> Times:
        """Earliest start and end of every node if an event takes ``communication_s`` [s]."""
        lasts = communication_s if callable(communication_s) else lambda _: communication_s
        start = np.zeros(len(self.nodes))
        end = np.zeros(len(self.nodes))
        for n in self.order.tolist():
            node = self.nodes[n]
            begin = max((end[p] for p in node.after), default=0.0)
            if isinstance(node, Event):
                begin = max(begin, node.release_s)
            start[n] = begin
            end[n] = begin + (lasts(node) if isinstance(node, Event) else node.duration_s)
        return Times(start, end)

    def critical_path_s(self, communication_s: Duration = 0.0) -> float:
        """Iteration time if an event takes ``communication_s`` [s]."""
        return self.times(communication_s).makespan_s

    def _check_node(self, position: int, node: Node) -> None:
        place = f"{self.place}: {node.name}"
        if node.id != position:
            raise ThzSyncError(f"{place}: stands at position {position}; ids must count from 0")
        if node.stage < 0 or node.microbatch < 0:
            raise ThzSyncError(f"{place}: stage and micro-batch must be 0 or more")
        for predecessor in node.after:
            if not 0 <= predecessor < len(self.nodes):
                raise ThzSyncError(
                    f"{place}: waits for node {predecessor}, which does not exist; "
                    f"nodes are 0..{len(self.nodes) - 1}"
                )
        self._check_racks(place, node.racks)
        node.check(place)

    def _check_racks(self, place: str, racks: IntArray) -> None:
        if len(racks) == 0 or bool((np.diff(racks) <= 0).any()):
            raise ThzSyncError(f"{place}: racks must be a rising list of at least one rack")
        limit = racks[-1] + 1 if self.rack_count is None else self.rack_count
        unknown = racks[(racks < 0) | (racks >= limit)]
        if len(unknown):
            known = f"; racks are 0..{limit - 1}" if self.rack_count is not None else ""
            raise ThzSyncError(f"{place}: rack {int(unknown[0])} does not exist{known}")

    def _describe_cycle(self) -> str:
        stuck = np.ones(len(self.nodes), dtype=np.bool_)
        stuck[self.order] = False
        # Every blocked node has a blocked predecessor, so a walk back reaches some node twice.
        node, seen = int(np.flatnonzero(stuck)[0]), dict[int, None]()
        while node not in seen:
            seen[node] = None
            node = next(p for p in self.nodes[node].after if stuck[p])
        walk = list(seen)
        loop = [*walk[walk.index(node) :], node]
        names = [self.nodes[n].name for n in loop[:4]] + (["..."] if len(loop) > 4 else [])
        return f"cycle: {' waits for '.join(names)}"


def merge(graphs: Sequence[TrainingGraph]) -> TrainingGraph:
    """Several jobs side by side in one graph; later jobs' ids follow the earlier ones'."""
    if len(graphs) == 1:
        return graphs[0]
    nodes: list[Node] = []
    for graph in graphs:
        offset = len(nodes)
        nodes += [
            replace(node, id=node.id + offset, after=tuple(p + offset for p in node.after))
            for node in graph.nodes
        ]
    counts = [graph.rack_count for graph in graphs if graph.rack_count is not None]
    return TrainingGraph(tuple(nodes), max(counts, default=None))
