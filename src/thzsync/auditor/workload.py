"""The training graph of a generated job, worked out anew from the scenario's ``training`` table.

A 1F1B iteration is countable: every micro-batch passes every stage forward and backward, hands over
at every boundary, exchanges around every MoE layer, and the last backward pass reduces the buckets.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np

from thzsync.arrays import to_ps
from thzsync.auditor.book import Book
from thzsync.auditor.findings import Findings
from thzsync.scenario import Job, Training

EventKey = tuple[str, int, int, str, tuple[int, ...], int]
"""Kind, stage, micro-batch, label, racks and payload."""
TaskKey = tuple[str, int, int, tuple[int, ...]]
"""Phase, stage, micro-batch and racks."""


def workload(book: Book, findings: Findings) -> None:
    """Every iteration of a generated job has the tasks and events of its ``training`` table."""
    for job in book.scenario.jobs:
        if job.training is not None:
            plan = _Plan(book, job, job.training)
            for row in np.flatnonzero(book.iterations.job == _number(book, job)).tolist():
                _check_events(book, findings, row, plan.events())
                _check_tasks(book, findings, row, plan)


def method(book: Book, findings: Findings) -> None:
    """An event is carried out by the method that the scenario names for its collective."""
    events = book.events
    named = [book.scenario.collectives.method(str(kind)) for kind in events.kind.tolist()]
    used = events.text("method")
    findings.test(
        "method",
        np.array([n is not None and n != u for n, u in zip(named, used, strict=True)], np.bool_),
        events.name,
        lambda row: f"was carried out by {used[row]}, the scenario names {named[row]}",
    )


def _number(book: Book, job: Job) -> int:
    return book.iterations.jobs.index(job.name) if job.name in book.iterations.jobs else -1


class _Plan:
    """What one iteration of a job consists of."""

    def __init__(self, book: Book, job: Job, training: Training) -> None:
        floor = book.scenario.floor
        self.training = training
        self.lanes = job.lanes or floor.lanes - job.first_lane
        self.stages = job.rings or floor.rings - job.first_ring
        first = job.first_ring * floor.lanes + job.first_lane
        self._first, self._row = first, floor.lanes

    def racks(self, *stages: int) -> tuple[int, ...]:
        rows = (range(self._first + s * self._row, self._first + s * self._row + self.lanes)
                for s in stages)  # fmt: skip
        return tuple(sorted(rack for row in rows for rack in row))

    def events(self) -> Counter[EventKey]:
        found: Counter[EventKey] = Counter()
        training, last = self.training, self.training.microbatches - 1
        for stage in range(self.stages):
            for batch in range(training.microbatches):
                for to, label in ((stage + 1, "activation"), (stage - 1, "gradient")):
                    if 0 <= to < self.stages:
                        racks, size = self.racks(stage, to), self.lanes * training.p2p_bytes
                        found["p2p", stage, batch, label, racks, size] += 1
                size = self.lanes * training.a2a_bytes_per_rack
                for label in self._exchanges(stage):
                    times = 1 + training.backward_a2a
                    found["a2a", stage, batch, label, self.racks(stage), size] += times
            if self.lanes > 1:
                for k in range(training.allreduce_buckets):
                    size, racks = training.allreduce_bytes, self.racks(stage)
                    found["allreduce", stage, last, f"bucket {k}", racks, size] += 1
        return found

    def _exchanges(self, stage: int) -> list[str]:
        if stage not in self.training.moe_stages or self.lanes == 1:
            return []
        layers = range(self.training.moe_layers_per_stage)
        return [f"{word} {layer}" for layer in layers for word in ("dispatch", "combine")]

    def tasks(self) -> dict[TaskKey, tuple[int, int]]:
        """Slices and total duration [ps] of every pass."""
        training, passes = self.training, {}
        for stage in range(self.stages):
            for batch in range(training.microbatches):
                for phase, seconds in (
                    ("forward", training.forward_s),
                    ("backward", training.backward_s),
                ):
                    key = (phase, stage, batch, self.racks(stage))
                    passes[key] = (self._slices(stage, batch, phase), to_ps(seconds))
        return passes

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
    book: Book, findings: Findings, iteration: int, expected: Counter[EventKey]
) -> None:
    events, payload = book.events, book.events["payload_bytes"]
    stage, batch, label = events["stage"], events["microbatch"], events.text("label")
    found: Counter[EventKey] = Counter()
    for row in np.flatnonzero(book.event_owner == iteration).tolist():
        racks = tuple(events.racks.of(row).tolist())
        key = (int(stage[row]), int(batch[row]), str(label[row]), racks, int(payload[row]))
        found[(str(events.kind[row]), *key)] += 1
    names = sorted(expected.keys() | found.keys())
    findings.test(
        "workload",
        np.array([expected[name] != found[name] for name in names], dtype=np.bool_),
        lambda k: f"{book.iterations.name(iteration)}, {names[k][0]} {names[k][3]!r}",
        lambda k: (
            f"of stage {names[k][1]}, micro-batch {names[k][2]} and {names[k][5]} bytes: "
            f"{found[names[k]]} recorded, the scenario asks for {expected[names[k]]}"
        ),
    )


def _check_tasks(book: Book, findings: Findings, iteration: int, plan: _Plan) -> None:
    tasks, expected = book.tasks, plan.tasks()
    stage, batch, phase = tasks["stage"], tasks["microbatch"], tasks.text("phase")
    racks, duration = tasks.lists("racks"), tasks["duration_ps"]
    found: dict[TaskKey, tuple[int, int]] = {}
    for row in np.flatnonzero(book.task_owner == iteration).tolist():
        at = tuple(racks.of(row).tolist())
        key = (str(phase[row]), int(stage[row]), int(batch[row]), at)
        count, total = found.get(key, (0, 0))
        found[key] = (count + 1, total + int(duration[row]))
    names = sorted(expected.keys() | found.keys())
    nothing = (0, 0)
    findings.test(
        "workload",
        np.array(
            [_other(expected.get(n, nothing), found.get(n, nothing)) for n in names], np.bool_
        ),
        lambda k: f"{book.iterations.name(iteration)}, {names[k][0]} pass of stage {names[k][1]}",
        lambda k: (
            f"micro-batch {names[k][2]}: slices and picoseconds are {found.get(names[k])}, "
            f"the scenario asks for {expected.get(names[k])}"
        ),
    )


def _other(expected: tuple[int, int], found: tuple[int, int]) -> bool:
    """Whether a pass differs by more than the rounding of its slices to picoseconds."""
    return expected[0] != found[0] or abs(expected[1] - found[1]) > expected[0]
