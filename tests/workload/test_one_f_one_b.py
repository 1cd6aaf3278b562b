from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.workload.strategies import jobs, partition_of
from thzsync.collectives import Tensor, Transfer
from thzsync.network import network_of
from thzsync.scenario import Scenario, Training
from thzsync.streams import Streams
from thzsync.topology import Partition, Topology
from thzsync.workload import Event, Phase, TrainingGraph, scenario_graph, training_graph
from thzsync.workload.one_f_one_b import stage_order

KINDS = ("p2p", "a2a", "allreduce")

F, B = Phase.FORWARD, Phase.BACKWARD
MIB = 2**20


def paper_graph() -> TrainingGraph:
    scenario = Scenario.paper()
    return scenario_graph(scenario, Topology(scenario.floor), Streams(0))


def count(graph: TrainingGraph) -> Counter[str]:
    return Counter(event.kind for event in graph.events)


def of_kind(graph: TrainingGraph, kind: str) -> list[Event]:
    return [event for event in graph.events if event.kind == kind]


def test_the_paper_has_48_p2p_32_a2a_and_16_allreduce_events() -> None:
    assert count(paper_graph()) == {"p2p": 48, "a2a": 32, "allreduce": 16}


def test_the_paper_moves_its_bytes() -> None:
    graph = paper_graph()
    payload = {kind: sum(e.payload_bytes for e in of_kind(graph, kind)) for kind in KINDS}
    assert payload["p2p"] == 48 * 8 * 16 * MIB
    assert payload["a2a"] == 32 * 8 * 12 * MIB
    assert payload["allreduce"] == 16 * 128 * MIB


def test_all_wired_energy_of_the_paper_is_27_49_joules() -> None:
    """40 pJ per bit and hop; an AllReduce crosses every edge of a spanning tree twice."""
    scenario, bit_hops = Scenario.paper(), 0
    network = network_of(scenario)
    for event in paper_graph().events:
        if isinstance(event.demand, Tensor):
            edges = len(event.racks) - 1
            hops = int(network.hops(event.racks[0], event.racks[1]))
            bit_hops += 8 * event.demand.tensor_bytes * 2 * edges * hops
        else:
            hops_of_pair = network.hops(event.demand.src, event.demand.dst)
            bit_hops += 8 * int((event.demand.size_bytes * hops_of_pair).sum())
    energy_j = bit_hops * scenario.optical.energy_j_per_bit_hop
    assert energy_j == pytest.approx(27.49, abs=0.005)


@given(st.integers(1, 8), st.integers(1, 12))
def test_a_stage_warms_up_alternates_and_cools_down(stages: int, microbatches: int) -> None:
    for stage in range(stages):
        order = stage_order(stage, stages, microbatches)
        phases = [phase for phase, _ in order]
        warm_up = min(stages - stage - 1, microbatches)
        steady = microbatches - warm_up
        assert phases == [F] * warm_up + [F, B] * steady + [B] * warm_up
        for phase in Phase:
            assert [b for p, b in order if p is phase] == list(range(microbatches))


@given(st.integers(1, 8), st.integers(1, 12), st.floats(1e-3, 1))
def test_bubble_fraction_is_the_classic_one(
    stages: int, microbatches: int, forward_s: float
) -> None:
    training = Training(
        microbatches=microbatches, moe_stages=(), forward_s=forward_s, backward_s=2 * forward_s
    )
    graph = training_graph(training, partition_of(stages, 2), Streams(0))
    busy_s = microbatches * 3 * forward_s
    bubble = 1 - busy_s / graph.critical_path_s()
    assert bubble == pytest.approx((stages - 1) / (microbatches + stages - 1))


@given(jobs())
def test_event_counts_follow_from_the_job(job: tuple[Training, Partition]) -> None:
    training, partition = job
    graph = training_graph(training, partition, Streams(0))
    alone = partition.lanes == 1
    passes = 2 if training.backward_a2a else 1
    exchanges = 2 * training.moe_layers_per_stage * passes * training.microbatches
    expected = {
        "p2p": 2 * (partition.stages - 1) * training.microbatches,
        "a2a": 0 if alone else len(training.moe_stages) * exchanges,
        "allreduce": 0 if alone else partition.stages * training.allreduce_buckets,
    }
    assert {kind: count(graph)[kind] for kind in KINDS} == expected


