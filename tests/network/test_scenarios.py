"""Scenarios with floors and networks of all kinds: run in packets and in flows, and audited."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.network.topologies import SAMPLES, shared
from thzsync.auditor import audit
from thzsync.cli import main
from thzsync.errors import ThzSyncError
from thzsync.feasibility import check_scenario
from thzsync.network import fat_tree, leaf_spine, network_of
from thzsync.network.importers import read_wires
from thzsync.scenario import Scenario
from thzsync.scenario.files import build_scenario, parse_scenario
from thzsync.simulation import simulate
from thzsync.topology import Topology

CURRENT = (
    "astra__8nodes.topo",
    "astra__HGX-H100-validated.yml",
    "astra__Ring_16npus.yml",
    "astra__Ring_FullyConnected_Switch.yml",
    "astra__hgx_h100_32gpu.yml",
    "infragraph-gen__clos_fat_tree_2level.yaml",
    "infragraph-gen__single_tier_8hosts.yaml",
)
"""Files of the collection in dialects that are read."""
JOB = {
    "training": {
        "microbatches": 2,
        "moe_stages": [0],
        "p2p_bytes": 2**18,
        "a2a_bytes_per_rack": 2**19,
        "allreduce_bytes": 2**20,
        "allreduce_buckets": 1,
        "forward_s": 1e-3,
        "backward_s": 2e-3,
    }
}
GRID = {"kind": "grid", "rows": 2, "columns": 4}


def scenario(**tables: Any) -> Scenario:
    return build_scenario({"floor": GRID, "jobs": [JOB], **tables}, "test")


def check_run(folder: Path, racks: int, network: dict[str, Any], fidelity: str) -> None:
    """``thzsync run`` of two rows of racks on this network, then ``thzsync audit``."""
    rows = 2 if racks % 2 == 0 and racks > 2 else 1
    floor = {"kind": "grid", "rows": rows, "columns": racks // rows}
    optical = {"fidelity": fidelity, "fidelity_tolerance": 0.1}  # the flows are short
    given = scenario(floor=floor, network=network, optical=optical)
    file = folder / "mine.toml"
    file.write_text(given.to_toml(), "utf-8")
    record = str(folder / "record")
    command = ["run", str(file), "--policy", "all-wired", "--iterations", "1", "--out", record]
    assert main(command) == 0
    assert main(["audit", record]) == 0


@pytest.mark.parametrize("fidelity", ["packet", "flow"])
@pytest.mark.parametrize("name", CURRENT)
def test_a_real_file_is_run_and_audited(name: str, fidelity: str, tmp_path: Path) -> None:
    file = shared(name)
    network = {"kind": "file", "file": str(file)}
    check_run(tmp_path, read_wires(file).racks, network, fidelity)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_file_of_every_tool_is_run_and_audited(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(SAMPLES[name], "utf-8")
    network = {"kind": "file", "file": str(tmp_path / name), "routing": "spray"}
    check_run(tmp_path, read_wires(tmp_path / name).racks, network, "packet")


STAGES = [[7, 2], [0, 5], [3, 1]]
FLOORS = {
    "rows": {"kind": "rows", "rows": 2, "racks_per_row": 4},
    "a grid": GRID,
    "places": {"kind": "table", "positions_m": [[k, 0.5 * k] for k in range(8)]},
}


@pytest.mark.parametrize("floor", FLOORS)
def test_a_scenario_is_dumped_as_it_was_read(floor: str) -> None:
    """Listed stages and places are lists of lists, in the dump as in the file."""
    given = scenario(floor=FLOORS[floor], jobs=[{**JOB, "stages": STAGES}])
    assert parse_scenario(given.to_toml(), "dump") == given


@pytest.mark.parametrize("policy", ["all-wired", "fixed-ratio"])
def test_listed_stages_stand_in_any_order(policy: str) -> None:
    """Lane k of a stage sends to lane k of the next, wherever the racks are."""
    run = simulate(scenario(jobs=[{**JOB, "stages": STAGES}]), policy, 1, 0, references={})
    assert audit(run).ok
    events, flows = run.tables["events"], run.tables["flows"]
    sent = flows.join(events.filter(label="activation"), on="number").select("src", "dst")
    assert set(sent.iter_rows()) == {(7, 0), (2, 5), (0, 3), (5, 1)}


def test_the_audit_knows_the_racks_of_listed_stages() -> None:
    run = simulate(scenario(jobs=[{**JOB, "stages": STAGES}]), "all-wired", 1, 0, references={})
    values = run.scenario.model_dump(mode="json", exclude_none=True)
    values["jobs"][0]["stages"] = [[7, 2], [0, 4], [3, 1]]
    forged = replace(run, scenario=build_scenario(values, "forged"))
    assert "workload" in {violation.check for violation in audit(forged).violations}


IMPOSSIBLE: dict[str, tuple[dict[str, Any], str]] = {
    "a buffer whose reserve leaves no room for a packet": (
        {
            "network": {"kind": "fat-tree", "radix": 4},
            "optical": {"shared_buffer_bytes": 2**17, "rack_reserve": 0.6},
        },
        r"x: optical\.shared_buffer_bytes: rack_reserve \(0\.6\) leaves",
    ),
    "a fault between leaves, which are not joined": (
        {
            "network": {"kind": "leaf-spine", "racks_per_leaf": 4},
            "faults": [{"kind": "fibre", "switches": [0, 1], "start_s": 0, "end_s": 1}],
        },
        r"x: faults\.0: .* 0\.\.5 \(leaf 0 to spine 3\)",
    ),
    "a fault of a switch that does not exist": (
        {
            "network": {"kind": "leaf-spine", "racks_per_leaf": 4},
            "faults": [{"kind": "fibre", "switches": [0, 99], "start_s": 0, "end_s": 1}],
        },
        r"x: faults\.0: .* 0\.\.5",
    ),
    "a tree with too few ports": (
        {"network": {"kind": "fat-tree", "radix": 2}},
        r"x: network: .* joins 2 racks, not 8",
    ),
    "a file that is not there": (
        {"network": {"kind": "file", "file": "nowhere.yml"}},
        r"x: nowhere\.yml: no such file",
    ),
    "billions of links": (
        {
            "floor": {"kind": "grid", "rows": 1024, "columns": 64},
            "network": {"kind": "leaf-spine", "racks_per_leaf": 1, "spines": 65_536},
        },
        "x: network: ",
    ),
    "a billion racks in a tree": (
        {
            "floor": {"rings": 10**4, "slots_per_ring": 10**4, "inner_radius_m": 1e5},
            "network": {"kind": "fat-tree", "radix": 1024},
        },
        "x: network: ",
    ),
}


@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_what_cannot_be_run_is_refused_before_it_is_built(case: str) -> None:
    changes, message = IMPOSSIBLE[case]
    with pytest.raises(ThzSyncError, match=message):
        check_scenario(scenario(**changes), "x")


def test_a_plan_may_name_a_file_that_only_the_machine_of_the_run_has() -> None:
    given = scenario(network={"kind": "file", "file": "elsewhere.yml"})
    check_scenario(given, files=False)


def test_a_network_is_built_again_when_its_file_has_changed(tmp_path: Path) -> None:
    file = tmp_path / "ring.yml"
    text = "topology: [Ring]\nnpus_count: [8]\nbandwidth: [{}]\nlatency: [1]\n"
    given = scenario(network={"kind": "file", "file": str(file)})
    rates = set()
    for bandwidth in ("1.0", "22.0"):
        file.write_text(text.format(bandwidth), "utf-8")
        rates.add(int(network_of(given).rate_bps.max()))
    assert len(rates) == 2


def test_the_json_of_an_audit_of_a_listed_floor_names_no_violation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = "".join(f"{k},{k % 3}\n" for k in range(8))
    (tmp_path / "racks.csv").write_text(f"x_m,y_m\n{places}", "utf-8")
    floor = {"kind": "table", "file": str(tmp_path / "racks.csv"), "racks_per_row": 4}
    network = {"kind": "rail-optimised", "nics_per_rack": 2, "racks_per_leaf": 2}
    run = simulate(scenario(floor=floor, network=network), "thz-sync", 1, 0, references={})
    capsys.readouterr()
    assert main(["audit", str(run.save(tmp_path / "record")), "--json"]) == 0
    assert not json.loads(capsys.readouterr().out)["violations"]


SHEET = "x_m,y_m\n1,2\n3,4\n"
TABLES = {
    "a CSV file": ("a.csv", SHEET),
    "a file of Excel": ("a.csv", "\ufeff" + SHEET.replace("\n", "\r\n")),
    "spaces behind commas": ("a.csv", SHEET.replace(",", ", ")),
    "another column": ("a.csv", "x_m,y_m,name\n1,2,a\n3,4,b\n"),
    "a TOML file": ("a.toml", "positions_m = [[1, 2], [3, 4]]\n"),
}


@pytest.mark.parametrize("case", TABLES)
def test_racks_stand_where_a_table_says(case: str, tmp_path: Path) -> None:
    name, text = TABLES[case]
    (tmp_path / name).write_text(text, "utf-8")
    floor = scenario(floor={"kind": "table", "file": str(tmp_path / name)}, jobs=[]).floor
    assert Topology(floor).position_m.tolist() == [[1, 2], [3, 4]]


BAD_TABLES = {
    "no such file": ("absent.csv", None),
    "brackets without end": ("a.toml", "positions_m = " + "[" * 10**5),
    "another key": ("a.toml", "positions = [[1, 2]]\n"),
    "one column": ("a.csv", "x_m\n1\n"),
    "a row too short": ("a.csv", "x_m,y_m\n1\n"),
    "a rack nowhere": ("a.csv", "x_m,y_m\n1,2\n1,nan\n"),
    "no rack": ("a.csv", "x_m,y_m\n"),
    "two racks in one place": ("a.csv", "x_m,y_m\n1,1\n2,2\n1,1\n"),
    "two racks almost in one place": ("a.csv", "x_m,y_m\n0.0149,0\n0.0151,0\n"),
}


@pytest.mark.parametrize("case", BAD_TABLES)
def test_a_table_that_is_wrong_is_refused_in_one_line(case: str, tmp_path: Path) -> None:
    name, text = BAD_TABLES[case]
    if text is not None:
        (tmp_path / name).write_text(text, "utf-8")
    with pytest.raises(ThzSyncError, match=r"^test: floor") as caught:
        scenario(floor={"kind": "table", "file": str(tmp_path / name)}, jobs=[])
    assert len(caught.value.lines) == 1


def test_racks_may_stand_a_centimetre_apart() -> None:
    """Whatever the cell of a grid in which they are looked for."""
    places = [[0.0051, 0.0], [0.0149, 0.01]]
    assert scenario(floor={"kind": "table", "positions_m": places}, jobs=[]).floor.racks == 2


def test_rings_stand_where_the_paper_says_whatever_joins_them() -> None:
    rings = {"rings": 2, "slots_per_ring": 4}
    floors = [Topology(scenario(floor=rings, network=n).floor) for n in ({}, {"kind": "fat-tree"})]
    assert (floors[0].position_m == floors[1].position_m).all()


def test_generators_refuse_what_would_take_hours_to_lay() -> None:
    with pytest.raises(ThzSyncError, match=r"memory|links"):
        leaf_spine(10**6, 1, 10**5)
    with pytest.raises(ThzSyncError, match=r"memory|links"):
        fat_tree(10**8, 1024)
