"""The non-interleaved 1F1B schedule as a training graph."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache

import numpy as np

from thzsync.arrays import IntArray
from thzsync.collectives import Demand, Tensor, Transfer
from thzsync.scenario import Training
from thzsync.streams import Streams
from thzsync.topology import Partition
from thzsync.workload.graph import TrainingGraph
from thzsync.workload.nodes import Compute, Event, Node, Phase
from thzsync.workload.pipeline import Bucket, Pipeline
from thzsync.workload.traffic import even_exchange, handover, returned, skewed_exchange


def training_graph(
    work: Training | Pipeline, partition: Partition, streams: Streams, iteration: int = 0
) -> TrainingGraph:
    """One iteration of 1F1B on a partition: stages on rings, replicas on lanes.

    A stage computes one thing at a time in schedule order. Events of one stage boundary and
    direction, and the buckets of one stage, follow each other, since one stream carries them.
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
    """The graph of a job in which nothing is drawn, made once for all its iterations."""
    held = np.frombuffer(racks, dtype=np.int64).reshape(shape).copy()
    return TrainingGraph(tuple(_Generator(pipeline, Partition(job, held), Streams(0), 0).run()))


def stage_order(stage: int, stages: int, microbatches: int) -> list[tuple[Phase, int]]:
    """What a stage computes, in order: warm-up, one forward one backward, cool-down."""
    warm_up = min(stages - stage - 1, microbatches)
    order = [(Phase.FORWARD, b) for b in range(warm_up)]
    for b in range(microbatches - warm_up):
        order += [(Phase.FORWARD, warm_up + b), (Phase.BACKWARD, b)]
    return order + [(Phase.BACKWARD, b) for b in range(microbatches - warm_up, microbatches)]


@dataclass(frozen=True)
class _Exchange:
    """A dispatch or combine of one MoE layer."""

    layer: int
    combine: bool

    @property
    def label(self) -> str:
        return f"{'combine' if self.combine else 'dispatch'} {self.layer}"