@given(jobs())
def test_bytes_follow_from_the_job(job: tuple[Training, Partition]) -> None:
    training, partition = job
    graph = training_graph(training, partition, Streams(0))
    for event in of_kind(graph, "p2p"):
        assert event.payload_bytes == partition.lanes * training.p2p_bytes
    for event in of_kind(graph, "a2a"):
        assert event.payload_bytes == partition.lanes * training.a2a_bytes_per_rack
    for event in of_kind(graph, "allreduce"):
        assert event.payload_bytes == training.allreduce_bytes


@given(jobs())
def test_a_stage_computes_one_thing_at_a_time_in_schedule_order(
    job: tuple[Training, Partition],
) -> None:
    training, partition = job
    graph = training_graph(training, partition, Streams(0))
    for stage in range(partition.stages):
        own = [node for node in graph.computes if node.stage == stage]
        assert all(a.id in b.after for a, b in itertools.pairwise(own))
        passes = list(dict.fromkeys((node.phase, node.microbatch) for node in own))
        assert passes == stage_order(stage, partition.stages, training.microbatches)
        total_s = sum(node.duration_s for node in own)
        pass_s = training.forward_s + training.backward_s
        assert total_s == pytest.approx(training.microbatches * pass_s)


@given(jobs())
def test_ids_are_a_topological_order(job: tuple[Training, Partition]) -> None:
    graph = training_graph(*job, Streams(0))
    assert all(p < node.id for node in graph.nodes for p in node.after)


def test_a_pass_waits_for_its_handover_and_handovers_keep_their_order() -> None:
    graph = paper_graph()
    for phase, step in ((F, 1), (B, -1)):
        sent = [e for e in of_kind(graph, "p2p") if e.phase is phase]
        for event in sent:
            waiting = [n for n in graph.computes if event.id in n.after]
            assert [(n.stage, n.phase, n.microbatch) for n in waiting] == [
                (event.stage + step, phase, event.microbatch)
            ]
        for stage in range(4):
            line = [e for e in sent if e.stage == stage]
            assert [e.microbatch for e in line] == list(range(len(line)))
            assert all(a.id in b.after for a, b in itertools.pairwise(line))


def test_a_handover_has_one_flow_per_lane_between_neighbouring_stages() -> None:
    event = next(e for e in of_kind(paper_graph(), "p2p") if e.stage == 2 and e.phase is B)
    assert isinstance(event.demand, Transfer)
    assert event.demand.src.tolist() == list(range(16, 24))
    assert event.demand.dst.tolist() == list(range(8, 16))
    assert event.racks.tolist() == list(range(8, 24))


def test_dispatch_and_combine_part_a_forward_pass_in_equal_slices() -> None:
    training = Training(microbatches=1, moe_stages=(0,), moe_layers_per_stage=2, forward_s=5.0)
    graph = training_graph(training, partition_of(1, 3), Streams(0))
    forward = [node for node in graph.computes if node.phase is F]
    assert [node.duration_s for node in forward] == pytest.approx([1.0] * 5)
    exchanges = of_kind(graph, "a2a")
    assert [e.label for e in exchanges] == ["dispatch 0", "combine 0", "dispatch 1", "combine 1"]
    for before, exchange, after in zip(forward, exchanges, forward[1:], strict=False):
        assert exchange.after == (before.id,)
        assert exchange.id in after.after


def test_gradients_retrace_the_exchanges_backwards() -> None:
    training = Training(
        microbatches=1, moe_stages=(0,), moe_layers_per_stage=2, backward_a2a=True, a2a_skew=1.0
    )
    graph = training_graph(training, partition_of(1, 4), Streams(0))
    exchanges = of_kind(graph, "a2a")
    forward, backward = exchanges[:4], exchanges[4:]
    assert [e.label for e in backward] == [e.label for e in forward][::-1]
    matrices = {(e.label, e.phase): matrix(e) for e in exchanges}
    for layer in (0, 1):
        sent = matrices[f"dispatch {layer}", F]
        np.testing.assert_array_equal(matrices[f"combine {layer}", F], sent.T)
        np.testing.assert_array_equal(matrices[f"combine {layer}", B], sent)
        np.testing.assert_array_equal(matrices[f"dispatch {layer}", B], sent.T)
    assert (matrices["dispatch 0", F] != matrices["dispatch 1", F]).any()


