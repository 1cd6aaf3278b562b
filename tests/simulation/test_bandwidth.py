"""Bandwidths as nccl-tests defines them, from records alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from thzsync.collectives import Tensor, Transfer, find_collective
from thzsync.collectives.demand import Demand
from thzsync.records import Run
from thzsync.records.schema import polars_schema
from thzsync.scenario import Scenario
from thzsync.simulation import simulate
from thzsync.simulation.bandwidth import by_collective, with_bandwidth
from thzsync.streams import Streams
from thzsync.topology import Topology
from thzsync.workload import scenario_graph
from thzsync.workload.volumes import volumes

FOUR = np.arange(4, dtype=np.int64)
TINY = Scenario.preset("tiny")


def recorded(*asked: tuple[str, list[int], Demand, float]) -> Run:
    """A record of nothing but these events: kind, racks, demand and time [ms]."""
    events, rows = [], []
    for number, (kind, racks, demand, took_ms) in enumerate(asked):
        blocks = find_collective(kind).blocks(demand, np.array(racks, dtype=np.int64))
        payload = demand.payload_bytes
        event = {"number": number, "kind": kind, "racks": racks, "payload_bytes": payload}
        events.append(event | {"completion_ms": took_ms})
        rows += [
            {
                "number": number,
                "block": b,
                "bytes": int(blocks.size_bytes[b]),
                "sources": blocks.sources(b).tolist(),
                "targets": blocks.targets(b).tolist(),
            }
            for b in range(len(blocks))
        ]
    tables = {
        "events": pl.DataFrame(events),
        "blocks": pl.DataFrame(rows, schema=polars_schema("blocks")),
    }
    return Run(TINY, "all-wired", 0, {}, tables)


def even(size: int) -> Transfer:
    src, dst = np.nonzero(~np.eye(4, dtype=np.bool_))
    return Transfer.of(src, dst, np.full(12, size))


def test_bandwidths_of_events_are_those_of_nccl_tests() -> None:
    pair = Transfer.of(np.array([0]), np.array([1]), np.array([1_000_000]))
    found = with_bandwidth(
        recorded(
            ("allreduce", [0, 1, 2, 3], Tensor(4_000_000), 1.0),
            ("a2a", [0, 1, 2, 3], even(1_000_000), 1.0),
            ("p2p", [0, 1], pair, 1.0),
            ("broadcast", [4, 7], Tensor(1_000_000, 4), 1.0),
            ("allreduce", [0, 1], Tensor(8), 0.0),
        )
    )
    assert found["algbw_gb_s"].to_list() == [pytest.approx(4), pytest.approx(4), 1, 1, None]
    assert found["busbw_gb_s"].to_list() == [pytest.approx(6), pytest.approx(3), 1, 1, None]


def test_an_uneven_exchange_is_as_fast_as_its_busiest_rack() -> None:
    """The record has every pair, so nothing needs to be taken as even."""
    sizes = np.array([3_000_000, 0, 0] + 9 * [1_000_000])
    src, dst = np.nonzero(~np.eye(4, dtype=np.bool_))
    run = recorded(("a2a", FOUR.tolist(), Transfer.of(src, dst, sizes), 1.0))
    # Rack 1 gets three from rack 0 and one each from the other two.
    assert with_bandwidth(run)["busbw_gb_s"].to_list() == [pytest.approx(5)]


def test_a_real_record_has_the_bytes_of_its_training_graph() -> None:
    run = simulate(TINY, "all-wired", iterations=1, seed=3)
    found = by_collective(with_bandwidth(run))
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
    run = recorded(
        ("allreduce", [0, 1], Tensor(1_000_000), 1.0), ("allreduce", [0, 1], Tensor(3_000_000), 9.0)
    )
    (row,) = by_collective(with_bandwidth(run))
    assert (row["events"], row["completion_ms"]) == (2, 5.0)
    assert row["algbw_gb_s"] == pytest.approx(0.4)


def test_a_collective_that_nobody_knows_here_has_no_bandwidth() -> None:
    run = recorded(("allreduce", [0, 1], Tensor(1_000_000), 1.0))
    named = run.events.with_columns(kind=pl.lit("somebody's"))
    (row,) = by_collective(with_bandwidth(replace(run, tables=run.tables | {"events": named})))
    assert row["algbw_gb_s"] is None
