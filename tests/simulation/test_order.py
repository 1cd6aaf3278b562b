"""Who goes first on THz where events meet, and what a blocked link costs a streamed AllReduce."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.simulation.traces import event, task, traced
from thzsync.auditor import audit
from thzsync.collectives import Tensor, Transfer
from thzsync.coordinator.static import ALL_WIRELESS
from thzsync.scenario import Scenario
from thzsync.simulation import Run, simulate
from thzsync.workload import Node

MIB = 2**20
BEYOND = {"allreduce": "streamed-and-ring", "a2a": "sustained", "p2p": "striped"}


def run_clean(folder: Path, nodes: list[Node], **more: Any) -> Run:
    run = simulate(
        traced(folder, nodes, collectives=BEYOND, **more), ALL_WIRELESS, 1, references={}
    )
    assert audit(run).violations == []
    return run


def gradients_in_the_way(folder: Path, **thz: Any) -> dict[int, float]:
    """An AllReduce that nobody waits for, then a transfer on which a task depends: when each ended.

    Times are in milliseconds.
    """
    nodes = [
        event(0, "allreduce", Tensor(16 * MIB), [0, 1, 2, 3]),
        task(1, 1e-4),
        event(2, "p2p", Transfer.of([0], [1], [4 * MIB]), [0, 1], after=[1]),
        task(3, 5e-3, after=[2]),
    ]
    ended = run_clean(folder, nodes, thz=thz).events.select("node", "end_ps")
    return {node: end_ps * 1e-9 for node, end_ps in ended.iter_rows()}


def test_what_compute_waits_for_overtakes_gradients_where_urgency_counts(tmp_path: Path) -> None:
    age, urgency = (gradients_in_the_way(tmp_path, order=order) for order in ("age", "urgency"))
    assert age == gradients_in_the_way(tmp_path)
    assert age[0] < urgency[0]
    assert urgency[2] < 0.5 * age[2]


@pytest.mark.parametrize("policy", ["all-wireless", "thz-sync"])
def test_order_changes_nothing_where_gradients_come_last(policy: str) -> None:
    tiny = Scenario.preset("tiny")
    runs = [
        simulate(tiny.with_({"thz.order": order}), policy, 2, references={}, detailed=False)
        for order in ("age", "urgency")
    ]
    assert runs[0].events.equals(runs[1].events)


def blocked_halfway(folder: Path, timeout_s: float) -> tuple[float, float]:
    """Time of a streamed AllReduce left alone, and with a link blocked in its middle [ms]."""
    nodes, thz = [event(0, "allreduce", Tensor(16 * MIB), range(8))], {"subbands": 4}
    free = run_clean(folder, nodes, thz=thz)
    link = free.tables["flows"].filter(pl.col("discipline") == "pipeline").row(0, named=True)
    took_ms = float(free.events["completion_ms"].item())
    fault = {
        "kind": "pair-blocked",
        "racks": [link["src"], link["dst"]],
        "start_s": took_ms / 2e3,
        "end_s": 3600.0,
    }
    thz |= {"fallback_timeout_s": timeout_s}
    struck = run_clean(folder, nodes, thz=thz, faults=[fault])
    assert struck.events["fallback_chunks"].item() > 0
    return took_ms, float(struck.events["completion_ms"].item())


def test_a_blocked_link_costs_a_streamed_allreduce_little_where_the_fibre_takes_over_at_once(
    tmp_path: Path,
) -> None:
    free_ms, at_once_ms = blocked_halfway(tmp_path, 0.0)
    _, patient_ms = blocked_halfway(tmp_path, 0.02)
    assert at_once_ms < 1.25 * free_ms
    assert patient_ms > free_ms + 15.0


def test_the_preset_beyond_takes_both() -> None:
    thz = Scenario.preset("beyond").thz
    assert (thz.order, thz.fallback_timeout_s) == ("urgency", 0.0)
    assert (Scenario.paper().thz.order, Scenario.paper().thz.fallback_timeout_s) == ("age", 0.2)
