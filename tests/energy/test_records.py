"""What records say of energy: sums, defaults, shares of jobs, faults that the audit catches."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.energy.settings import tiny
from tests.registries import forgetting
from thzsync.auditor import audit
from thzsync.execution.carrier import CarrierKind, register_carrier
from thzsync.records import Run
from thzsync.scenario import Scenario
from thzsync.simulation import simulate

WALL = ("optical_wall_j", "thz_wall_j", "further_wall_j")
STATIC = ("fibre_static_j", "thz_static_j", "further_static_j", "rack_static_j")


@pytest.fixture(scope="module")
def run() -> Run:
    return simulate(tiny({"reward.energy": "with-static"}), "fixed-ratio", iterations=2, seed=1)


def test_a_run_with_all_parameters_is_sound(run: Run) -> None:
    assert audit(run).violations == []


def test_iterations_are_sums_of_their_events(run: Run) -> None:
    for row in run.iterations.iter_rows(named=True):
        events = run.events.filter(pl.col("iteration") == row["iteration"])
        for column in WALL:
            assert row[column] == pytest.approx(events[column].sum(), rel=1e-12)
        assert row["wall_energy_j"] == pytest.approx(sum(row[c] for c in WALL), rel=1e-12)
        assert row["static_energy_j"] == pytest.approx(sum(row[c] for c in STATIC), rel=1e-12)
        both = row["wall_energy_j"] + row["static_energy_j"]
        assert row["total_energy_j"] == pytest.approx(both, rel=1e-12)


@pytest.mark.parametrize("policy", ["all-wired", "all-wireless", "thz-sync"])
def test_by_default_the_wall_plug_is_transmission_and_nothing_is_static(policy: str) -> None:
    run = simulate("tiny", policy, iterations=2, seed=1)
    for carrier in ("optical", "thz", "further"):
        for table in (run.events, run.iterations):
            wall, sent = table[f"{carrier}_wall_j"], table[f"{carrier}_energy_j"]
            assert wall.to_list() == sent.to_list()
    told = run.iterations
    assert told["wall_energy_j"].to_list() == told["energy_j"].to_list()
    assert told["total_energy_j"].to_list() == told["energy_j"].to_list()
    assert not any(told[c].sum() for c in ("static_energy_j", *STATIC))
    assert run.events["static_j"].sum() == 0


def test_only_energy_differs(run: Run) -> None:
    """What is counted moves no chunk of a policy that does not learn."""
    setting = tiny({"energy": {}, "reward.energy": "transmission"})
    plain = simulate(setting, "fixed-ratio", iterations=2, seed=1, references=run.references)
    assert plain.tables["chunks"].equals(run.tables["chunks"])
    for column in ("energy_j", "completion_ms"):
        assert plain.iterations[column].equals(run.iterations[column])


def shifted(table: str, column: str) -> Callable[[Run], Run]:
    def forge(run: Run) -> Run:
        frame = run.tables[table]
        value = pl.col(column) * (1 + 1e-6) + 1e-9
        return replace(run, tables=run.tables | {table: frame.with_columns(value)})

    return forge


SUMS = ("wall_energy_j", "static_energy_j", "total_energy_j")
PLANTED = [
    *(("events", column) for column in (*WALL, "static_j", "reward")),
    *(("iterations", column) for column in (*WALL, *STATIC, *SUMS)),
]


@pytest.mark.parametrize(("table", "column"), PLANTED)
def test_no_column_is_off_by_a_little_unnoticed(run: Run, table: str, column: str) -> None:
    assert not audit(shifted(table, column)(run)).ok


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("energy.thz.front_end_w", 0.81), ("energy.thz.amplifier_efficiency", 0.051),
        ("energy.thz.baseband_j_per_bit", 16e-12), ("energy.thz.idle_w", 0.11),
        ("energy.thz.sleep_share", 0.26), ("energy.fibre.link_j_per_bit", None),
        ("energy.fibre.switch_j_per_bit", 9.7e-12), ("energy.fibre.idle_w_per_port", 4.1),
        ("energy.fibre.idle_w_per_switch", 61.0), ("energy.fibre.sleep_share", 0.51),
        ("energy.racks.idle_w", 1001.0), ("reward.energy", "wall-plug"),
    ],
)  # fmt: skip
def test_a_record_with_another_parameter_is_refused(run: Run, key: str, value: Any) -> None:
    assert not audit(replace(run, scenario=run.scenario.with_({key: value}))).ok


def jobs(*rings: int) -> list[dict[str, Any]]:
    (job,) = Scenario.preset("tiny").model_dump(mode="json", exclude_none=True)["jobs"]
    job["training"]["moe_stages"] = []
    return [job | {"name": f"job{k}", "first_ring": k, "rings": 1} for k in rings]


def test_jobs_pay_for_their_racks_and_not_for_each_other() -> None:
    """Each of two jobs on a ring of its own pays as if it ran alone: half of the floor."""
    keys = {"energy.thz.sleep_share": 0.0, "energy.fibre.sleep_share": 0.0}
    both = simulate(tiny(keys | {"jobs": jobs(0, 1)}), "all-wired", iterations=1, references={})
    alone = simulate(tiny(keys | {"jobs": jobs(0)}), "all-wired", iterations=1, references={})
    assert audit(both).ok
    assert audit(alone).ok
    racks = both.scenario.floor.racks
    assert both.scenario.floor.rings == 2
    modules, chains = 2 * (racks + 1), racks * both.scenario.thz.chains
    floor_w = np.array([4.0 * modules + 2 * 60.0, 0.1 * chains, 0.0, 1000.0 * racks])
    for run in (both, alone):
        for row in run.iterations.iter_rows(named=True):
            half_j = floor_w / 2 * (row["end_ps"] - row["start_ps"]) * 1e-12
            assert [row[c] for c in STATIC] == pytest.approx(half_j.tolist())


@pytest.mark.parametrize("kind", ["leaf-spine", "fat-tree"])
def test_modules_that_sleep_are_audited_where_a_hash_picks_the_path(kind: str) -> None:
    run = simulate(tiny({"network.kind": kind}), "fixed-ratio", iterations=1, references={})
    assert audit(run).violations == []
    wrong = run.iterations.with_columns(pl.col("fibre_static_j") * (1 + 1e-6))
    assert not audit(replace(run, tables=run.tables | {"iterations": wrong})).ok


def test_a_further_carrier_declares_its_wall_plug_and_its_static_power() -> None:
    with forgetting():
        bus = runpy.run_path(str(Path(__file__).parents[2] / "examples/extending/bus.py"))
        facts = replace(bus["FACTS"], wall_j_per_bit=9e-12, idle_w=2.0)
        register_carrier(CarrierKind("thirsty", bus["Bus"], facts))
        scenario = tiny({"carriers": ["thz", "thirsty"]})
        run = simulate(scenario, bus["ByBus"](1.0), iterations=1, references={})
    assert audit(run).violations == []
    row = run.iterations.row(0, named=True)
    bits = 8 * run.tables["sendings"]["bytes"].sum()
    assert row["further_energy_j"] == pytest.approx(5e-12 * bits)
    assert row["further_wall_j"] == pytest.approx(9e-12 * bits)
    assert row["further_static_j"] == pytest.approx(2.0 * row["makespan_ms"] / 1e3)
    for other in (replace(facts, wall_j_per_bit=None), replace(facts, idle_w=2.1)):
        assert not audit(replace(run, carriers={"thirsty": other})).ok


def test_scenarios_without_the_new_keys_keep_their_digests() -> None:
    """Those that version 0.3 computed before there were such keys."""
    digests = {"paper": "47fee674db75", "tiny": "ab69e15fe110", "beyond": "cea4cf741dfe"}
    assert {name: Scenario.preset(name).digest[:12] for name in digests} == digests
    paper = Scenario.preset("paper")
    assert paper.with_({"energy.racks.idle_w": 1.0}).digest != paper.digest
    assert paper.with_({"reward.energy": "wall-plug"}).digest != paper.digest
