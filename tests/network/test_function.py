"""Networks that a function outside the package lays."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from thzsync import Scenario, audit, compare, simulate
from thzsync.errors import ThzSyncError
from thzsync.network import Network, network_of

LAB = """
from thzsync.network import Wires

def star(racks, fibres, spokes=1):
    wires = Wires(racks)
    hub = wires.switch("hub")
    for rack in range(racks):
        for _ in range(spokes):
            wires.join(rack, hub, fibres.access_bps, fibres.access_ps)
    return wires

def small(racks, fibres):
    return star(racks - 1, fibres)

def broken(racks, fibres):
    return 1 / 0
"""


@pytest.fixture(autouse=True)
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "star_lab.py").write_text(LAB)
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("star_lab", None)


def scenario(function: str, **arguments: Any) -> Scenario:
    keys = {"network.kind": "function", "network.function": function}
    return Scenario.preset("tiny").with_({**keys, "network.arguments": arguments})


def test_a_function_of_ones_own_runs_in_packets_and_flows_and_is_audited() -> None:
    for fidelity in ("packet", "flow"):
        given = scenario("star_lab:star", spokes=2).with_({"optical.fidelity": fidelity})
        assert not audit(simulate(given, "fixed-ratio", 1, references={})).violations
    network = network_of(given)
    assert isinstance(network, Network)
    assert (network.switches, network.ports) == (1, 2)
    assert network.hops(0, np.array([1, 5])).tolist() == [2, 2]


def test_it_comes_back_from_toml_and_reaches_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    import os
    import tomllib

    from thzsync.scenario.files import build_scenario

    given = scenario("star_lab:star", spokes=2)
    assert build_scenario(tomllib.loads(given.to_toml()), "again") == given
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    found = compare(given, ["all-wired"], seeds=2, iterations=1, workers=2)
    assert len(found.seeds) == 2


@pytest.mark.parametrize(
    ("function", "arguments", "named"),
    [
        ("no_such_lab:star", {}, "No module named 'no_such_lab'"),
        ("star_lab:comet", {}, "comet"),
        ("star_lab:star", {"spikes": 2}, "spikes"),
        ("star_lab:broken", {}, "ZeroDivisionError"),
        ("star_lab:small", {}, "Wires of 6 racks"),
    ],
)
def test_what_fails_is_one_line(function: str, arguments: dict[str, Any], named: str) -> None:
    with pytest.raises(ThzSyncError, match=r"network\.function: .*star_lab|no_such_lab") as error:
        network_of(scenario(function, **arguments))
    assert named in str(error.value)
    assert "\n" not in str(error.value)


def test_a_name_without_a_module_is_refused_with_its_key() -> None:
    with pytest.raises(ThzSyncError, match=r"network\.function"):
        scenario("star")
