"""Operations of one pipeline worker in one step, from rows of timings.

Passes run one after another. A pass waits for its micro-batch, and its result is sent while the
next pass runs. The collectives at both ends of the step run one after another.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from thzsync.errors import ThzSyncError
from thzsync.importers.importer import ReadOptions
from thzsync.importers.ranks import Call, Message, Operation, Spot, Track, Work
from thzsync.scenario import ModelJob
from thzsync.topology import Partition
from thzsync.workload import Phase
from thzsync.workload.zoo import derive

_PASSES: Final = {
    f"{phase}-{action}": (action, phase)
    for phase in Phase
    for action in ("recv", "compute", "send")
}
_WORK: Final = ("gc", "optimizer", "layernorm-grads-all-reduce")
"""Work of a worker alone: its accelerators sum norms among themselves."""
_NORM_BYTES: Final = 4
"""Norm of all gradients: one number, for clipping [bytes]."""


@dataclass(frozen=True)
class Row:
    """One operation as recorded."""

    name: str
    microbatch: int
    start_s: float
    duration_s: float


@dataclass(frozen=True)
class StepSizes:
    """Sizes of what a step sends [bytes]."""

    p2p_bytes: int
    """Activation or its gradient between two stages, per micro-batch."""
    gradient_bytes: tuple[int, ...]
    """Gradients of every stage."""


def step_sizes(options: ReadOptions, stages: int, replicas: int, path: Path) -> StepSizes:
    """Sizes from the options; the others come from the model."""
    p2p_bytes, gradient_bytes = options.p2p_bytes, options.gradient_bytes
    if options.model is not None:
        racks = np.arange(stages * replicas, dtype=np.int64).reshape(stages, replicas)
        pipeline = derive(ModelJob(name=options.model), Partition("import", racks))
        gradients = [sum(b.tensor_bytes for b in stage.buckets) for stage in pipeline.stages]
        p2p_bytes = pipeline.p2p_bytes if p2p_bytes is None else p2p_bytes
    elif p2p_bytes is None or gradient_bytes is None:
        raise ThzSyncError(
            f"{path}: this format has no byte sizes; name a model of the zoo with --model, or give "
            "--p2p-bytes and --gradient-bytes"
        )
    if gradient_bytes is not None:
        gradients = [gradient_bytes] * stages
    return StepSizes(p2p_bytes, tuple(gradients))


@dataclass
class Worker(Track):
    """One worker and its operations."""

    stage: int
    replica: int
    stages: int
    replicas: int
    sizes: StepSizes
    place: str
    """Beginning of messages about it."""
    arrived: dict[tuple[Phase, int], int] = field(default_factory=dict)
    made: dict[tuple[Phase, int], int] = field(default_factory=dict)

    @property
    def rank(self) -> int:
        """Its number: stage by stage, and replica by replica within a stage."""
        return self.stage * self.replicas + self.replica

    def run(self, rows: list[Row], passed_over: Counter[str]) -> list[Operation]:
        """Rows in order of time as operations with their dependencies."""
        passes = [(row, *_PASSES.get(row.name, ("", Phase.BACKWARD))) for row in rows]
        for row, action, phase in passes:
            if action == "recv":  # always possible: a worker asks for micro-batches in advance
                message = self._message(row, phase, False, ())
                self.arrived[phase, row.microbatch] = self.add(message)
        for row, action, phase in passes:
            if action == "compute":
                self._compute(row, phase)
            elif not action and not self._whole_step(row):
                passed_over[f"{row.name} rows"] += 1
        for row, action, phase in passes:  # after all passes, since each send waits for one
            if action == "send":
                self._send(row, phase)
        return self.operations

    def _compute(self, row: Row, phase: Phase) -> None:
        key = phase, row.microbatch
        after = (*self.last, self.arrived[key]) if key in self.arrived else self.last
        self.then(Work(after, row.duration_s, row.name, self._spot(row, phase)))
        self.made[key] = self.last[0]

    def _whole_step(self, row: Row) -> bool:
        """Add a collective, or work that belongs to no micro-batch; False if it is neither."""
        spot = Spot(self.stage, Phase.BACKWARD)
        if row.name in _WORK:
            self.then(Work(self.last, row.duration_s, row.name, spot))
            return True
        found = self._collective(row.name)
        if found is None:
            return False
        kind, group, size = found
        if self.rank not in group:
            raise ThzSyncError(f"{self.place}: {row.name} is not for this worker")
        self.then(
            Call(
                self.last, kind, group, size, row.name, label=row.name, recorded_s=row.duration_s,
                spot=spot,
            )
        )  # fmt: skip
        return True

    def _collective(self, name: str) -> tuple[str, tuple[int, ...], int] | None:
        """Kind, ranks and bytes of a collective of this name."""
        first = self.stage * self.replicas
        stage = tuple(range(first, first + self.replicas))
        gradient_bytes = self.sizes.gradient_bytes[self.stage]
        if name == "params-all-gather":  # parameters have half the bytes of their gradients
            return "all-gather", stage, -(-gradient_bytes // 2)
        if name == "grads-reduce-scatter":
            return "reduce-scatter", stage, gradient_bytes
        if name == "embedding-grads-all-reduce":
            ends = (self.replica, (self.stages - 1) * self.replicas + self.replica)
            # Both end stages have the same matrix. The format does not say its size.
            return "allreduce", ends, self.sizes.p2p_bytes
        if name == "optimizer-clip-main-grad":
            return "allreduce", tuple(range(self.stages * self.replicas)), _NORM_BYTES
        return None

    def _send(self, row: Row, phase: Phase) -> None:
        made = self.made.get((phase, row.microbatch))
        if made is None:
            raise ThzSyncError(
                f"{self.place}: {row.name} of micro-batch {row.microbatch} has no pass that "
                "made it; choose another step with --step"
            )
        self.add(self._message(row, phase, True, (made,)))

    def _message(self, row: Row, phase: Phase, sends: bool, after: tuple[int, ...]) -> Message:
        onward = sends == (phase is Phase.FORWARD)
        peer = self.rank + (1 if onward else -1) * self.replicas
        tag = 2 * row.microbatch + (phase is Phase.BACKWARD)
        return Message(
            after, sends, peer, self.sizes.p2p_bytes, tag, row.name, row.duration_s,
            spot=self._spot(row, phase),
        )  # fmt: skip

    def _spot(self, row: Row, phase: Phase) -> Spot:
        return Spot(self.stage, phase, max(0, row.microbatch))