@dataclass
class _Cut:
    """A point inside a stage's pass at which communication starts."""

    exchange: _Exchange | None = None
    buckets: tuple[tuple[int, Bucket], ...] = ()


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
        self.handed_over: dict[tuple[int, Phase, int], int] = {}
        self.even = cache(self._even)
        self.handover = cache(self._handover)

    def run(self) -> list[Node]:
        """Emit every step as soon as what it needs is there, so ids are a topological order."""
        stages, microbatches = self.partition.stages, self.pipeline.microbatches
        pending = [deque(stage_order(s, stages, microbatches)) for s in range(stages)]
        while any(pending):
            for stage, steps in enumerate(pending):
                if steps and self._inputs(stage, *steps[0]) is not None:
                    self._emit_pass(stage, *steps.popleft())
        return self.nodes

    def _inputs(self, stage: int, phase: Phase, microbatch: int) -> tuple[int, ...] | None:
        """The P2P event a pass waits for, none at the pipe's ends; None if not yet emitted."""
        first = 0 if phase is Phase.FORWARD else self.partition.stages - 1
        if stage == first:
            return ()
        event = self.handed_over.get((stage, phase, microbatch))
        return None if event is None else (event,)

    def _emit_pass(self, stage: int, phase: Phase, microbatch: int) -> None:
        work = self.pipeline.stages[stage]
        whole_s = work.forward_s if phase is Phase.FORWARD else work.backward_s
        gates = self._inputs(stage, phase, microbatch) or ()
        begin = Fraction(0)
        cuts = self._cuts(stage, phase, microbatch)
        for end in sorted(cuts):
            slice_s = whole_s * float(end - begin)
            done = self._compute(stage, phase, microbatch, slice_s, gates)
            gates, begin = (), end
            if end == 1:  # the next stage waits for the handover, nobody yet for the buckets
                self._hand_over(stage, phase, microbatch)
            for number, bucket in cuts[end].buckets:
                self._reduce(stage, microbatch, number, bucket, done)
            exchange = cuts[end].exchange
            if exchange is not None:
                gates = (self._exchange(stage, phase, microbatch, exchange, done),)

    def _cuts(self, stage: int, phase: Phase, microbatch: int) -> dict[Fraction, _Cut]:
        """Where a pass is cut, as shares of its time: equal slices around every exchange, and in
        the last backward pass the end of each bucket, or of all where they do not overlap it."""
        cuts = {Fraction(1): _Cut()}
        exchanges = self._exchanges(stage, phase)
        for k, exchange in enumerate(exchanges, start=1):
            cuts[Fraction(k, len(exchanges) + 1)] = _Cut(exchange=exchange)
        if phase is Phase.BACKWARD and microbatch == self.pipeline.microbatches - 1:
            buckets = self._buckets(stage)
            for k, bucket in enumerate(buckets):
                overlapping = self.pipeline.overlap_allreduce
                end = Fraction(k + 1, len(buckets)) if overlapping else Fraction(1)
                cut = cuts.setdefault(end, _Cut())
                cut.buckets = (*cut.buckets, (k, bucket))
        return cuts

    def _exchanges(self, stage: int, phase: Phase) -> list[_Exchange]:
        if self.pipeline.expert_group == 1:
            return []
        if phase is Phase.BACKWARD and not self.pipeline.backward_a2a:
            return []
        layers = range(self.pipeline.stages[stage].moe_layers)
        forward = [_Exchange(layer, combine) for layer in layers for combine in (False, True)]
        return forward if phase is Phase.FORWARD else forward[::-1]

    def _buckets(self, stage: int) -> list[Bucket]:
        lanes = self.partition.lanes
        return [b for b in self.pipeline.stages[stage].buckets if lanes > b.stride]

    def _compute(
        self, stage: int, phase: Phase, microbatch: int, duration_s: float, gates: tuple[int, ...]
    ) -> int:
        previous = self.last_compute.get(stage)
        after = gates if previous is None else (previous, *gates)
        node = Compute(
            id=len(self.nodes),
            job=self.partition.job,
            stage=stage,
            phase=phase,
            microbatch=microbatch,
            racks=self.partition.racks[stage],
            duration_s=duration_s,
            after=after,
        )
        self.nodes.append(node)
        self.last_compute[stage] = node.id
        return node.id

    def _hand_over(self, stage: int, phase: Phase, microbatch: int) -> None:
        receiver = stage + 1 if phase is Phase.FORWARD else stage - 1
        if not 0 <= receiver < self.partition.stages:
            return
        previous = self.last_handover.get((stage, phase))
        after = (self.last_compute[stage], *(() if previous is None else (previous,)))
        racks = np.sort(self.partition.racks[[stage, receiver]], axis=None)
        label = "activation" if phase is Phase.FORWARD else "gradient"
        demand = self.handover(stage, receiver)
        event = self._event("p2p", stage, phase, microbatch, label, racks, demand, after)
        self.last_handover[stage, phase] = event
        self.handed_over[receiver, phase, microbatch] = event

    def _exchange(
        self, stage: int, phase: Phase, microbatch: int, exchange: _Exchange, done: int
    ) -> int:
        demand = self.even(stage)
        if self.pipeline.a2a_skew > 0:
            demand = self._skewed(stage, phase, microbatch, exchange)
        racks = self.partition.racks[stage]
        return self._event("a2a", stage, phase, microbatch, exchange.label, racks, demand, (done,))

    def _reduce(self, stage: int, microbatch: int, number: int, bucket: Bucket, done: int) -> None:
        after = (done, *self.last_bucket.get(stage, ()))
        demand = Tensor(bucket.tensor_bytes)
        self.last_bucket[stage] = tuple(
            self._event(
                "allreduce",
                stage,
                Phase.BACKWARD,
                microbatch,
                f"bucket {number}",
                self.partition.racks[stage, lane :: bucket.stride],
                demand,
                after,
            )
            for lane in range(bucket.stride)
        )

    def _event(
        self,
        kind: str,
        stage: int,
        phase: Phase,
        microbatch: int,
        label: str,
        racks: IntArray,
        demand: Demand,
        after: tuple[int, ...],
    ) -> int:
        job, number = self.partition.job, len(self.nodes)
        event = Event(number, job, kind, stage, phase, microbatch, label, racks, demand, after)
        self.nodes.append(event)
        return number

    def _handover(self, sender: int, receiver: int) -> Transfer:
        racks = self.partition.racks
        return handover(racks[sender], racks[receiver], self.pipeline.p2p_bytes)

    def _even(self, stage: int) -> Transfer:
        pipeline = self.pipeline
        racks = self.partition.racks[stage]
        return even_exchange(racks, pipeline.expert_group, pipeline.a2a_bytes_per_rack)

    def _skewed(self, stage: int, phase: Phase, microbatch: int, exchange: _Exchange) -> Transfer:
        """Tokens of one layer and micro-batch: drawn once, and the way back is the way out.

        A combine returns what its dispatch sent; gradients retrace both in reverse.
        """
        pipeline, racks = self.pipeline, self.partition.racks
        # Partitions are disjoint, so the first rack tells jobs apart.
        path = (self.iteration, int(racks[0, 0]), stage, microbatch, exchange.layer)
        rng = self.streams.generator("demand", *path)
        sent = skewed_exchange(
            racks[stage],
            pipeline.expert_group,
            pipeline.a2a_bytes_per_rack,
            pipeline.a2a_skew,
            rng,
        )
        outbound = exchange.combine == (phase is Phase.BACKWARD)
        return sent if outbound else returned(sent)
