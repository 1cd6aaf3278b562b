from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.workload.strategies import jobs, partition_of
from thzsync.collectives import Tensor, Transfer
from thzsync.errors import ThzSyncError
from thzsync.scenario import Training
from thzsync.streams import Streams
from thzsync.topology import Partition
from thzsync.workload import Compute, Event, Node, Phase, TrainingGraph, merge, training_graph


def compute(number: int, after: tuple[int, ...] = (), duration_s: float = 1.0) -> Compute:
    racks = np.array([0, 1])
    return Compute(number, "job", 0, Phase.FORWARD, 0, racks, duration_s, after)


def event(number: int, after: tuple[int, ...] = (), **changes: object) -> Event:
    plain = Event(
        number,
        "job",
        "p2p",
        0,
        Phase.FORWARD,
        0,
        "activation",
        np.array([0, 1]),
        Transfer.of([0], [1], [8]),
        after,
    )
    return replace(plain, **changes)  # type: ignore[arg-type]


@st.composite
def random_graphs(draw: st.DrawFn) -> TrainingGraph:
    """Acyclic, but with ids in any order."""
    size = draw(st.integers(1, 12))
    place = draw(st.permutations(range(size)))
    nodes: dict[int, Node] = {}
    for position, number in enumerate(place):
        earlier = place[:position]
        after = tuple(draw(st.sets(st.sampled_from(earlier)))) if earlier else ()
        is_event = draw(st.booleans())
        nodes[number] = (
            event(number, after, release_s=draw(st.floats(0, 5)))
            if is_event
            else compute(number, after, draw(st.floats(0, 5)))
        )
    return TrainingGraph(tuple(nodes[n] for n in range(size)))


@given(random_graphs())
def test_the_order_puts_every_node_after_its_predecessors(graph: TrainingGraph) -> None:
    position = {int(n): k for k, n in enumerate(graph.order)}
    assert sorted(position) == list(range(len(graph.nodes)))
    assert all(position[p] < position[n.id] for n in graph.nodes for p in n.after)


@given(random_graphs())
def test_successors_mirror_predecessors(graph: TrainingGraph) -> None:
    start, target = graph.successors.start, graph.successors.target
    forward = {
        (n, int(s)) for n in range(len(graph.nodes)) for s in target[start[n] : start[n + 1]]
    }
    assert forward == {(p, node.id) for node in graph.nodes for p in node.after}
    assert len(target) == graph.indegree.sum()


@given(random_graphs(), st.floats(0, 3))
def test_times_agree_with_the_longest_path_found_by_recursion(
    graph: TrainingGraph, each_s: float
) -> None:
    def end_s(number: int) -> float:
        node = graph.nodes[number]
        start = max((end_s(p) for p in node.after), default=0.0)
        if isinstance(node, Event):
            return max(start, node.release_s) + each_s
        return start + node.duration_s

    ends = [end_s(n) for n in range(len(graph.nodes))]
    assert graph.times(each_s).end_s.tolist() == ends
    assert graph.critical_path_s(lambda _: each_s) == max(ends)


@given(jobs(), jobs())
def test_merged_jobs_keep_their_nodes_and_run_side_by_side(
    one: tuple[Training, Partition], two: tuple[Training, Partition]
) -> None:
    a, b = (training_graph(*job, Streams(0)) for job in (one, two))
    both = merge([a, b])
    assert len(both.nodes) == len(a.nodes) + len(b.nodes)
    assert both.critical_path_s() == max(a.critical_path_s(), b.critical_path_s())
    moved = both.nodes[len(a.nodes) :]
    assert [tuple(p - len(a.nodes) for p in n.after) for n in moved] == [n.after for n in b.nodes]


@given(graph=random_graphs())
def test_a_node_gates_compute_when_a_task_can_be_reached_from_it(graph: TrainingGraph) -> None:
    def reaches(number: int) -> bool:
        rows = graph.successors
        following = rows.target[rows.start[number] : rows.start[number + 1]].tolist()
        return any(isinstance(graph.nodes[n], Compute) or reaches(n) for n in following)

    assert graph.gates_compute.tolist() == [reaches(n) for n in range(len(graph.nodes))]


def test_an_iteration_waits_for_its_gradients_and_nothing_else_does() -> None:
    training = Training(microbatches=2, moe_stages=(0,), overlap_allreduce=True)
    graph = training_graph(training, partition_of(2, 4), Streams(0))
    gates = {(e.kind, bool(graph.gates_compute[e.id])) for e in graph.events}
    assert gates == {("p2p", True), ("a2a", True), ("allreduce", False)}


def test_an_empty_graph_takes_no_time() -> None:
    graph = TrainingGraph(())
    assert graph.critical_path_s() == 0
    assert not len(graph.order)


BAD = {
    "cycle": ([event(0, (1,)), event(1, (0,))], r"event 0 .* event 1 .* event 0"),
    "self": ([event(0, (0,))], r"cycle: event 0"),
    "missing predecessor": ([event(0, (7,))], r"event 0 .*: .*node 7\b"),
    "ids": ([event(3)], r"event 3 .*: .*\b0$"),
    "unknown rack": ([event(0, racks=np.array([0, 9]))], r"event 0 .*: rack 9\b"),
    "negative rack": ([event(0, racks=np.array([-1, 0]))], r"event 0 .*: rack -1\b"),
    "no racks": ([event(0, racks=np.array([], dtype=np.int64))], r"rising list"),
    "unsorted racks": ([event(0, racks=np.array([1, 0]))], r"rising list"),
    "stranger": ([event(0, demand=Transfer.of([0], [3], [8]))], r"rack 0 -> rack 3\b"),
    "negative size": ([event(0, demand=Transfer.of([0], [1], [-5]))], r"event 0 .* size -5 bytes"),
    "negative tensor": (
        [event(0, kind="allreduce", demand=Tensor(-1))],
        r"event 0 .*negative size -1",
    ),
    "to itself": ([event(0, demand=Transfer.of([1], [1], [5]))], r"rack 1\b"),
    "wrong demand": ([event(0, demand=Tensor(8))], r"p2p .*Transfer; found a Tensor"),
    "negative duration": ([compute(0, duration_s=-1.0)], r"compute 0 .*: duration is -1 s"),
    "endless duration": ([compute(0, duration_s=float("inf"))], r"inf s"),
    "negative release": ([event(0, release_s=-1.0)], r"event 0 .*: release is -1 s"),
    "negative stage": ([event(0, stage=-1)], r"stage .*\b0\b"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_graph_is_refused_by_name_in_one_line(case: str) -> None:
    nodes, message = BAD[case]
    with pytest.raises(ThzSyncError, match=message) as caught:
        TrainingGraph(tuple(nodes), rack_count=4, place="my.file")
    assert str(caught.value).startswith("my.file: ")
    assert "\n" not in str(caught.value)


def test_a_long_cycle_is_named_by_its_first_nodes() -> None:
    nodes = [event(n, ((n + 1) % 50,)) for n in range(50)]
    with pytest.raises(ThzSyncError, match=r"waits for \.\.\.") as caught:
        TrainingGraph(tuple(nodes))
    assert len(str(caught.value)) < 400


def test_a_partition_of_one_rack_is_a_graph_too() -> None:
    graph = training_graph(Training(microbatches=1, moe_stages=()), partition_of(1, 1), Streams(0))
    assert graph.critical_path_s() == pytest.approx(0.06)