def matrix(event: Event) -> np.ndarray:
    assert isinstance(event.demand, Transfer)
    size = np.zeros((4, 4), dtype=np.int64)
    size[event.demand.src, event.demand.dst] = event.demand.size_bytes
    return size


def test_buckets_leave_as_slices_of_the_last_backward_pass_finish() -> None:
    training = Training(
        microbatches=2,
        moe_stages=(),
        allreduce_buckets=4,
        backward_s=8.0,
        overlap_allreduce=True,
    )
    graph = training_graph(training, partition_of(1, 2), Streams(0))
    last = [n for n in graph.computes if n.phase is B and n.microbatch == 1]
    assert [n.duration_s for n in last] == [2.0] * 4
    buckets = of_kind(graph, "allreduce")
    assert buckets[0].after == (last[0].id,)
    for k in (1, 2, 3):
        assert buckets[k].after == (last[k].id, buckets[k - 1].id)


def test_without_overlap_all_buckets_wait_for_the_last_backward_pass() -> None:
    training = Training(microbatches=2, moe_stages=(), allreduce_buckets=3, backward_s=8.0)
    graph = training_graph(training, partition_of(2, 2), Streams(0))
    for stage in (0, 1):
        last = [n.id for n in graph.computes if n.stage == stage][-1]
        buckets = [e for e in of_kind(graph, "allreduce") if e.stage == stage]
        assert buckets[0].after == (last,)
        assert [b.after for b in buckets[1:]] == [(last, b.id) for b in buckets[:-1]]
    gradient = [e for e in of_kind(graph, "p2p") if e.phase is B][-1]
    first = next(e for e in of_kind(graph, "allreduce") if e.stage == 1)
    assert gradient.id < first.id  # the stage before waits for it, so it goes first


def test_skewed_routing_depends_on_seed_and_iteration_alone() -> None:
    training = Training(microbatches=2, moe_stages=(0,), a2a_skew=1.0)
    partition = partition_of(1, 4)

    def sizes(seed: int, iteration: int) -> list[list[int]]:
        events = of_kind(training_graph(training, partition, Streams(seed), iteration), "a2a")
        return [matrix(event).tolist() for event in events]

    assert sizes(0, 0) == sizes(0, 0)
    assert sizes(0, 0) != sizes(1, 0)
    assert sizes(0, 0) != sizes(0, 1)


def test_one_stage_and_one_lane_only_compute() -> None:
    graph = training_graph(Training(moe_stages=(0,)), partition_of(1, 1), Streams(0))
    assert not graph.events
    assert len(graph.computes) == 16


def test_a_graph_without_draws_is_made_once_for_job_and_racks() -> None:
    work, racks = Training(), np.arange(8).reshape(2, 4)
    first = training_graph(work, Partition("a", racks), Streams(0), 0)
    assert training_graph(work, Partition("a", racks.astype(np.int32)), Streams(1), 5) is first
    other_job = training_graph(work, Partition("b", racks), Streams(0), 0)
    assert {node.job for node in other_job.nodes} == {"b"}
    elsewhere = training_graph(work, Partition("a", racks + 8), Streams(0), 0)
    assert min(int(node.racks[0]) for node in elsewhere.nodes) == 8


def test_a_graph_with_draws_is_made_anew_for_every_iteration() -> None:
    work, where = Training(a2a_skew=1.0), Partition("a", np.arange(8).reshape(2, 4))
    demands = [
        of_kind(training_graph(work, where, Streams(0), iteration), "a2a")[0].demand
        for iteration in (0, 1, 0)
    ]
    first, second, again = (demand.size_bytes.tolist() for demand in demands)
    assert first == again
    assert first != second
