"""Property 2: precedence and ownership of chunks have one place, with or without a fibre."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.simulation.scenarios import scenarios
from tests.simulation.traces import event, traced
from tests.wireless.worlds import everyone_to_everyone
from thzsync.arrays import IntArray
from thzsync.carriers import FIBRE, THZ
from thzsync.channel import ChannelModel
from thzsync.collectives import Demand, Tensor, find_collective
from thzsync.coordinator.static import ALL_WIRELESS
from thzsync.execution import Work
from thzsync.execution.alone import run_collective
from thzsync.execution.executor import Executor
from thzsync.scenario import Scenario
from thzsync.simulation import Run, simulate
from thzsync.simulation.engine import Engine
from thzsync.streams import Streams
from thzsync.synthesis import BUILT_IN, Method
from thzsync.testing.floors import RandomPolicy
from thzsync.topology import Topology
from thzsync.transfers.precedence import OWNER

RACKS = 4
LATE_S = [0.0, 0.0, 3e-3, 0.0]


def demand_of(method: Method) -> Demand:
    takes = find_collective(method.collective)
    if takes.demand is Tensor:
        return Tensor(5_000_003, root=0 if takes.rooted else None)
    return everyone_to_everyone(RACKS, 1_200_001)


def alone(scenario: Scenario, method: Method, late_s: list[float]) -> pl.DataFrame:
    topology = Topology(scenario.floor)
    channel = ChannelModel.build(scenario.channel, scenario.thz, topology, Streams(0))
    schedule = run_collective(
        demand_of(method), range(RACKS), method, scenario, topology, channel, late_s
    )
    names = ("round", "flow", "first_chunk", "chunks", "subband", "end_ps", "power_w", "gain")
    return pl.DataFrame({name: getattr(schedule, name) for name in names})


@pytest.mark.parametrize("late_s", [[0.0] * RACKS, LATE_S], ids=["punctual", "late"])
@pytest.mark.parametrize("method", BUILT_IN, ids=lambda m: f"{m.collective} {m.name}")
def test_a_collective_alone_is_the_joint_simulation_without_the_rest(
    method: Method, late_s: list[float], tmp_path: Path
) -> None:
    """The same transmissions at the same picosecond, whether or not a fibre lies beside them."""
    named = {method.collective: method.name}
    published = method.collective in ("p2p", "a2a", "allreduce")
    slow = [{"rack": r, "delay_s": s} for r, s in enumerate(late_s) if s]
    scenario = traced(
        tmp_path,
        [event(0, method.collective, demand_of(method), range(RACKS))],
        thz={"round_overhead_s": 3e-5},
        channel={"fluctuation_db": 4.0},
        collectives=named if published else {"methods": named},
        stragglers={"slow_racks": slow},
    )
    joint = simulate(scenario, ALL_WIRELESS, 1, seed=0, references={}).tables["transmissions"]
    expected = alone(scenario, method, late_s)
    order = ["round", "flow", "first_chunk"]
    found = joint.sort(order).select(expected.columns)
    assert found.equals(expected.sort(order))


@given(scenario=scenarios(with_faults=True), seed=st.integers(0, 2**31))
def test_whatever_faults_move_every_chunk_is_carried_exactly_once(
    scenario: Scenario, seed: int
) -> None:
    run = simulate(scenario, RandomPolicy(seed), 1, seed, references={})
    chunks = run.tables["chunks"]
    assert chunks.select("number", "flow", "chunk").is_unique().all()
    on_thz = chunks.filter(pl.col("carrier") == THZ).select("number", "flow", "chunk")
    assert sent_over_thz(run) == sorted(on_thz.rows())
    assert up_link_bytes(run) == wired_bytes_by_source(run)


def sent_over_thz(run: Run) -> list[tuple[int, int, int]]:
    """Number, flow and position of every chunk in every transmission, as often as it was sent."""
    sent = run.tables["transmissions"].select("number", "flow", "first_chunk", "chunks")
    return sorted(
        (number, flow, chunk)
        for number, flow, first, count in sent.iter_rows()
        for chunk in range(first, first + count)
    )


def up_link_bytes(run: Run) -> dict[int, int]:
    """What left every rack by fibre."""
    up = run.tables["links"].filter(
        (pl.col("link") < run.scenario.floor.racks) & (pl.col("bytes") > 0)
    )
    return dict(up.group_by("link").agg(pl.col("bytes").sum()).iter_rows())


def wired_bytes_by_source(run: Run) -> dict[int, int]:
    """What the chunks that were not on THz should have brought there."""
    flows = run.flows.select("number", "flow", "src", "chunk_bytes", "bytes")
    start = pl.col("chunk") * pl.col("chunk_bytes")
    size = pl.min_horizontal("chunk_bytes", pl.col("bytes") - start)
    wired = (
        run.tables["chunks"].filter(pl.col("carrier") == FIBRE).join(flows, on=["number", "flow"])
    )
    return dict(wired.group_by("src").agg(size.sum()).iter_rows())


class TestOwnership:
    """The executor asks the ledger who owns a chunk; nothing else knows."""

    @pytest.fixture
    def executor(self) -> Executor:
        engine = Engine(Scenario.preset("tiny"), seed=0, iterations=1)
        situation = engine.proceed()
        assert situation is not None
        engine.decide(RandomPolicy(3).decide(situation))
        return engine.executor

    def test_the_owner_column_is_what_was_decided_and_then_what_was_moved(
        self, executor: Executor
    ) -> None:
        (work,) = executor.active.values()
        np.testing.assert_array_equal(executor.carrier(work), work.graph.decided)
        assert 0 < work.graph.on_thz.sum() < work.chunks
        executor.move(work, np.flatnonzero(work.graph.on_thz), THZ, FIBRE)
        assert not executor.carrier(work).any()
        assert executor.carriers[THZ].outstanding(work.number) == 0  # type: ignore[attr-defined]
        executor.move(work, np.arange(work.chunks), FIBRE, THZ)
        assert (executor.carrier(work) == THZ).all()
        assert executor.carriers[THZ].outstanding(work.number) == work.chunks  # type: ignore[attr-defined]

    def test_a_change_of_the_owner_column_is_all_that_it_takes_to_see_another_owner(
        self, executor: Executor
    ) -> None:
        (work,) = executor.active.values()
        assert (executor.carrier(work) == owners(executor, work)).all()
        owners(executor, work)[:] = THZ
        assert (executor.carrier(work) == THZ).all()


def owners(executor: Executor, work: Work) -> IntArray:
    """The ledger's own column, for one event."""
    return executor.fibre.ledger.task[work.base : work.base + work.chunks, OWNER]
