"""What a job computes and sends, where a plug-in says it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from thzsync.scenario.base import Model
from thzsync.scenario.kinds import kinds_of

if TYPE_CHECKING:
    from thzsync.scenario.job import Job


class WorkloadKind(Model):
    """What all workloads have; plug-ins derive theirs from it."""

    kind: str
    """Which workload this is."""

    def graph(self, job: Job, partition: Any, streams: Any, iteration: int) -> Any:
        """The tasks and events of one iteration: a `TrainingGraph` with ids from 0.

        They belong to racks of the `Partition`, which has a row of racks per pipeline stage. Random
        numbers come from the stream "demand" of the `Streams`.
        """
        raise NotImplementedError


WORKLOADS: Final = kinds_of("workload", "thzsync.workloads", WorkloadKind, lambda: ())
register_workload = WORKLOADS.register
