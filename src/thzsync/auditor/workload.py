"""What seed and scenario give before any policy decides: training graphs and stragglers.

A 1F1B iteration is countable: every micro-batch passes every stage forward and backward, hands over
at every boundary, exchanges around every MoE layer, and the last backward pass reduces the buckets.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np

from thzsync.arrays import FloatArray, IntArray, to_ps
from thzsync.auditor.findings import Findings
from thzsync.auditor.record import Record
from thzsync.scenario import ComputeFrozen, Job, Training
from thzsync.streams import Streams, name_key

EventKey = tuple[str, int, int, str, tuple[int, ...], int]
"""Kind, stage, micro-batch, label, racks and payload."""
TaskKey = tuple[str, int, int, tuple[int, ...]]
"""Phase, stage, micro-batch and racks."""


def workload(record: Record, findings: Findings) -> None:
    """Every iteration of a generated job has the tasks and events of its ``training`` table."""
    names = np.array([record.iterations.jobs[k] for k in record.iterations.job.tolist()])
    for job in record.scenario.jobs:
        if job.training is not None:
            plan = _Plan(record, job, job.training)
            for row in np.flatnonzero(names == job.name).tolist():
                _check_events(record, findings, row, plan.events())
                _check_tasks(record, findings, row, plan.tasks())


def method(record: Record, findings: Findings) -> None:
    """An event is carried out by the method that the scenario names for its collective."""
    events = record.events
    named = [record.scenario.collectives.method(str(kind)) for kind in events.kind.tolist()]
    used = events.method
    for k in findings.broken([n is not None and n != u for n, u in zip(named, used, strict=True)]):
        findings.add(events.name(k), f"was carried out by {used[k]}, the scenario names {named[k]}")


class _Plan:
    """What one iteration of a job consists of."""

    def __init__(self, record: Record, job: Job, training: Training) -> None:
        floor = record.scenario.floor
        self.training = training
        self._listed = job.stages
        self.lanes = job.lanes or floor.lanes - job.first_lane
        self.stages = job.rings or floor.groups - job.first_ring
        if job.stages is not None:
            self.lanes, self.stages = len(job.stages[0]), len(job.stages)
        self._first, self._row = job.first_ring * floor.lanes + job.first_lane, floor.lanes

    def racks(self, *stages: int) -> tuple[int, ...]:
        """Racks of some stages, ascending."""
        if self._listed is not None:
            return tuple(sorted(rack for stage in stages for rack in self._listed[stage]))
        first = (self._first + stage * self._row for stage in sorted(stages))
        return tuple(rack for begin in first for rack in range(begin, begin + self.lanes))

    def events(self) -> Counter[EventKey]:
        """How often every event occurs."""
        found: Counter[EventKey] = Counter()
        training, last = self.training, self.training.microbatches - 1
        p2p_bytes = self.lanes * training.p2p_bytes
        a2a_bytes = self.lanes * training.a2a_bytes_per_rack
        for stage, batch in product(range(self.stages), range(training.microbatches)):
            for to, label in ((stage + 1, "activation"), (stage - 1, "gradient")):
                if 0 <= to < self.stages:
                    found["p2p", stage, batch, label, self.racks(stage, to), p2p_bytes] += 1
            for label in self._exchanges(stage):
                key = ("a2a", stage, batch, label, self.racks(stage), a2a_bytes)
                found[key] += 1 + training.backward_a2a
        buckets = training.allreduce_buckets if self.lanes > 1 else 0
        for stage, k in product(range(self.stages), range(buckets)):
            racks, size = self.racks(stage), training.allreduce_bytes
            found["allreduce", stage, last, f"bucket {k}", racks, size] += 1
        return found

    def _exchanges(self, stage: int) -> list[str]:
        if stage not in self.training.moe_stages or self.lanes == 1:
            return []
        layers = range(self.training.moe_layers_per_stage)
        return [f"{word} {layer}" for layer in layers for word in ("dispatch", "combine")]

    def tasks(self) -> dict[TaskKey, tuple[int, int]]:
        """Slices and total duration [ps] of every pass."""
        passes = {"forward": self.training.forward_s, "backward": self.training.backward_s}
        batches = range(self.training.microbatches)
        return {
            (phase, stage, batch, self.racks(stage)): (
                self._slices(stage, batch, phase), to_ps(seconds)
            )
            for stage in range(self.stages) for batch in batches
            for phase, seconds in passes.items()
        }  # fmt: skip

    def _slices(self, stage: int, batch: int, phase: str) -> int:
        training, cuts = self.training, {Fraction(1)}
        if phase == "forward" or training.backward_a2a:
            exchanges = len(self._exchanges(stage))
            cuts |= {Fraction(k, exchanges + 1) for k in range(1, exchanges + 1)}
        last = phase == "backward" and batch == training.microbatches - 1
        if last and training.overlap_allreduce and self.lanes > 1:
            buckets = training.allreduce_buckets
            cuts |= {Fraction(k, buckets) for k in range(1, buckets + 1)}
        return len(cuts)


def _check_events(
    record: Record, findings: Findings, iteration: int, expected: Counter[EventKey]
) -> None:
    events, row = record.events, np.flatnonzero(record.event_owner == iteration)
    racks = [tuple(events.racks.of(k).tolist()) for k in row.tolist()]
    found: Counter[EventKey] = Counter(
        zip(
            events.kind[row].tolist(), events.stage[row].tolist(),
            events.microbatch[row].tolist(), events.label[row].tolist(), racks,
            events.payload_bytes[row].tolist(), strict=True,
        )
    )  # fmt: skip
    names = sorted(expected.keys() | found.keys())
    for k in findings.broken([expected[name] != found[name] for name in names]):
        name = names[k]
        place = f"{record.iterations.name(iteration)}, {name[0]} {name[3]!r}"
        findings.add(place, f"{name}: {found[name]} recorded, {expected[name]} asked for")


def _check_tasks(
    record: Record, findings: Findings, iteration: int, expected: dict[TaskKey, tuple[int, int]]
) -> None:
    tasks, found = record.tasks, dict[TaskKey, tuple[int, int]]()
    for row in np.flatnonzero(record.task_owner == iteration).tolist():
        racks = tuple(tasks.racks.of(row).tolist())
        key = (str(tasks.phase[row]), int(tasks.stage[row]), int(tasks.microbatch[row]), racks)
        slices, total_ps = found.get(key, (0, 0))
        found[key] = slices + 1, total_ps + int(tasks.duration_ps[row])
    names = sorted(expected.keys() | found.keys())
    pairs = [(found.get(name, (0, 0)), expected.get(name, (0, 0))) for name in names]
    # A pass may differ by the rounding of its slices to picoseconds.
    for k in findings.broken([f[0] != e[0] or abs(f[1] - e[1]) > e[0] for f, e in pairs]):
        place = f"{record.iterations.name(iteration)}, {names[k][0]} pass of stage {names[k][1]}"
        findings.add(place, "{} slices and ps, not {}".format(*pairs[k]))


def stragglers(record: Record, findings: Findings) -> None:
    """Every rack is as late as seed and scenario say (delta^str in eq:release_constraint)."""
    events = record.events
    jobs, streams = events.job, Streams(record.run.seed)
    bounds = events.racks.start
    expected = np.zeros(len(events.racks.values), dtype=np.int64)
    for row in range(len(events)):
        job = str(jobs[row])
        name = () if job == "train" else (name_key(job),)
        path = (int(events.iteration[row]), int(events.node[row]), *name)
        if min(path) < 0:
            continue
        members = slice(int(bounds[row]), int(bounds[row + 1]))
        racks = events.racks.values[members]
        draw = streams.generator("stragglers", *path).random((2, len(racks)))
        expected[members] = _delays_ps(record, racks, draw, int(events.release_ps[row]))
    findings.equal(events.delay_ps, expected, events.member_name, "delay [ps]")


def _delays_ps(record: Record, racks: IntArray, draw: FloatArray, release_ps: int) -> IntArray:
    model = record.scenario.stragglers
    span_s = model.max_delay_s - model.min_delay_s
    late_s = np.where(draw[0] < model.probability, model.min_delay_s + span_s * draw[1], 0.0)
    for slow in model.slow_racks:
        late_s = late_s + np.where(racks == slow.rack, slow.delay_s, 0.0)
    appears = release_ps + np.rint(late_s * 1e12).astype(np.int64)
    frozen = [f for f in record.scenario.faults if isinstance(f, ComputeFrozen)]
    for fault in sorted(frozen, key=lambda f: f.start_s):
        held = (racks == fault.rack) & (appears >= to_ps(fault.start_s))
        appears = np.where(held, np.maximum(appears, to_ps(fault.end_s)), appears)
    return appears - release_ps
