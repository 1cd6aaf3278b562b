"""The non-interleaved 1F1B schedule as a training graph."""

from __future__ import annotations

from collections import deque
from fractions import Fraction
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from thzsync.arrays import IntArray
from thzsync.collectives import Demand, Tensor, Transfer
from thzsync.scenario import Training
from thzsync.streams import Streams
from thzsync.topology import Partition
from thzsync.workload.graph import Compute, Event, Node, Phase, TrainingGraph
from thzsync.workload.pipeline import (
    Bucket,
    Pipeline,
    even_exchange,
    returned,
    skewed_exchange,
)


def training_graph(
    work: Training | Pipeline, partition: Partition, streams: Streams, iteration: int = 0
) -> TrainingGraph:
    """One iteration of 1F1B on a partition: stages on rings, replicas on lanes.

    A stage computes one task at a time in schedule order. One stream carries the events of a stage
    boundary in one direction, and one the buckets of a stage; so these follow each other.
    """
    pipeline = Pipeline.uniform(work, partition) if isinstance(work, Training) else work
    if pipeline.a2a_skew == 0:
        racks = np.ascontiguousarray(partition.racks, dtype=np.int64)
        return _same_every_time(pipeline, partition.job, racks.shape, racks.tobytes())
    return TrainingGraph(tuple(_Generator(pipeline, partition, streams, iteration).run()))


@lru_cache(maxsize=4)
def _same_every_time(
    pipeline: Pipeline, job: str, shape: tuple[int, ...], racks: bytes
) -> TrainingGraph:
    """The graph of a job without random draws, made once for all of its iterations."""
    lanes = np.frombuffer(racks, dtype=np.int64).reshape(shape).copy()
    return TrainingGraph(tuple(_Generator(pipeline, Partition(job, lanes), Streams(0), 0).run()))


def stage_order(stage: int, stages: int, microbatches: int) -> list[tuple[Phase, int]]:
    """Passes of a stage in order: warm-up, one forward one backward, cool-down."""
    warm_up = min(stages - stage - 1, microbatches)
    order = [(Phase.FORWARD, b) for b in range(warm_up)]
    for b in range(microbatches - warm_up):
        order += [(Phase.FORWARD, warm_up + b), (Phase.BACKWARD, b)]
    return order + [(Phase.BACKWARD, b) for b in range(microbatches - warm_up, microbatches)]


class _Pass(NamedTuple):
    """A pass of a micro-batch through a stage."""

    stage: int
    phase: Phase
    microbatch: int


class _Exchange(NamedTuple):
    """A dispatch or combine of one MoE layer."""

    layer: int
    combine: bool


class _Cut(NamedTuple):
    """A point in a pass at which communication starts."""

    exchange: _Exchange | None
    buckets: list[tuple[int, Bucket]]


