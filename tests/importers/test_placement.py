from __future__ import annotations

from pathlib import Path

import pytest

from tests.importers.files import collective, integer, node, receive, send, text, write_chakra
from thzsync.collectives import Transfer
from thzsync.errors import ThzSyncError
from thzsync.importers import Placement, ReadOptions, Rescaling, import_trace
from thzsync.importers.placement import place


def test_neighbours_share_a_rack() -> None:
    assert place(range(6), Placement(ranks_per_rack=2)).rack == {0: 0, 1: 0, 2: 1, 3: 1, 4: 2, 5: 2}


def test_a_stage_has_a_ring_of_its_own() -> None:
    floor = place(range(8), Placement(ranks_per_rack=2, stages=2, lanes=5))
    assert floor.rack == {0: 0, 1: 0, 2: 1, 3: 1, 4: 5, 5: 5, 6: 6, 7: 6}
    assert floor.stage == {0: 0, 1: 0, 2: 0, 3: 0, 4: 1, 5: 1, 6: 1, 7: 1}
    assert floor.racks == 7


def test_a_table_may_say_anything(tmp_path: Path) -> None:
    table = tmp_path / "racks.csv"
    table.write_text("rank,rack\n0,9\n1,4\n")
    assert place(range(2), Placement(table=table)).rack == {0: 9, 1: 4}
    with pytest.raises(ThzSyncError, match=r"rank 2\b"):
        place(range(3), Placement(table=table))
    table.write_text("rank,rack\n0,nine\n")
    with pytest.raises(ThzSyncError, match="row 1 "):
        place(range(1), Placement(table=table))


@pytest.mark.parametrize(
    ("placement", "message"),
    [
        (Placement(stages=3), r"\b8 ranks .*\b3 "),
        (Placement(stages=2, lanes=3), r"\b4 racks .*\b3; .*--lanes"),
        (Placement(ranks_per_rack=0), "ranks-per-rack: found 0"),
    ],
)
def test_what_does_not_fit_is_refused(placement: Placement, message: str) -> None:
    with pytest.raises(ThzSyncError, match=message):
        place(range(8), placement)


def test_traffic_inside_a_rack_is_dropped_and_counted(tmp_path: Path) -> None:
    paths = write_chakra(tmp_path, *[[collective(0, 6, 400)]] * 4)
    imported = import_trace(paths, placement=Placement(ranks_per_rack=2))
    (event,) = imported.trace.graph.events
    assert isinstance(event.demand, Transfer)
    # Of each rank's four parts of 100 bytes, two go to the other rack and one to the neighbour.
    assert event.demand.size_bytes.tolist() == [400, 400]
    assert imported.dropped.in_rack_bytes == 400
    assert imported.dropped.events == 0


def test_an_allreduce_is_summed_inside_the_racks_first(tmp_path: Path) -> None:
    paths = write_chakra(tmp_path, *[[collective(0, 0, 400)]] * 4)
    imported = import_trace(paths, placement=Placement(ranks_per_rack=2))
    assert imported.trace.graph.events[0].payload_bytes == 400
    # Six copies among four ranks, of which two pass between the racks.
    assert imported.dropped.in_rack_bytes == 4 * 400


def test_an_event_inside_one_rack_vanishes_but_keeps_its_order(tmp_path: Path) -> None:
    rank = [
        node(0, 4, micros=3),
        collective(1, 0, 64, after=(0,)),
        node(2, 4, after=(1,), micros=4),
    ]
    late = [node(0, 4, micros=9), *rank[1:]]
    imported = import_trace(
        write_chakra(tmp_path, rank, late), placement=Placement(ranks_per_rack=2)
    )
    assert not imported.trace.graph.events
    assert imported.dropped.events == 1
    assert imported.trace.graph.critical_path_s() == pytest.approx(13e-6)


def test_an_exchange_of_a_rank_with_itself_is_no_traffic_and_no_mistake(tmp_path: Path) -> None:
    paths = write_chakra(tmp_path, [node(0, 4, micros=1), collective(1, 6, 64)])
    imported = import_trace(paths, options=ReadOptions(world=1))
    assert imported.dropped.events == 1
    assert imported.dropped.in_rack_bytes == 0


def test_twice_the_data_parallel_width_joins_the_gradients_and_nothing_else(tmp_path: Path) -> None:
    one = [send(0, 1, 10), collective(1, 0, 64)]
    two = [receive(0, 0, 10), collective(1, 0, 64)]
    paths = write_chakra(tmp_path, one, two)
    graph = import_trace(paths, rescaling=Rescaling(3)).trace.graph
    (reduction,) = [e for e in graph.events if e.kind == "allreduce"]
    assert reduction.racks.tolist() == [0, 1, 2, 3, 4, 5]
    assert reduction.payload_bytes == 64
    pairs = [e.racks.tolist() for e in graph.events if e.kind == "p2p"]
    assert sorted(pairs) == [[0, 1], [2, 3], [4, 5]]


def test_copies_of_a_stage_stand_on_the_ring_of_their_stage(tmp_path: Path) -> None:
    one = [node(0, 4, micros=1), send(1, 1, 10, after=(0,)), collective(2, 0, 64)]
    two = [receive(0, 0, 10), collective(2, 0, 64), node(3, 4, after=(0,), micros=2)]
    paths = write_chakra(tmp_path, one, two)
    graph = import_trace(paths, placement=Placement(stages=2), rescaling=Rescaling(3)).trace.graph
    assert {(c.stage, int(c.racks[0])) for c in graph.computes if c.duration_s > 1.5e-6} == {
        (1, 3), (1, 4), (1, 5),
    }  # fmt: skip
    pairs = [e.racks.tolist() for e in graph.events if e.kind == "p2p"]
    assert sorted(pairs) == [[0, 3], [1, 4], [2, 5]]


def test_a_group_with_an_absent_rank_cannot_grow(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text('{"dp": [0, 1]}')
    rank = [node(0, 7, integer("comm_size", 4), text("pg_name", "dp"))]
    with pytest.raises(ThzSyncError, match=r"rank 1 .*--data-parallel"):
        import_trace(write_chakra(tmp_path, rank), rescaling=Rescaling(2))


def test_a_trace_without_gradients_cannot_grow(tmp_path: Path) -> None:
    paths = write_chakra(tmp_path, [collective(0, 6, 64)], [collective(0, 6, 64)])
    with pytest.raises(ThzSyncError, match="gradients"):
        import_trace(paths, rescaling=Rescaling(2))
    with pytest.raises(ThzSyncError, match="'dp'"):
        import_trace(paths, rescaling=Rescaling(2, ("dp",)))
