"""Bandwidths as nccl-tests defines them, in the records of events."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from thzsync.collectives import Tensor, Transfer, find_collective
from thzsync.collectives.demand import Demand
from thzsync.scenario import Scenario
from thzsync.simulation import simulate
from thzsync.simulation.results import by_collective
from thzsync.streams import Streams
from thzsync.topology import Topology
from thzsync.workload import scenario_graph
from thzsync.workload.volumes import volumes

TINY = Scenario.preset("tiny")


def measured(kind: str, racks: list[int], demand: Demand) -> tuple[float, float]:
    return find_collective(kind).measured_bytes(demand, np.array(racks, dtype=np.int64))


def even(sizes: list[int]) -> Transfer:
    src, dst = np.nonzero(~np.eye(4, dtype=np.bool_))
    return Transfer.of(src, dst, np.array(sizes))


def test_bytes_that_count_are_those_of_nccl_tests() -> None:
    pair = Transfer.of(np.array([0]), np.array([1]), np.array([1000]))
    four = [0, 1, 2, 3]
    assert measured("allreduce", four, Tensor(4000)) == (4000, 6000)
    assert measured("a2a", four, even(12 * [1000])) == (4000, 3000)
    assert measured("p2p", [0, 1], pair) == (1000, 1000)
    assert measured("broadcast", [4, 7], Tensor(1000, 4)) == (1000, 1000)
    assert measured("all-gather", four, Tensor(4000)) == (4000, 3000)
    assert measured("reduce-scatter", four, Tensor(4000)) == (4000, 3000)


def test_an_uneven_exchange_is_as_fast_as_its_busiest_rack() -> None:
    """Rack 1 gets three from rack 0 and one each from the other two."""
    _, bus = measured("a2a", [0, 1, 2, 3], even([3000, 0, 0] + 9 * [1000]))
    assert bus == 5000


def test_a_record_has_the_bytes_of_its_training_graph() -> None:
    run = simulate(TINY, "all-wired", iterations=1, seed=3)
    found = by_collective(run.events)
    took = {row["kind"]: row["events"] * row["completion_ms"] for row in found}
    graph = scenario_graph(TINY, Topology(TINY.floor), Streams(3))
    for row in found:
        asked = [v for v in volumes(graph) if v.kind == row["kind"]]
        size = row["algbw_gb_s"] * took[row["kind"]] * 1e6
        assert row["events"] == sum(v.events for v in asked)
        assert size == pytest.approx(sum(v.buffer_bytes for v in asked))
        bus = row["busbw_gb_s"] * took[row["kind"]] * 1e6
        assert bus == pytest.approx(sum(v.bus_bytes for v in asked))


def test_a_type_is_all_its_bytes_over_all_its_time() -> None:
    events = pl.DataFrame(
        {
            "kind": 3 * ["allreduce"],
            "completion_ms": [1.0, 9.0, 0.0],
            "algbw_gb_s": [1.0, 1 / 3, 0.0],
            "busbw_gb_s": [2.0, 2 / 3, 0.0],
        }
    )
    (row,) = by_collective(events)
    assert row["events"] == 3
    assert row["algbw_gb_s"] == pytest.approx(0.4)
    assert row["busbw_gb_s"] == pytest.approx(0.8)


def test_a_type_that_took_no_time_has_no_bandwidth() -> None:
    nothing = {key: [0.0] for key in ("completion_ms", "algbw_gb_s", "busbw_gb_s")}
    (row,) = by_collective(pl.DataFrame({"kind": ["barrier"]} | nothing))
    assert row["algbw_gb_s"] is None