class _Generator:
    def __init__(
        self, pipeline: Pipeline, partition: Partition, streams: Streams, iteration: int
    ) -> None:
        self.pipeline = pipeline
        self.partition = partition
        self.streams = streams
        self.iteration = iteration
        self.nodes: list[Node] = []
        self.last_compute: dict[int, int] = {}
        self.last_handover: dict[tuple[int, Phase], int] = {}
        self.last_bucket: dict[int, tuple[int, ...]] = {}
        self.handed_over: dict[_Pass, int] = {}
        self.even = cache(self._even)
        self.handover = cache(self._handover)

    def run(self) -> list[Node]:
        """Emit every step as soon as its predecessors exist, so ids are a topological order."""
        stages, microbatches = self.partition.stages, self.pipeline.microbatches
        pending = [
            deque(_Pass(s, *step) for step in stage_order(s, stages, microbatches))
            for s in range(stages)
        ]
        while any(pending):
            for steps in pending:
                if steps and self._inputs(steps[0]) is not None:
                    self._emit_pass(steps.popleft())
        return self.nodes

    def _inputs(self, at: _Pass) -> tuple[int, ...] | None:
        """The P2P events a pass waits for: none at the pipeline's ends; None if not yet emitted."""
        if at.stage == (0 if at.phase is Phase.FORWARD else self.partition.stages - 1):
            return ()
        event = self.handed_over.get(at)
        return None if event is None else (event,)

    def _emit_pass(self, at: _Pass) -> None:
        work = self.pipeline.stages[at.stage]
        whole_s = work.forward_s if at.phase is Phase.FORWARD else work.backward_s
        gates = self._inputs(at) or ()
        begin = Fraction(0)
        cuts = self._cuts(at)
        for end in sorted(cuts):
            done = self._compute(at, whole_s * float(end - begin), gates)
            gates, begin = (), end
            if end == 1:  # the next stage waits for the P2P event, nothing yet for the buckets
                self._hand_over(at, done)
            for number, bucket in cuts[end].buckets:
                self._reduce(at, number, bucket, done)
            exchange = cuts[end].exchange
            if exchange is not None:
                gates = (self._exchange(at, exchange, done),)

    def _cuts(self, at: _Pass) -> dict[Fraction, _Cut]:
        """Where a pass is cut, as shares of its time: equal slices around every exchange. In the
        last backward pass also the end of each bucket, or of all if they do not overlap it."""
        cuts = {Fraction(1): _Cut(None, [])}
        exchanges = self._exchanges(at)
        for k, exchange in enumerate(exchanges, start=1):
            cuts[Fraction(k, len(exchanges) + 1)] = _Cut(exchange, [])
        if at.phase is Phase.BACKWARD and at.microbatch == self.pipeline.microbatches - 1:
            of_stage, lanes = self.pipeline.stages[at.stage].buckets, self.partition.lanes
            buckets = [bucket for bucket in of_stage if lanes > bucket.stride]
            for k, bucket in enumerate(buckets):
                overlapping = self.pipeline.overlap_allreduce
                end = Fraction(k + 1, len(buckets)) if overlapping else Fraction(1)
                cuts.setdefault(end, _Cut(None, [])).buckets.append((k, bucket))
        return cuts

    def _exchanges(self, at: _Pass) -> list[_Exchange]:
        forward = at.phase is Phase.FORWARD
        if self.pipeline.expert_group == 1 or not (forward or self.pipeline.backward_a2a):
            return []
        layers = range(self.pipeline.stages[at.stage].moe_layers)
        found = [_Exchange(layer, combine) for layer in layers for combine in (False, True)]
        return found if forward else found[::-1]

    def _compute(self, at: _Pass, duration_s: float, gates: tuple[int, ...]) -> int:
        previous = self.last_compute.get(at.stage)
        after = gates if previous is None else (previous, *gates)
        racks, number = self._racks(at.stage), len(self.nodes)
        self.nodes.append(Compute(number, self.partition.job, *at, racks, duration_s, after))
        self.last_compute[at.stage] = number
        return number

    def _racks(self, stages: int | list[int]) -> IntArray:
        """Racks of one or more stages, rising; listed ones may stand in any order."""
        racks: IntArray = np.sort(self.partition.racks[stages], axis=None)
        return racks

    def _hand_over(self, at: _Pass, done: int) -> None:
        forward = at.phase is Phase.FORWARD
        receiver = at.stage + 1 if forward else at.stage - 1
        if not 0 <= receiver < self.partition.stages:
            return
        previous = self.last_handover.get((at.stage, at.phase))
        after = (done,) if previous is None else (done, previous)
        racks = self._racks([at.stage, receiver])
        demand = self.handover(at.stage, receiver)
        label = "activation" if forward else "gradient"
        event = self._event("p2p", at, label, racks, demand, after)
        self.last_handover[at.stage, at.phase] = event
        self.handed_over[at._replace(stage=receiver)] = event

    def _exchange(self, at: _Pass, exchange: _Exchange, done: int) -> int:
        skewed = self.pipeline.a2a_skew > 0
        demand = self._skewed(at, exchange) if skewed else self.even(at.stage)
        label = f"{'combine' if exchange.combine else 'dispatch'} {exchange.layer}"
        return self._event("a2a", at, label, self._racks(at.stage), demand, (done,))

    def _reduce(self, at: _Pass, number: int, bucket: Bucket, done: int) -> None:
        after = (done, *self.last_bucket.get(at.stage, ()))
        racks = self.partition.racks[at.stage]
        groups = (np.sort(racks[k :: bucket.stride]) for k in range(bucket.stride))
        demand, label = Tensor(bucket.tensor_bytes), f"bucket {number}"
        self.last_bucket[at.stage] = tuple(
            self._event("allreduce", at, label, group, demand, after) for group in groups
        )

    def _event(
        self, kind: str, at: _Pass, label: str, racks: IntArray, demand: Demand,
        after: tuple[int, ...],
    ) -> int:  # fmt: skip
        job, number = self.partition.job, len(self.nodes)
        self.nodes.append(Event(number, job, kind, *at, label, racks, demand, after))
        return number

    def _handover(self, sender: int, receiver: int) -> Transfer:
        """Every lane sends to the same lane of the other stage."""
        racks = self.partition.racks
        sizes = np.full(self.partition.lanes, self.pipeline.p2p_bytes, dtype=np.int64)
        return Transfer(racks[sender], racks[receiver], sizes)

    def _even(self, stage: int) -> Transfer:
        pipeline = self.pipeline
        racks = self.partition.racks[stage]
        return even_exchange(racks, pipeline.expert_group, pipeline.a2a_bytes_per_rack)

    def _skewed(self, at: _Pass, exchange: _Exchange) -> Transfer:
        """Tokens of one layer and micro-batch, drawn once for all of their exchanges.

        A combine returns what its dispatch sent. Gradients take both in reverse.
        """
        pipeline, racks, (stage, phase, microbatch) = self.pipeline, self.partition.racks, at
        # Partitions are disjoint, so the first rack tells jobs apart.
        path = (self.iteration, int(racks[0, 0]), stage, microbatch, exchange.layer)
        rng, group = self.streams.generator("demand", *path), pipeline.expert_group
        sent = skewed_exchange(
            racks[stage], group, pipeline.a2a_bytes_per_rack, pipeline.a2a_skew, rng
        )
        outbound = exchange.combine == (phase is Phase.BACKWARD)
        return sent if outbound else returned(sent)
