"""Floors, networks and workloads of a plug-in are sections as ours are."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.plugins.lab import write_lab
from thzsync import Scenario, audit, plugins, simulate
from thzsync.errors import ThzSyncError
from thzsync.network import network_of
from thzsync.scenario.described import json_schema
from thzsync.scenario.files import build_scenario
from thzsync.scenario.starter import starter

LINE = {"kind": "line", "each": 3}
RAW: dict[str, Any] = {
    "preset": "tiny",
    "plugins": ["star_lab.kinds"],
    "floor": LINE,
    "network": {"kind": "hub", "fibres": 2},
    "jobs": [{"name": "train", "workload": {"kind": "steps", "size_bytes": "2 MiB"}}],
}


@pytest.fixture(autouse=True)
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nothing_stays_registered: None) -> None:
    monkeypatch.chdir(tmp_path)
    write_lab(tmp_path)


def of(**keys: Any) -> Scenario:
    return build_scenario(RAW | keys, "test")


@pytest.mark.parametrize("fidelity", ["packet", "flow"])
def test_they_run_and_pass_the_audit(fidelity: str) -> None:
    scenario = of().with_(optical__fidelity=fidelity)
    run = simulate(scenario, "fixed-ratio", 2, references={})
    assert not audit(run).violations
    assert run.events["kind"].to_list() == ["allreduce"] * 4
    assert (run.tables["tasks"]["end_ps"] - run.tables["tasks"]["start_ps"]).unique().to_list() == [
        10**9
    ]
    assert (network_of(scenario).switches, network_of(scenario).ports) == (1, 2)


def test_they_come_back_from_toml_and_change_by_key() -> None:
    scenario = of()
    assert build_scenario(tomllib.loads(scenario.to_toml()), "again") == scenario
    other = scenario.with_({"jobs.train.workload.steps": 5, "floor.apart_m": 2})
    assert other.jobs[0].workload.steps == 5  # type: ignore[union-attr]
    assert other.floor.places_m[1] == (2.0, 0.0)
    assert other.digest != scenario.digest
    assert scenario.with_({"floor.kind": "grid", "floor.rows": 2, "floor.columns": 3}).digest


@pytest.mark.parametrize(
    ("keys", "named"),
    [
        ({"floor": LINE | {"apart_n": 2}}, ["floor.apart_n", "apart_m"]),
        ({"floor": LINE | {"rings": 2}}, ["floor.rings", "rows, each, apart_m"]),
        ({"floor": LINE | {"apart_m": -2}}, ["floor.apart_m", "-2"]),
        ({"floor": {"kind": "line"}}, ["floor.each", "required"]),
        ({"floor": LINE | {"apart_m": 0}}, ["floor", "racks", "apart"]),
        ({"floor": {"kind": "lime"}}, ["floor.kind", "'line'"]),
        ({"network": {"kind": "hub", "fibre": 1}}, ["network.fibre", "fibres"]),
        ({"jobs": [{"workload": {"kind": "steps", "step": 1}}]}, ["jobs.0.workload.step", "steps"]),
        ({"jobs": [{"workload": {"steps": 1}}]}, ["jobs.0.workload.kind", "steps"]),
        ({"jobs": [{}]}, ["jobs.0", "workload"]),
    ],
)
def test_mistakes_name_the_keys_of_the_kind(keys: dict[str, Any], named: list[str]) -> None:
    with pytest.raises(ThzSyncError) as error:
        of(**keys)
    (line,) = error.value.lines
    assert all(part in line for part in named), line


def test_editors_and_starters_know_them() -> None:
    plugins.load(["star_lab.kinds"], "test")
    schema = json_schema()
    floors = schema["properties"]["floor"]["anyOf"]
    line = next(floor for floor in floors if floor["properties"]["kind"]["const"] == "line")
    assert line["properties"]["apart_m"]["description"] == "Distance of neighbours [m]."
    assert line["required"] == ["kind", "each"]
    text = starter("tiny", ["star_lab.kinds"])
    assert tomllib.loads(text)["plugins"] == ["star_lab.kinds"]
    for shown in ("# apart_m = 1.5", "Distance of neighbours", '# kind = "hub"', "# fibres = 1",
                  "# [jobs.workload]", "# steps = 2", '# kind = "half"',
                  "# levels = 6"):  # fmt: skip
        assert shown in text


def broken(name: str, old: str, new: str) -> None:
    """The lab with an error in a class."""
    file = Path("star_lab/kinds.py")
    text = file.read_text()
    assert old in text, name
    file.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("return wires", "return 1 / 0", ["network", "'hub'", "ZeroDivisionError"]),
        ("return wires", "return Wires(racks - 1)", ["network", "'hub'", "6 racks"]),
        ("return TrainingGraph(tuple(nodes))", "return nodes", ["jobs.0", "'steps'", "list"]),
        ("racks = partition.racks.ravel()", "racks = np.arange(9)", ["'steps'", "rack 6"]),
        ("range(self.racks)]", "range(self.racks - 1)]", ["floor", "'line'", "5 places"]),
        ("return self.rows", "return self.row", ["floor", "'line'", "AttributeError"]),
    ],
)
def test_code_of_others_that_fails_is_named_in_one_line(
    old: str, new: str, named: list[str]
) -> None:
    from thzsync.feasibility import check_scenario

    broken(new, old, new)
    with pytest.raises(ThzSyncError) as error:
        check_scenario(of(), "test")
    (line,) = error.value.lines
    assert all(part in line for part in named), line


def test_a_kind_needs_a_name_and_the_right_base() -> None:
    from thzsync.scenario import FloorKind, NetworkKind, register_floor

    class Nameless(FloorKind):
        """Without a default of its key kind."""

    class Other(NetworkKind):
        """Of another family."""

    for kind, named in ((Nameless, "kind"), (Other, "FloorKind")):
        with pytest.raises(ThzSyncError, match=named):
            register_floor(kind)
