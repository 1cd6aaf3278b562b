"""Things of one instant are done together, before a transmission is formed."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tests.simulation.traces import event, task, traced
from thzsync.arrays import IntArray
from thzsync.auditor import audit
from thzsync.collectives import Demand, Tensor, Transfer
from thzsync.coordinator.static import ALL_WIRELESS
from thzsync.simulation import Run, simulate
from thzsync.synthesis import FlowMethod, Setting, register_method
from thzsync.transfers import Flow, TransferGraph, graph_of
from thzsync.workload import Node

MIB = 2**20
pytestmark = pytest.mark.usefixtures("nothing_stays_registered")
PAIR = Transfer.of([0], [1], [MIB])


class BesideARelay:
    """Rack 0 sends to rack 1, which passes on to rack 2; rack 0 has something for rack 3 too."""

    def plan(
        self, demand: Demand, racks: IntArray, chunk_bytes: int, setting: Setting
    ) -> TransferGraph:
        flows = [
            Flow(0, 1, MIB, block=0, shard=0),
            Flow(1, 2, MIB, after=(0,), local=False, block=0, shard=0),
            Flow(0, 3, MIB, block=1, shard=1),
        ]
        return graph_of("a2a", demand, racks, chunk_bytes, flows)


def run_clean(folder: Path, nodes: list[Node], **more: object) -> Run:
    run = simulate(traced(folder, nodes, **more), ALL_WIRELESS, 1, references={})
    assert audit(run).violations == []
    return run


def test_a_round_is_formed_from_everything_that_is_ready_at_its_instant(tmp_path: Path) -> None:
    """On one subband rack 0 sends twice; meanwhile rack 1 passes on what has just arrived."""
    register_method(FlowMethod("a2a", "relay", BesideARelay(), "assignment"))
    demand = Transfer.of([0, 0], [2, 3], [MIB, MIB])
    run = run_clean(
        tmp_path,
        [event(0, "a2a", demand, range(4))],
        thz={"subbands": 1},
        collectives={"a2a": "relay"},
    )
    assert run.rounds["transmissions"].to_list() == [1, 2]


def test_tasks_that_take_no_time_hold_nothing_up(tmp_path: Path) -> None:
    """Transfer, two tasks of no length, transfer: the second leaves when the first arrives."""
    nodes = [
        event(0, "p2p", PAIR, [0, 1]),
        task(1, 0.0, after=[0]),
        task(2, 0.0, after=[1]),
        event(3, "p2p", PAIR, [0, 1], after=[2]),
    ]
    first, second = run_clean(tmp_path, nodes).events.sort("node").iter_rows(named=True)
    assert second["release_ps"] == first["end_ps"]


def test_an_event_starts_at_the_instant_at_which_its_predecessor_ends(tmp_path: Path) -> None:
    """Also while a longer event, whose rounds end at other instants, keeps the overlay busy."""
    nodes = [
        event(0, "allreduce", Tensor(8 * MIB), [4, 5, 6, 7]),
        event(1, "p2p", PAIR, [0, 1]),
        event(2, "p2p", Transfer.of([2], [3], [MIB]), [2, 3], after=[1]),
    ]
    run = run_clean(tmp_path, nodes)
    long, first, second = run.events.sort("node").iter_rows(named=True)
    assert long["end_ps"] > first["end_ps"]
    assert second["release_ps"] == first["end_ps"]
    rounds = run.rounds.filter(pl.col("number") == second["number"])
    assert rounds["start_ps"].min() == first["end_ps"]
