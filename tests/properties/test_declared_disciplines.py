"""Property 3: flows declare their discipline; records repeat it, and the audit holds them to it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl
import pytest

from tests.simulation.traces import event, traced
from tests.wireless.worlds import everyone_to_everyone
from thzsync.arrays import IntArray
from thzsync.auditor import audit
from thzsync.collectives import Demand, find_collective
from thzsync.coordinator.static import StaticPolicy
from thzsync.simulation import Run, simulate
from thzsync.synthesis import Offer, Setting, register_method
from thzsync.transfers import Flow, graph_of

TWO = ("matching", "streaming")
RACKS = 6
HALF_POWER = StaticPolicy("half power", 1.0, 0.5)


def declared(src: int, dst: int) -> str:
    return "matching" if (dst - src) % RACKS == 1 else "streaming"


@dataclass(frozen=True)
class TwoDisciplines:
    """An All-to-All: what goes to the next rack is matched in rounds, all the rest is streamed."""

    collective: str = "a2a"
    name: str = "two"
    summary: str = ""

    def offer(self, demand: Demand, racks: IntArray, chunk_bytes: int, setting: Setting) -> Offer:
        blocks = find_collective("a2a").blocks(demand, racks)
        rows = zip(blocks.source, blocks.target, blocks.size_bytes.tolist(), strict=True)
        flows = [
            Flow(int(i), int(j), size, block=k, shard=k, bundled=False, discipline=declared(i, j))
            for k, (i, j, size) in enumerate(rows)
        ]
        graph = graph_of("a2a", demand, racks, chunk_bytes, flows)
        return Offer.per_flow(replace(graph, method=self.name))


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """One event among six racks of both rings, at half of everybody's power."""
    register_method(TwoDisciplines())
    scenario = traced(
        tmp_path,
        [event(0, "a2a", everyone_to_everyone(RACKS, 500_000), range(RACKS))],
        thz={"round_overhead_s": 3e-5},
        collectives={"a2a": "two"},
    )
    return simulate(scenario, HALF_POWER, 1, references={})


def with_rounds(run: Run, **columns: pl.Expr) -> Run:
    return replace(run, tables=run.tables | {"rounds": run.rounds.with_columns(**columns)})


def test_an_event_of_two_disciplines_audits_clean(run: Run) -> None:
    verdict = audit(run)
    assert verdict.violations == []
    assert verdict.checks["discipline"] == run.tables["transmissions"].height


def test_flows_and_rounds_repeat_what_was_declared(run: Run) -> None:
    flows = run.flows.select("src", "dst", "discipline").iter_rows()
    assert all(name == declared(src, dst) for src, dst, name in flows)
    sent = run.tables["transmissions"].join(run.rounds, on=["number", "round"])
    by_flow = sent.join(run.flows, on=["number", "flow"], suffix="_declared")
    assert (by_flow["discipline"] == by_flow["discipline_declared"]).all()


def test_each_keeps_its_own_rules_while_both_are_in_the_air(run: Run) -> None:
    matched, streamed = (run.rounds.filter(pl.col("discipline") == name) for name in TWO)
    assert matched["common"].all()
    assert (matched["overhead_ps"] == 30_000_000).all()
    assert not streamed["common"].any()
    assert (streamed["overhead_ps"] == 0).all()
    assert (streamed["transmissions"] == 1).all()
    assert (matched["transmissions"] > 1).any()
    overlap = (pl.col("start_ps") < pl.col("end_ps_right")) & (
        pl.col("start_ps_right") < pl.col("end_ps")
    )
    assert matched.join(streamed, how="cross").filter(overlap).height > 0


def test_both_draw_on_one_budget(run: Run) -> None:
    """Sums over whatever a rack sends at one instant, by either discipline."""
    sent, half_w = run.tables["transmissions"], 0.5 * run.scenario.thz.max_power_w
    for start_ps, rack in sent.select("start_ps", "src").unique().iter_rows():
        now = (pl.col("start_ps") <= start_ps) & (pl.col("end_ps") > start_ps)
        radiated_w = sent.filter(now & (pl.col("src") == rack))["power_w"].sum()
        assert radiated_w <= half_w * (1 + 1e-9)


def test_a_record_whose_rounds_claim_another_discipline_breaks_the_audit(run: Run) -> None:
    other = pl.col("discipline").replace({"matching": "assignment"})  # with the same rules
    assert audit(with_rounds(run, discipline=other)).broken == ["discipline"]


def test_a_record_that_breaks_the_rules_of_its_discipline_breaks_the_audit(run: Run) -> None:
    swapped = pl.col("discipline").replace({"matching": "streaming", "streaming": "matching"})
    broken = audit(with_rounds(run, discipline=swapped)).broken
    assert {"discipline", "round_span", "round_order"} <= set(broken)
    assert "round_order" in audit(with_rounds(run, common=~pl.col("common"))).broken
