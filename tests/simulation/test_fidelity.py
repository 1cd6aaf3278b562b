"""Runs in flow fidelity: near packets, certified, audited, the same every time."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.optical.networks import ring_network
from thzsync import audit
from thzsync.auditor import flows as flow_checks
from thzsync.auditor.structure import declaration
from thzsync.coordinator import Action, Outcome, Situation, make_policy
from thzsync.errors import ThzSyncError
from thzsync.optical import Background, FlowFabric, OpticalFabric
from thzsync.optical.flow_window import Window
from thzsync.records import Fidelity, Run
from thzsync.records.certificate import BeyondToleranceWarning
from thzsync.records.fidelity import Replayed, kind_error
from thzsync.scenario import Scenario
from thzsync.scenario.fidelity import in_flows, needs_packets
from thzsync.simulation import Session, reference_costs, simulate
from thzsync.simulation.packet_check import LEAST, SHORT, PacketCheck
from thzsync.streams import Streams

TINY = Scenario.preset("tiny").with_({"optical.fidelity": "flow"})
BIG = TINY.with_(
    {
        "optical.trains_per_flow": 32,
        "jobs.0.training.allreduce_bytes": 96 * 2**20,
        "jobs.0.training.p2p_bytes": 48 * 2**20,
        "stragglers.probability": 0.3,
    }
)
"""Flows long enough for runs of chunks."""


@pytest.fixture(scope="module")
def run() -> Run:
    return simulate(TINY, "fixed-ratio", 2, 3, references={})


def test_packets_are_the_default() -> None:
    assert Scenario.preset("tiny").optical.fidelity == "packet"
    assert simulate("tiny", "all-wired", 1, 0, references={}).fidelity is None


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["all-wired", "fixed-ratio"])
def test_a_run_of_runs_of_chunks_is_near_packets_and_passes_the_audit(policy: str) -> None:
    flow = simulate(BIG, policy, 1, 0, references={})
    packet = simulate(BIG.with_({"optical.fidelity": "packet"}), policy, 1, 0, references={})
    assert flow.summary["makespan_ms"] == pytest.approx(packet.summary["makespan_ms"], rel=0.02)
    assert flow.summary["energy_j"] == pytest.approx(packet.summary["energy_j"], rel=1e-3)
    assert flow.tables["chunks"].height == packet.tables["chunks"].height
    verdict = audit(flow)
    assert verdict.ok, verdict.violations[:5]
    assert verdict.checks["fibre_time"] > 0
    assert verdict.checks["fidelity"] > 0


def test_same_seed_same_record_and_same_replays() -> None:
    one, two = (simulate(TINY, "fixed-ratio", 1, 5, references={}) for _ in range(2))
    assert all(one.tables[name].equals(two.tables[name]) for name in one.tables)
    assert one.fidelity == two.fidelity


def test_the_share_that_is_replayed_changes_no_result() -> None:
    runs = [
        simulate(TINY.with_({"optical.replayed_share": share}), "fixed-ratio", 1, 0, references={})
        for share in (0.0, 1.0)
    ]
    assert runs[0].events.equals(runs[1].events)
    assert runs[0].fidelity is not None
    assert runs[1].fidelity is not None
    assert not runs[0].fidelity.replayed
    assert len(runs[1].fidelity.replayed) > runs[1].events.height / 2


def test_some_event_of_every_type_is_replayed(run: Run) -> None:
    assert run.fidelity is not None
    assert {row.kind for row in run.fidelity.by_kind()} == set(run.events["kind"])
    assert not run.fidelity.exceeded


def test_every_type_with_enough_events_on_fibre_has_an_interval() -> None:
    """Also where most events travel on THz alone: those take nothing from the sample."""
    for policy in ("all-wired", "thz-sync"):
        run = simulate(TINY, policy, 4, 0, references={})
        assert run.fidelity is not None
        on_fibre = run.events.filter(run.events["wired_bytes"] > 0)["kind"].value_counts()
        intervals = {row.kind: row.ci95 for row in run.fidelity.by_kind()}
        counts = dict(on_fibre.iter_rows())
        assert max(counts.values()) >= LEAST * SHORT
        for kind, count in counts.items():
            assert count < 2 * SHORT or intervals[kind] is not None


class EveryFourthOnFibre:
    """Three of four events of a type travel on THz alone."""

    name = "every-fourth-on-fibre"

    def __init__(self) -> None:
        self.met: Counter[str] = Counter()

    def decide(self, situation: Situation) -> Action:
        self.met[situation.kind] += 1
        on_thz = 1.0 if self.met[situation.kind] % 4 else 0.0
        return Action.uniform(situation.offer, on_thz, 1.0)

    def learn(self, situation: Situation, action: Action, outcome: Outcome) -> None: ...


def test_events_on_thz_alone_take_no_places_in_the_sample() -> None:
    run = simulate(TINY, EveryFourthOnFibre(), 12, 0, references={})
    assert run.fidelity is not None
    on_fibre = Counter(run.events.filter(run.events["wired_bytes"] > 0)["kind"].to_list())
    replayed = {row.kind: row.events for row in run.fidelity.by_kind()}
    assert max(on_fibre.values()) >= LEAST * SHORT
    for kind, count in on_fibre.items():
        assert replayed.get(kind, 0) >= min(LEAST, count // SHORT)


def test_what_travels_on_thz_alone_is_not_replayed() -> None:
    run = simulate(TINY, "all-wireless", 1, 0, references={})
    assert run.fidelity is not None
    assert not run.fidelity.replayed


def test_a_replay_of_packets_finds_packets() -> None:
    """With trains of one packet the twin does what packets do, and replays must say so."""
    scenario = TINY.with_(
        {"optical.replayed_share": 1.0, "optical.trains_per_flow": 65_536,
         "optical.background.load": 0.0}
    )  # fmt: skip
    found = simulate(scenario, "fixed-ratio", 1, 1, references={}).fidelity
    assert found is not None
    ratios = np.array([row.flow_ms / row.packet_ms for row in found.replayed])
    assert len(ratios) > 5
    assert np.median(np.abs(ratios - 1)) < 1e-6
    assert np.abs(ratios - 1).max() < 0.03


@pytest.mark.parametrize("seed", [1, 2])
def test_a_replay_finds_the_background_that_earlier_events_held_up(seed: int) -> None:
    """Bursts wait outside full queues, and the next event meets them: in packets, too."""
    scenario = TINY.with_(
        {"optical.replayed_share": 1.0, "optical.trains_per_flow": 65_536,
         "optical.background.load": 0.5}
    )  # fmt: skip
    found = simulate(scenario, "all-wired", 1, seed, references={}).fidelity
    assert found is not None
    ratios = np.array([row.flow_ms / row.packet_ms for row in found.replayed])
    assert len(ratios) > 5
    assert np.abs(ratios - 1).max() < 0.03


@pytest.mark.slow
@pytest.mark.parametrize("load", [0.0, 0.15, 0.4])
def test_flows_stay_within_two_percent_wherever_auto_uses_them(load: float) -> None:
    """Mean completion of every type over five seeds of the paper's floor."""
    flow = Scenario.preset("paper").with_(
        {"optical.fidelity": "auto", "optical.background.load": load}
    )
    assert in_flows(flow)
    means = [
        [simulate(scenario, "all-wired", 1, seed, references={}).events for seed in range(5)]
        for scenario in (flow, flow.with_({"optical.fidelity": "packet"}))
    ]
    for kind in ("a2a", "allreduce", "p2p"):
        took = [
            np.mean([run.filter(run["kind"] == kind)["completion_ms"].mean() for run in runs])
            for runs in means
        ]
        assert took[0] == pytest.approx(took[1], rel=0.02)


