"""Operations of one pipeline worker in one step, from rows of timings.

Passes run one after another. A pass waits for its micro-batch, and its result is sent while the
next pass runs. The collectives at both ends of the step run one after another.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

from thzsync.errors import ThzSyncError
from thzsync.importers.ranks import Call, Message, Operation, Spot, Track, Work
from thzsync.importers.sizes import NORM_BYTES, StepSizes
from thzsync.workload import Phase

_PHASES: Final = {"forward": Phase.FORWARD, "backward": Phase.BACKWARD}
_WORK: Final = ("gc", "optimizer", "layernorm-grads-all-reduce")
"""Work of a worker alone: its accelerators sum norms among themselves."""


@dataclass(frozen=True)
class Row:
    """One operation as recorded."""

    name: str
    microbatch: int
    start_s: float
    duration_s: float


@dataclass(frozen=True)
class WorkerSteps:
    """One worker and its place in the job."""

    stage: int
    replica: int
    stages: int
    replicas: int
    sizes: StepSizes

    @property
    def rank(self) -> int:
        """Its number: stage by stage, and replica by replica within a stage."""
        return self.stage * self.replicas + self.replica

    def collective(self, name: str) -> tuple[str, tuple[int, ...], int] | None:
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
            return "allreduce", tuple(range(self.stages * self.replicas)), NORM_BYTES
        return None


def operations(
    rows: list[Row], worker: WorkerSteps, passed_over: Counter[str], place: str
) -> list[Operation]:
    """Rows of one worker, in order of time, as operations with their dependencies."""
    line = _Worker(worker, place)
    parsed = [(row, *row.name.partition("-")[::2]) for row in rows]
    for row, part, action in parsed:
        if part in _PHASES and action == "recv":
            line.receive(row, _PHASES[part])
    sends = []
    for row, part, action in parsed:
        if part in _PHASES and action == "compute":
            line.compute(row, _PHASES[part])
        elif part in _PHASES and action == "send":
            sends.append((row, _PHASES[part]))
        elif part in _PHASES and action == "recv":
            continue
        elif (found := worker.collective(row.name)) is not None:
            line.collective(row, *found)
        elif row.name in _WORK:
            line.then(Work(line.last, row.duration_s, row.name, line.spot()))
        else:
            passed_over[f"{row.name} rows"] += 1
    for row, phase in sends:  # after all passes, since each send waits for one
        line.send(row, phase)
    return line.operations


class _Worker(Track):
    """Operations of one worker."""

    def __init__(self, worker: WorkerSteps, place: str) -> None:
        super().__init__()
        self.worker, self.place = worker, place
        self.arrives: dict[tuple[Phase, int], int] = {}
        self.made: dict[tuple[Phase, int], int] = {}

    def spot(self, phase: Phase = Phase.BACKWARD, microbatch: int = 0) -> Spot:
        return Spot(self.worker.stage, phase, max(0, microbatch))

    def receive(self, row: Row, phase: Phase) -> None:
        """A worker is always ready to receive: it asks for micro-batches in advance."""
        self.arrives[phase, row.microbatch] = self.add(self._message(row, phase, False, ()))

    def compute(self, row: Row, phase: Phase) -> None:
        arrived = self.arrives.get((phase, row.microbatch))
        after = self.last if arrived is None else (*self.last, arrived)
        self.then(Work(after, row.duration_s, row.name, self.spot(phase, row.microbatch)))
        self.made[phase, row.microbatch] = self.last[0]

    def collective(self, row: Row, kind: str, group: tuple[int, ...], size: int) -> None:
        if self.worker.rank not in group:
            raise ThzSyncError(f"{self.place}: {row.name} is not for this worker")
        name, took_s, spot = row.name, row.duration_s, self.spot()
        self.then(
            Call(self.last, kind, group, size, name, label=name, recorded_s=took_s, spot=spot)
        )

    def send(self, row: Row, phase: Phase) -> None:
        made = self.made.get((phase, row.microbatch))
        if made is None:
            raise ThzSyncError(
                f"{self.place}: {row.name} of micro-batch {row.microbatch} has no pass that "
                "made it; choose another step with --step"
            )
        self.add(self._message(row, phase, True, (made,)))

    def _message(self, row: Row, phase: Phase, sends: bool, after: tuple[int, ...]) -> Message:
        onward = sends == (phase is Phase.FORWARD)
        peer = self.worker.rank + (1 if onward else -1) * self.worker.replicas
        tag = 2 * row.microbatch + (phase is Phase.BACKWARD)
        spot = self.spot(phase, row.microbatch)
        size = self.worker.sizes.p2p_bytes
        return Message(after, sends, peer, size, tag, row.name, row.duration_s, spot=spot)
