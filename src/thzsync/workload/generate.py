"""From a scenario's jobs to the training graph of one iteration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np

from thzsync.errors import ThzSyncError
from thzsync.plugins import blamed
from thzsync.scenario import Job, Scenario
from thzsync.streams import Streams
from thzsync.topology import Partition, Topology
from thzsync.workload.graph import TrainingGraph, merge
from thzsync.workload.one_f_one_b import training_graph

Generator = Callable[[Job, Partition, Streams, int], TrainingGraph]
"""Makes the nodes of one iteration of a job, with ids from 0, on racks of its partition."""


def _from_training(
    job: Job, partition: Partition, streams: Streams, iteration: int
) -> TrainingGraph:
    """1F1B from bytes and seconds in the scenario."""
    assert job.training is not None
    return training_graph(job.training, partition, streams, iteration)


def _from_model(job: Job, partition: Partition, streams: Streams, iteration: int) -> TrainingGraph:
    """1F1B from the dimensions of a model in the model zoo."""
    from thzsync.workload.zoo import derive

    assert job.model is not None
    return training_graph(derive(job.model, partition), partition, streams, iteration)


def _from_trace(job: Job, partition: Partition, streams: Streams, iteration: int) -> TrainingGraph:
    """A recorded iteration under the name of the job; all iterations are the same."""
    assert job.trace is not None
    racks = tuple(partition.racks.ravel().tolist())
    return _replayed(job.trace, _stamp(job.trace), job.name, racks)


def _stamp(path: str) -> tuple[int, int]:
    """When a file was last changed, and its length; None if it does not exist."""
    file = Path(path)
    status = file.stat() if file.exists() else None
    return (0, 0) if status is None else (status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=8)
def _replayed(path: str, stamp: tuple[int, int], job: str, racks: tuple[int, ...]) -> TrainingGraph:
    """The graph in a file. It is read again only if the file has changed."""
    from thzsync.workload.tracefile import read_trace

    trace = read_trace(path)
    remedy = (
        f"the trace was made for a floor of {trace.rack_count}: use a larger floor, or widen the "
        "job's rings and lanes"
    )
    return _of_job(trace.graph, job, racks, path, remedy)


def _of_job(
    graph: TrainingGraph, job: str, racks: tuple[int, ...], source: str, remedy: str
) -> TrainingGraph:
    """The graph under the name of a job, if it keeps to the job's racks."""
    for node in graph.nodes:
        outside = node.racks[~np.isin(node.racks, racks)]
        if len(outside):
            raise ThzSyncError(
                f"{source}: {node.name}: rack {int(outside[0])} lies outside the partition of job "
                f"{job!r}, which has {len(racks)} racks; {remedy}"
            )
    return replace(graph, nodes=tuple(replace(node, job=job) for node in graph.nodes))


def _from_workload(
    job: Job, partition: Partition, streams: Streams, iteration: int
) -> TrainingGraph:
    """What a plug-in makes, under the name of the job."""
    assert job.workload is not None
    what = f"workload {job.workload.kind!r}"
    with blamed(what):
        graph = job.workload.graph(job, partition, streams, iteration)
    if not isinstance(graph, TrainingGraph):
        raise ThzSyncError(f"{what}: returned {type(graph).__name__}; return a TrainingGraph")
    racks = tuple(partition.racks.ravel().tolist())
    return _of_job(graph, job.name, racks, what, "use racks of the partition it is given")


GENERATORS: Final[dict[str, Generator]] = {
    "training": _from_training,
    "model": _from_model,
    "trace": _from_trace,
    "workload": _from_workload,
}
"""Generators by the key that selects them in a job's table."""


def job_graph(job: Job, topology: Topology, streams: Streams, iteration: int = 0) -> TrainingGraph:
    """One iteration of one job."""
    source = next(key for key in GENERATORS if getattr(job, key) is not None)
    graph = GENERATORS[source](job, topology.partition(job), streams, iteration)
    return graph.on_floor(topology.racks)


def scenario_graph(
    scenario: Scenario, topology: Topology, streams: Streams, iteration: int = 0
) -> TrainingGraph:
    """One iteration of all jobs of a scenario, side by side."""
    if not scenario.jobs:
        raise ThzSyncError(
            f"scenario {scenario.name!r} has no jobs; add a [[jobs]] table, or start from the "
            "preset 'paper'"
        )
    return merge([job_graph(job, topology, streams, iteration) for job in scenario.jobs])