@pytest.mark.slow
def test_a_cut_fibre_is_survived_audited_and_replayed() -> None:
    faults = [
        {"kind": "fibre", "rack": 1, "start_s": 0.001, "end_s": 0.02, "rate_share": 0.0},
        {"kind": "fibre", "rings": [0, 1], "start_s": 0.0, "end_s": 1, "rate_share": 0.3},
    ]
    scenario = TINY.with_({"faults": faults, "optical.replayed_share": 0.5})
    for policy in ("all-wired", "fixed-ratio"):
        record = simulate(scenario, policy, 1, 2, references={})
        verdict = audit(record)
        assert verdict.ok, verdict.violations[:5]
        assert record.fidelity is not None
        errors = [abs(row.error) for row in record.fidelity.by_kind()]
        assert max(errors) < 0.1
    packet = simulate(
        scenario.with_({"optical.fidelity": "packet"}), "fixed-ratio", 1, 2, references={}
    )
    assert record.summary["makespan_ms"] == pytest.approx(packet.summary["makespan_ms"], rel=0.05)


def test_a_summary_is_certified_like_the_whole_record_and_references_replay_nothing(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = simulate(TINY, "fixed-ratio", 2, 3, references={}, detailed=False)
    assert short.fidelity == run.fidelity

    def replay(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(PacketCheck, "_replay", replay)
    assert reference_costs(TINY, 0).keys() == {"a2a", "p2p", "allreduce"}


def test_a_run_beyond_its_tolerance_warns_and_any_other_does_not() -> None:
    strict = {"optical.background.load": 0.3, "optical.fidelity_tolerance": 1e-9}
    with pytest.warns(BeyondToleranceWarning, match=r"optical\.fidelity_tolerance") as caught:
        simulate(TINY.with_(strict), "all-wired", 1, 0, references={})
    assert {Path(one.filename) for one in caught} == {Path(__file__)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simulate(TINY, "all-wired", 1, 0, references={})


def test_a_fork_goes_on_like_the_run_and_replays_nothing() -> None:
    session = Session(TINY, 0, 1, {})
    policy = make_policy("fixed-ratio", TINY, Streams(0))
    for _ in range(3):
        session.send(policy.decide(next(session)))
    fork = session.fork()
    for way in (fork, session):
        for situation in way:
            way.send(policy.decide(situation))
    assert session.finished() == fork.finished()
    assert fork.record("x").fidelity is None


def test_a_record_keeps_its_replays_and_the_auditor_holds_it_to_them(
    run: Run, tmp_path: Path
) -> None:
    run.save(tmp_path / "run")
    again = Run.load(tmp_path / "run")
    assert again.fidelity == run.fidelity
    assert audit(again, (flow_checks.fidelity, declaration)).ok
    assert run.fidelity is not None
    first = run.fidelity.replayed[0]
    for wrong in (
        first._replace(flow_ms=first.flow_ms * 1.01),
        first._replace(kind="barrier"),
        first._replace(number=10**6),
        first._replace(packet_ms=0.0),
    ):
        told = Fidelity(run.fidelity.tolerance, (wrong,))
        assert not audit(replace(run, fidelity=told), (flow_checks.fidelity,)).ok
    assert again.declared is not None
    declared = again.declared | {"fidelity": again.declared["fidelity"] | {"within": False}}
    assert not audit(replace(again, declared=declared), (declaration,)).ok


def test_the_auditor_finds_bytes_that_do_not_fit_into_their_time(run: Run) -> None:
    import polars as pl

    squeezed = run.events.with_columns(
        end_ps=pl.col("release_ps") + (pl.col("end_ps") - pl.col("release_ps")) // 10
    )
    tables = run.tables | {"events": squeezed}
    assert audit(run, (flow_checks.fibre_time,)).ok
    assert not audit(replace(run, tables=tables), (flow_checks.fibre_time,)).ok


def test_errors_by_type_are_ratios_of_sums_with_an_interval() -> None:
    rows = [Replayed(0, "p2p", 11.0, 10.0), Replayed(1, "p2p", 29.0, 30.0)]
    found = kind_error("p2p", rows)
    assert found.error == pytest.approx(0.0)
    # residuals are 1 and -1, their standard error 1; t(0.975, 1) = 12.706; mean 20
    assert found.ci95 == pytest.approx(12.706 / 20, rel=1e-4)
    assert kind_error("p2p", rows[:1]).ci95 is None
    told = Fidelity(0.05, (Replayed(0, "a2a", 1.1, 1.0),))
    assert [row.kind for row in told.exceeded] == ["a2a"]
    assert Fidelity.of_document(told.document()) == told
    with pytest.raises(ThzSyncError, match="fidelity"):
        Fidelity.of_document({"replayed": [[1]], "tolerance": 0.1})


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, None),
        ({"optical.output_queue_bytes": 2**20}, "packets"),
        ({"optical.shared_buffer_bytes": 2**22}, "shared buffer"),
        ({"optical.background.load": 0.4}, None),
        ({"optical.background.load": 0.5}, "40%"),
        ({"optical.background.burst_bytes": 2**21}, "bursts"),
        ({"faults": [{"kind": "fibre", "rack": 0, "start_s": 0, "end_s": 1,
                      "rate_share": 0.5}]}, "fibre fails"),
    ],
)  # fmt: skip
def test_auto_follows_packets_where_they_matter(
    changes: dict[str, Any], reason: str | None
) -> None:
    scenario = Scenario.preset("tiny").with_({"optical.fidelity": "auto", **changes})
    found = needs_packets(scenario)
    assert (found is None) == (reason is None)
    assert reason is None or (found is not None and reason in found)
    assert in_flows(scenario) == (reason is None)
    assert not in_flows(scenario.with_({"optical.fidelity": "packet"}))
    assert in_flows(scenario.with_({"optical.fidelity": "flow"}))


def test_a_window_meets_the_bursts_of_the_floor() -> None:
    floor = ring_network(np.repeat(np.arange(4), 3))
    background, from_ps = Background(0.3), 7 * 10**9
    whole = OpticalFabric(floor, background, 11)
    whole.advance(from_ps)
    before = whole.link_bytes().background
    window = Window(floor, np.array([1, 3]), background, 11, from_ps)
    whole.advance(3 * from_ps)
    window.fabric.advance(2 * from_ps)
    carried = whole.link_bytes().background - before
    found = window.fabric.link_bytes().background
    for old, new in ((12 + 3, 6), (12 + 10, 10), (24 + 4 + 3, 12 + 1)):
        assert window.link(old) == new
        assert abs(int(carried[old]) - int(found[new])) <= 4 * 262_144
        assert found[new] > 0
    assert window.link(0) is None
    assert window.rack(np.array([4, 10])).tolist() == [1, 4]


def test_flow_and_packet_fabric_have_the_same_public_methods() -> None:
    public = {name for name in dir(OpticalFabric) if not name.startswith("_")}
    own = {"packet_hops", "packet_trace"}
    assert public - own <= set(dir(FlowFabric))
