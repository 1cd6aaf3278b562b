from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from thzsync.collectives import Transfer
from thzsync.errors import ThzSyncError
from thzsync.scenario import Floor, Job, ModelJob, Scenario, Training
from thzsync.streams import Streams
from thzsync.topology import Topology
from thzsync.workload import TrainingGraph, job_graph, scenario_graph
from thzsync.workload.generate import GENERATORS
from thzsync.workload.tracefile import Trace, write_trace

FLOOR = Floor(rings=2, slots_per_ring=4)
TRAINING = Training(microbatches=2, moe_stages=(0,), a2a_skew=0.5)


def job_of(source: str, folder: Path) -> Job:
    """The same kind of job from every source."""
    if source == "training":
        return Job(training=TRAINING)
    if source == "model":
        return Job(model=ModelJob(name="mixtral-8x7b", microbatches=2))
    topology, file = Topology(FLOOR), folder / "trace.jsonl.gz"
    graph = job_graph(Job(name="recorded", training=TRAINING), topology, Streams(0))
    write_trace(file, Trace(graph, topology.racks))
    return Job(trace=str(file))


@pytest.mark.parametrize("source", GENERATORS)
class TestEveryGenerator:
    """What any generator promises."""

    def graph(self, source: str, folder: Path, seed: int = 0, iteration: int = 0) -> TrainingGraph:
        return job_graph(job_of(source, folder), Topology(FLOOR), Streams(seed), iteration)

    def test_nodes_carry_the_name_of_the_job(self, source: str, tmp_path: Path) -> None:
        assert {node.job for node in self.graph(source, tmp_path).nodes} == {"train"}

    def test_nodes_stay_on_the_partition(self, source: str, tmp_path: Path) -> None:
        used = np.concatenate([node.racks for node in self.graph(source, tmp_path).nodes])
        assert set(used.tolist()) <= set(range(FLOOR.racks))

    def test_it_computes_and_communicates(self, source: str, tmp_path: Path) -> None:
        graph = self.graph(source, tmp_path)
        assert graph.computes
        assert graph.events
        assert graph.critical_path_s() > 0
        assert graph.rack_count == FLOOR.racks

    def test_the_same_seed_and_iteration_give_the_same_graph(
        self, source: str, tmp_path: Path
    ) -> None:
        for name in ("one", "two"):
            write_trace(tmp_path / name, Trace(self.graph(source, tmp_path, 3, 5), FLOOR.racks))
        assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_jobs_of_a_scenario_run_side_by_side_on_their_own_racks() -> None:
    small = Training(microbatches=1, moe_stages=())
    jobs = (Job(name="a", lanes=2, training=small), Job(name="b", first_lane=2, training=small))
    scenario = Scenario(floor=FLOOR, jobs=jobs)
    graph = scenario_graph(scenario, Topology(FLOOR), Streams(0))
    racks = {
        name: {int(r) for node in graph.nodes if node.job == name for r in node.racks}
        for name in ("a", "b")
    }
    assert racks == {"a": {0, 1, 4, 5}, "b": {2, 3, 6, 7}}
    job = {node.id: node.job for node in graph.nodes}
    assert all(job[p] == node.job for node in graph.nodes for p in node.after)


def test_a_neighbour_does_not_change_a_jobs_demand() -> None:
    training = Training(microbatches=1, moe_stages=(0,), a2a_skew=1.0)
    jobs = (
        Job(name="a", rings=1, training=training),
        Job(name="b", first_ring=1, training=training),
    )

    def routed(*jobs: Job) -> dict[str, list[list[int]]]:
        scenario = Scenario(floor=FLOOR, jobs=jobs)
        demand: dict[str, list[list[int]]] = {}
        for event in scenario_graph(scenario, Topology(FLOOR), Streams(0)).events:
            if isinstance(event.demand, Transfer):
                demand.setdefault(event.job, []).append(event.demand.size_bytes.tolist())
        return demand

    together = routed(*jobs)
    assert together["b"] == routed(jobs[1])["b"]
    assert together["a"] != together["b"]


def test_a_trace_that_leaves_its_partition_is_refused(tmp_path: Path) -> None:
    job = job_of("trace", tmp_path).model_copy(update={"lanes": 3})
    told = r"compute 0 .*: rack 3 lies outside the partition of .* use a larger floor, or widen"
    with pytest.raises(ThzSyncError, match=told):
        job_graph(job, Topology(FLOOR), Streams(0))


def test_a_scenario_without_jobs_has_no_graph() -> None:
    scenario = Scenario.preset("single-ring")
    with pytest.raises(ThzSyncError, match=r"'single-ring' .*\[\[jobs\]\]"):
        scenario_graph(scenario, Topology(scenario.floor), Streams(0))


def test_the_pod_of_1024_racks_generates_its_graph() -> None:
    scenario = Scenario.preset("pod-1024")
    graph = scenario_graph(scenario, Topology(scenario.floor), Streams(0))
    assert len(graph.events) == 2 * 31 * 32 + 3 * 2 * 32 + 32 * 4
    # All stages work equally long, so the pipeline is as long as m + S - 1 of its steps.
    assert graph.critical_path_s() == pytest.approx((32 + 31) * 0.12)


def test_a_trace_is_read_once_for_all_iterations_until_its_file_changes(tmp_path: Path) -> None:
    job, topology = job_of("trace", tmp_path), Topology(FLOOR)
    first, second = (job_graph(job, topology, Streams(0), iteration) for iteration in (0, 1))
    assert first.nodes is second.nodes

    other = Job(training=TRAINING.model_copy(update={"microbatches": 3}))
    graph = job_graph(other, topology, Streams(0))
    assert job.trace is not None
    write_trace(job.trace, Trace(graph, topology.racks))
    assert len(job_graph(job, topology, Streams(0), 2).nodes) == len(graph.nodes)
