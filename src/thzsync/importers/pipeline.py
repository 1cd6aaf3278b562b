"""What one worker of a pipeline did in one step, from rows of timings to operations.

Passes run one after another. A pass waits for its micro-batch to arrive; what it makes is sent
while the next pass runs. The collectives at both ends of the step run one after another.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

from thzsync.errors import ThzSyncError
from thzsync.importers.ranks import Call, Message, Operation, Spot, Work
from thzsync.importers.sizes import NORM_BYTES, StepSizes
from thzsync.workload import Phase

_PHASES: Final = {"forward": Phase.FORWARD, "backward": Phase.BACKWARD}
_WORK: Final = ("gc", "optimizer", "layernorm-grads-all-reduce")
"""What a worker does alone: norms are summed among the accelerators of one worker."""


@dataclass(frozen=True)
class Row:
    """One operation as recorded."""

    name: str
    microbatch: int
    start_s: float
    duration_s: float


@dataclass(frozen=True)
class WorkerSteps:
    """One worker among the others."""

    stage: int
    replica: int
    stages: int
    replicas: int
    sizes: StepSizes

    @property
    def rank(self) -> int:
        """Its number: stage by stage, replica by replica."""
        return self.stage * self.replicas + self.replica

    def collective(self, name: str) -> tuple[str, tuple[int, ...], int] | None:
        """Kind, ranks and bytes of a collective of this name."""
        first = self.stage * self.replicas
        stage = tuple(range(first, first + self.replicas))
        if name == "params-all-gather":
            return "all-gather", stage, self.sizes.parameter_bytes(self.stage)
        if name == "grads-reduce-scatter":
            return "reduce-scatter", stage, self.sizes.gradient_bytes[self.stage]
        if name == "embedding-grads-all-reduce":
            ends = (self.replica, (self.stages - 1) * self.replicas + self.replica)
            # Both ends hold the same matrix; of how many bytes, the format does not say.
            return "allreduce", ends, self.sizes.p2p_bytes
        if name == "optimizer-clip-main-grad":
            return "allreduce", tuple(range(self.stages * self.replicas)), NORM_BYTES
        return None


def operations(
    rows: list[Row], worker: WorkerSteps, passed_over: Counter[str], place: str
) -> list[Operation]:
    """Rows of one worker, in order of time, as operations with what they wait for."""
    line = _Worker(worker, place)
    for row in rows:
        part, _, action = row.name.partition("-")
        if part in _PHASES and action == "recv":
            line.receive(row, _PHASES[part])
    for row in rows:
        part, _, action = row.name.partition("-")
        if part in _PHASES and action == "compute":
            line.compute(row, _PHASES[part])
        elif part in _PHASES and action == "send":
            line.pending.append((row, _PHASES[part]))
        elif part in _PHASES and action == "recv":
            continue
        elif (found := worker.collective(row.name)) is not None:
            line.collective(row, *found)
        elif row.name in _WORK:
            line.work(row)
        else:
            passed_over[f"{row.name} rows"] += 1
    line.send_all()
    return line.operations


class _Worker:
    """A worker's operations so far."""

    def __init__(self, worker: WorkerSteps, place: str) -> None:
        self.worker = worker
        self.place = place
        self.operations: list[Operation] = []
        self.last: tuple[int, ...] = ()
        """What the next operation waits for."""
        self.arrives: dict[tuple[Phase, int], int] = {}
        self.made: dict[tuple[Phase, int], int] = {}
        self.pending: list[tuple[Row, Phase]] = []

    def _add(self, operation: Operation) -> int:
        self.operations.append(operation)
        return len(self.operations) - 1

    def _spot(self, phase: Phase = Phase.BACKWARD, microbatch: int = 0) -> Spot:
        return Spot(self.worker.stage, phase, max(0, microbatch))

    def receive(self, row: Row, phase: Phase) -> None:
        """A worker is always ready to receive: it asks for micro-batches ahead."""
        self.arrives[phase, row.microbatch] = self._add(self._message(row, phase, False, ()))

    def compute(self, row: Row, phase: Phase) -> None:
        arrived = self.arrives.get((phase, row.microbatch))
        after = self.last if arrived is None else (*self.last, arrived)
        spot = self._spot(phase, row.microbatch)
        self.last = (self._add(Work(after, row.duration_s, row.name, spot)),)
        self.made[phase, row.microbatch] = self.last[0]

    def collective(self, row: Row, kind: str, group: tuple[int, ...], size: int) -> None:
        if self.worker.rank not in group:
            raise ThzSyncError(f"{self.place}: {row.name} is not for this worker")
        after, took = self.last, row.duration_s
        call = Call(
            after, kind, group, size, row.name, label=row.name, recorded_s=took, spot=self._spot()
        )
        self.last = (self._add(call),)

    def work(self, row: Row) -> None:
        self.last = (self._add(Work(self.last, row.duration_s, row.name, self._spot())),)

    def send_all(self) -> None:
        """Sends, once it is known which pass made what they carry."""
        for row, phase in self.pending:
            made = self.made.get((phase, row.microbatch))
            if made is None:
                raise ThzSyncError(
                    f"{self.place}: {row.name} of micro-batch {row.microbatch} has no pass that "
                    "made it; choose another step with --step"
                )
            self._add(self._message(row, phase, True, (made,)))

    def _message(self, row: Row, phase: Phase, sends: bool, after: tuple[int, ...]) -> Message:
        onward = sends == (phase is Phase.FORWARD)
        peer = self.worker.rank + (1 if onward else -1) * self.worker.replicas
        tag = 2 * row.microbatch + (phase is Phase.BACKWARD)
        spot = self._spot(phase, row.microbatch)
        size = self.worker.sizes.p2p_bytes
        return Message(after, sends, peer, size, tag, row.name, row.duration_s, spot=spot)
