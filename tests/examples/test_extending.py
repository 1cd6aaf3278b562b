"""The house is open: each of these is one file outside the package, and everything accepts it."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import polars as pl
import pytest

from tests.reference.tensors import execute
from thzsync.auditor import audit
from thzsync.cli import main
from thzsync.collectives import Tensor, collective_names, find_collective
from thzsync.coordinator import Action, Situation
from thzsync.errors import ThzSyncError
from thzsync.execution.alone import run_collective
from thzsync.experiments.single_ring import Instance
from thzsync.feasibility.check import check_scenario
from thzsync.scenario import Scenario
from thzsync.scenario.files import build_scenario
from thzsync.simulation import Run, simulate
from thzsync.simulation.session import Session
from thzsync.synthesis import Method, find_method, register_method
from thzsync.synthesis.conformance import check_method
from thzsync.testing.floors import RandomPolicy
from thzsync.topology import Topology
from thzsync.workload import Compute, Event, Phase, TrainingGraph
from thzsync.workload.tracefile import Trace, write_trace

pytestmark = pytest.mark.usefixtures("nothing_stays_registered")
EXAMPLES = Path(__file__).parents[2] / "examples" / "extending"


def load(name: str) -> ModuleType:
    """An example as a module; its registrations happen."""
    module = ModuleType(name)
    module.__dict__.update(runpy.run_path(str(EXAMPLES / f"{name}.py")))
    return module


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.py")), ids=lambda f: f.stem)
def test_every_example_is_one_short_file(file: Path) -> None:
    assert len(file.read_text().splitlines()) < (115 if file.stem == "bus" else 65)


def run_clean(method: Method, seed: int = 2) -> Run:
    """The method in a joint simulation under random splits, re-checked by the auditor."""
    register_method(method)
    raw = {"preset": "tiny", "collectives": {method.collective: method.name}}
    run = simulate(build_scenario(raw, "test"), RandomPolicy(seed), 2, seed, references={})
    assert audit(run).violations == []
    used = run.events.filter(pl.col("kind") == method.collective)["method"].unique().to_list()
    assert used == [method.name]
    return run


def of_kind(run: Run, table: str, kind: str) -> pl.DataFrame:
    """Rows of a table that belong to events of one collective."""
    return run.tables[table].join(
        run.events.filter(pl.col("kind") == kind), on="number", how="semi"
    )


def alone(method: Method) -> None:
    """The method alone on THz; the schedule checks itself, and real arrays come out right."""
    ring = Instance(Scenario.preset("single-ring"), method.collective, 6, True, 0, 8 * 2**20)
    schedule = run_collective(
        ring.demand, ring.members, method, ring.scenario, ring.topology, ring.channel, ring.late_s
    )
    execute(schedule, np.random.default_rng(0))


def test_an_allreduce_may_be_a_ring_on_fibre_and_a_tree_on_thz() -> None:
    method = load("ring_and_tree").RingAndTree()
    assert check_method(method) > 60
    alone(method)
    run = run_clean(method)
    flows = run.flows.join(
        run.events.filter(pl.col("kind") == "allreduce"), on="number", how="semi"
    )
    mixed = flows.group_by("number").agg(pl.col("thz_chunks").sum(), pl.col("chunks").sum())
    assert ((mixed["thz_chunks"] > 0) & (mixed["thz_chunks"] < mixed["chunks"])).any()
    assert ((flows["thz_chunks"] == 0) | (flows["thz_chunks"] == flows["chunks"])).all()


def test_a_streamed_allreduce_is_declared_recorded_and_audited_as_declared() -> None:
    method = load("streamed_allreduce").STREAMED
    assert check_method(method) > 60
    alone(method)
    run = run_clean(method)
    rounds = run.rounds.join(
        run.events.filter(pl.col("kind") == "allreduce"), on="number", how="semi"
    )
    assert set(rounds["discipline"]) == {"streaming"}
    assert not rounds["common"].any()
    assert (rounds["overhead_ps"] == 0).all()


def test_an_all_to_all_may_relay_over_a_third_rack() -> None:
    method = load("relayed_a2a").RELAYED
    assert check_method(method) > 60
    alone(method)
    run = run_clean(method)
    assert not of_kind(run, "flows", "a2a")["local"].all()


def test_collectives_from_outside_are_planned_checked_simulated_audited_and_drawn(
    tmp_path: Path,
) -> None:
    load("own_collectives")
    names = ("gather-all", "scatter-sum")
    assert set(names) < set(collective_names())
    for name in names:
        assert check_method(find_method(name, "around")) > 60
        alone(find_method(name, "around"))
    for policy in ("thz-sync", "ddqn", "fixed-ratio"):
        run = simulate(trace_scenario(tmp_path, names), policy, 2, references={})
        assert audit(run).violations == []
        assert set(run.events["kind"]) == set(names)
    assert main(["report", str(run.save(tmp_path / "run"))]) == 0
    page = (tmp_path / "run" / "report.html").read_text("utf-8")
    for name in names:
        assert name in page or name.capitalize() in page


def trace_scenario(folder: Path, names: tuple[str, ...]) -> Scenario:
    """Two events of each collective, one after the other, behind one task."""
    racks = np.arange(6)
    common = {"job": "train", "stage": 0, "phase": Phase.BACKWARD, "microbatch": 0, "racks": racks}
    nodes: list[Compute | Event] = [Compute(id=0, duration_s=1e-3, after=(), **common)]
    for k, name in enumerate(names * 2, start=1):
        demand = Tensor(3 * 2**20 + k)
        nodes.append(
            Event(id=k, kind=name, label=f"{name} {k}", demand=demand, after=(k - 1,), **common)
        )
    tiny = Scenario.preset("tiny")
    file = folder / "own.jsonl.gz"
    write_trace(file, Trace(TrainingGraph(tuple(nodes)), Topology(tiny.floor).racks))
    jobs = [{"name": "train", "trace": str(file)}]
    return build_scenario({"preset": "tiny", "jobs": jobs}, "test")


def test_a_policy_can_be_driven_step_by_step_from_a_plain_loop(
    capsys: pytest.CaptureFixture[str],
) -> None:
    load("step_by_step")
    assert "reward" in capsys.readouterr().out


@pytest.mark.parametrize("name", collective_names())
def test_every_collective_runs_on_both_fabrics_and_audits_clean(name: str, tmp_path: Path) -> None:
    if find_collective(name).demand is not Tensor:
        pytest.skip("the generated workload has it")
    nodes: list[Compute | Event] = []
    racks = np.array([0, 1, 2, 4])
    for k in range(3):
        root = 4 if find_collective(name).rooted else None
        nodes.append(
            Event(id=k, job="train", kind=name, stage=0, phase=Phase.FORWARD, microbatch=0,
                  label="x", racks=racks, demand=Tensor(2_000_001, root),
                  after=(k - 1,) if k else ())
        )  # fmt: skip
    file = tmp_path / "one.jsonl.gz"
    write_trace(file, Trace(TrainingGraph(tuple(nodes)), 6))
    raw = {"preset": "tiny", "jobs": [{"name": "train", "trace": str(file)}]}
    scenario = build_scenario(raw, "test")
    for policy in ("all-wired", "all-wireless", RandomPolicy(1)):
        run = simulate(scenario, policy, 1, references={})
        assert audit(run).violations == []
        assert run.events.height == 3


def test_a_discipline_is_one_file_declared_recorded_and_audited() -> None:
    method = load("one_per_rack").METHOD
    assert check_method(method) > 60
    alone(method)
    run = run_clean(method)
    rounds = of_kind(run, "rounds", "a2a")
    assert rounds["discipline"].unique().to_list() == ["one-per-rack"]
    sent = of_kind(run, "transmissions", "a2a").sort("src", "start_ps")
    follows = sent["src"] == sent["src"].shift(1)  # a rack has one transmission at a time
    assert (sent["start_ps"] >= sent["end_ps"].shift(1)).filter(follows).all()


class TestBus:
    """A carrier of its own: one file and one registration."""

    @pytest.mark.parametrize("share", [0.5, 1.0])
    @pytest.mark.parametrize("fidelity", ["packet", "flow"])
    def test_a_run_with_a_third_carrier_passes_the_audit_and_is_read_again(
        self, share: float, fidelity: str, tmp_path: Path
    ) -> None:
        bus = load("bus")
        scenario = bus.SCENARIO.with_(optical__fidelity=fidelity)
        run = simulate(scenario, bus.ByBus(share), 2, 2, references={})
        run.save(tmp_path / "run")
        found = audit(tmp_path / "run")
        assert found.violations == []
        assert found.checks["carriers"] > found.checks["sendings"] / 4 > 0
        assert Run.load(tmp_path / "run").carriers == {"bus": bus.FACTS}
        assert set(run.tables["chunks"]["carrier"].unique()) == {0, 2}

    def test_the_first_event_takes_one_chunk_after_another(self) -> None:
        bus = load("bus")
        run = simulate(bus.SCENARIO, bus.ByBus(1.0), 1, references={})
        first = run.events.row(0, named=True)
        chunks = run.tables["chunks"].filter(pl.col("number") == first["number"])
        each_ps = 8 * bus.SCENARIO.collectives.chunk_bytes * 1e12 / bus.FACTS.rate_bps
        expected_ps = each_ps * first["further_bytes"] / bus.SCENARIO.collectives.chunk_bytes
        assert len(chunks) > 1
        assert first["end_ps"] - first["release_ps"] == pytest.approx(expected_ps, abs=len(chunks))

    @pytest.mark.parametrize(
        "faster", [{"rate_bps": 201e9}, {"energy_j_per_bit": 4e-12}, {"one_at_a_time": True}]
    )
    def test_the_auditor_notices_a_carrier_that_does_not_keep_to_its_facts(
        self, faster: dict[str, float]
    ) -> None:
        bus = load("bus")
        run = simulate(bus.SCENARIO, bus.ByBus(1.0), 1, references={})
        told = replace(run, carriers={"bus": replace(bus.FACTS, **faster)})
        if "one_at_a_time" in faster:
            early = pl.col("start_ps") - 1, pl.col("end_ps") - 1
            moved = run.tables["sendings"].with_columns(*early)
            last = pl.concat([run.tables["sendings"][:-1], moved[-1:]])
            told = replace(told, tables=run.tables | {"sendings": last})
        assert "carriers" in audit(told).broken

    def test_an_action_uses_a_carrier_only_where_the_offer_opens_it(self) -> None:
        bus = load("bus")
        session = Session(bus.SCENARIO, 0, 1)
        for situation in session:
            offer = situation.offer
            chunks = np.stack((offer.chunks * 0, offer.chunks), axis=1)
            action = Action(chunks, np.zeros(len(offer.racks)))
            if situation.kind == "allreduce":
                with pytest.raises(ThzSyncError, match="carrier 2"):
                    session.send(action)
                session.send(Action.uniform(offer, 0.0, 0.0))
            else:
                session.send(action)
        run = session.record("by hand")
        assert run.events.filter(pl.col("kind") == "allreduce")["further_bytes"].sum() == 0
        assert audit(run).violations == []

    def test_three_carriers_and_their_faults_pass_the_audit(self) -> None:
        class ByThirds:
            name = "by-thirds"

            def decide(self, situation: Situation) -> Action:
                offer = situation.offer
                each = np.stack((offer.chunks // 3, offer.chunks // 3), axis=1)
                return Action.of(offer, each * offer.open_to(2), np.ones(len(offer.racks)))

            def learn(self, *_: object) -> None: ...

        dead = {"kind": "fibre", "rack": 1, "start_s": 0.001, "end_s": 0.02, "rate_share": 0.0}
        down = {"kind": "transceiver-down", "rack": 2, "start_s": 0.0, "end_s": 0.03}
        scenario = load("bus").SCENARIO.with_(
            {"faults": [dead, down], "thz.fallback_timeout_s": 2e-3}
        )
        run = simulate(scenario, ByThirds(), 2, 1, references={})
        assert audit(run).violations == []
        assert min(run.summary["fallback_chunks"], run.summary["rerouted_chunks"]) > 0
        assert set(run.tables["chunks"]["carrier"].unique()) == {0, 1, 2}

    def test_an_unknown_carrier_is_named(self) -> None:
        with pytest.raises(ThzSyncError, match="airship"):
            check_scenario(Scenario.preset("tiny").with_(carriers=("thz", "airship")))
