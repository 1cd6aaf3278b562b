"""Property 3: disciplines are declared, recorded, and audited as declared."""

from __future__ import annotations

import json
import runpy
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.simulation.traces import event, traced
from tests.wireless.worlds import everyone_to_everyone
from thzsync.arrays import IntArray
from thzsync.auditor import audit
from thzsync.auditor.format2 import DISCIPLINES
from thzsync.collectives import Demand, find_collective
from thzsync.coordinator.static import StaticPolicy
from thzsync.errors import ThzSyncError
from thzsync.scenario import Scenario
from thzsync.simulation import Run, simulate
from thzsync.synthesis import FlowMethod, Offer, Setting, register_method
from thzsync.synthesis.exchanges import FreeTransfers
from thzsync.transfers import Flow, graph_of
from thzsync.wireless.bookkeeping import Started
from thzsync.wireless.discipline import declarations, register_discipline
from thzsync.wireless.disciplines import BUILT_IN, Streaming
from thzsync.wireless.group import FlowGroup

pytestmark = pytest.mark.usefixtures("nothing_stays_registered")
EXAMPLE = Path(__file__).parents[2] / "examples" / "extending" / "one_per_rack.py"
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


# -- disciplines from outside ---------------------------------------------------------------------


@cache
def example_kernel() -> Any:
    return runpy.run_path(str(EXAMPLE))["begin_one_per_rack"]


class Wrapped:
    """The discipline of the example under another name, with other words or other deeds."""

    common = guarded = False
    steers = in_turn = True

    def __init__(self, name: str, idle_until_ps: int = 0, stretch: int = 1, **told: Any) -> None:
        self.name, self.idle_until_ps, self.stretch = name, idle_until_ps, stretch
        self.__dict__ |= told

    def tune(self, group: FlowGroup) -> None: ...

    def start(self, group: FlowGroup, now_ps: int) -> Started:
        if now_ps < self.idle_until_ps:
            return 0, 0, False
        started: Started = example_kernel()(group.view, group.stage, now_ps)
        group.view.log.lasting_ps[: started[0]] *= self.stretch
        return started


@dataclass(frozen=True)
class Overlapping(Streaming):
    """Sends several chunks of a flow at once, and says that it does not."""

    flights: int = 4
    in_turn: bool = True  # type: ignore[misc]  # a property of the streams


@dataclass(frozen=True)
class Thrifty(Streaming):
    """Gives each flow a part of the budget, and says that it uses all of it."""

    uses_budget: bool = True


STRICT = {"work_conserving": True, "power": "least", "uses_budget": True}
LIES: dict[str, tuple[Any, str]] = {
    "idles": (Wrapped("idles", idle_until_ps=25 * 10**9, work_conserving=True), "silence"),
    "loud": (Wrapped("loud", stretch=2, power="least"), "power_needed"),
    "thrifty": (Thrifty("thrifty"), "budget_used"),
    "overlapping": (Overlapping("overlapping"), "in_turn"),
}


def run_of(discipline: Any, **changes: Any) -> Run:
    """All-to-All on THz by a discipline from outside."""
    register_discipline(discipline)
    name = discipline.name
    register_method(FlowMethod("a2a", name, FreeTransfers("a2a"), name, ""))
    values = (
        Scenario.preset("tiny")
        .with_({"collectives.a2a": name})
        .model_dump(mode="json", exclude_none=True)
    )
    scenario = Scenario.model_validate(values | changes)
    return simulate(scenario, "all-wireless", 1, references={})


def test_one_that_declares_nothing_keeps_the_defaults_and_one_that_keeps_more_may_say_so() -> None:
    outage = {"kind": "transceiver-down", "rack": 4, "start_s": 3.5e-3, "end_s": 0.03}
    both = Wrapped("modest"), Wrapped("strict", **STRICT)
    verdicts = [audit(run_of(discipline, faults=[outage])) for discipline in both]
    assert [v.violations for v in verdicts] == [[], []]
    assert verdicts[1].checks["silence"] > verdicts[0].checks["silence"]
    assert verdicts[1].checks["steering"] == verdicts[0].checks["steering"] > 0


@pytest.mark.parametrize("name", LIES)
def test_one_that_does_not_keep_what_it_declares_is_caught(name: str, tmp_path: Path) -> None:
    discipline, check = LIES[name]
    run = run_of(discipline)
    assert audit(run).broken == [check]
    assert audit(Run.load(run.save(tmp_path / "run"))).broken == [check], "from disk"


@pytest.mark.parametrize("name", LIES)
def test_the_same_deeds_are_sound_where_they_are_not_declared_otherwise(name: str) -> None:
    run = run_of(LIES[name][0])
    (told,) = ((run.disciplines or {})[name],)
    honest = replace(told, work_conserving=False, power="budget", uses_budget=False, in_turn=False)
    assert audit(replace(run, disciplines={**(run.disciplines or {}), name: honest})).ok


def test_a_record_tells_what_the_disciplines_in_use_declare(run: Run, tmp_path: Path) -> None:
    folder = run.save(tmp_path / "run")
    told = json.loads((folder / "run.json").read_text())["disciplines"]
    assert told == {name: asdict(declarations()[name]) for name in TWO}
    assert audit(Run.load(folder)).ok


def test_the_disciplines_of_the_package_declare_what_they_did_in_format_2() -> None:
    known = declarations()
    assert {d.name: known[d.name] for d in BUILT_IN} == DISCIPLINES


def test_a_record_of_format_2_tells_no_declarations(run: Run) -> None:
    old = replace(run, disciplines=None)
    assert "disciplines" not in old.provenance()
    now, then = audit(run).checks, audit(old).checks
    assert then == now | {"declaration": 0}
    renamed = {"matching": "unknown", "streaming": "unheard"}
    tables = {
        name: run.tables[name].with_columns(pl.col("discipline").replace(renamed))
        for name in ("flows", "rounds")
    }
    assert audit(replace(old, tables=run.tables | tables)).ok, "nobody knows what they declared"


def test_a_record_may_not_leave_out_or_weaken_a_declaration(run: Run) -> None:
    told = run.disciplines or {}
    without = {name: d for name, d in told.items() if name != "matching"}
    weaker = told | {"matching": replace(told["matching"], work_conserving=False)}
    for disciplines in (without, weaker):
        assert "declaration" in audit(replace(run, disciplines=disciplines)).broken


@pytest.mark.parametrize("told", [{"power": "loud"}, {"work_conserving": 1}, {"common": None}])
def test_a_declaration_has_known_values(told: dict[str, Any]) -> None:
    with pytest.raises(ThzSyncError, match=next(iter(told))):
        register_discipline(Wrapped("odd", **told))
