"""Every assumption is told with the scenario's own values, and told as varied where it varies."""

from __future__ import annotations

from pathlib import Path

import pytest

from thzsync import Scenario
from thzsync.assumptions import assumptions

TINY = Scenario.preset("tiny")


@pytest.mark.parametrize(
    ("name", "key", "value", "told"),
    [
        ("Fibre", "optical.inter_bps", "20 Gbps", "20 Gb/s"),
        ("Radio", "thz.noise_figure_db", 11.0, "11 dB"),
        ("Radio", "thz.subbands", 3, "3 subbands"),
        ("Radio", "thz.receive_gain_db", 31.0, "31 dBi"),
        ("Radio", "thz.max_power_w", 0.05, "50 mW"),
        ("Background", "optical.background.load", 0.17, "17 %"),
        ("Energy", "optical.energy_j_per_bit_hop", 3e-12, "3 pJ/bit/hop"),
    ],
)
def test_an_assumption_is_told_with_its_value(
    name: str, key: str, value: object, told: str
) -> None:
    usual, changed = TINY, TINY.with_({key: value})
    assert told not in assumptions(usual)[name]
    assert told in assumptions(changed)[name]
    both = assumptions(usual, changed)
    assert both[name].startswith("from: ")
    assert told in both[name]
    others = {other: text for other, text in both.items() if other != name}
    assert all(assumptions(usual)[other] == text for other, text in others.items())


def test_the_paper_is_said_to_be_oversubscribed_eightfold() -> None:
    paper = Scenario.preset("paper")
    assert "8:1 oversubscribed" in assumptions(paper)["Fibre"]
    level = paper.with_({"optical.inter_bps": "800 Gbps"})
    assert "not oversubscribed" in assumptions(level)["Fibre"]


def test_a_rack_with_several_links_says_how_many() -> None:
    rails = {"kind": "rail-optimised", "nics_per_rack": 2, "racks_per_leaf": 3}
    told = assumptions(TINY.with_({"network": rails}))["Fibre"]
    assert "2 links of 100 Gb/s to every rack" in told


def test_rates_of_a_network_from_a_file_are_those_of_the_file(tmp_path: Path) -> None:
    topology = tmp_path / "six.yml"
    topology.write_text("topology: [Switch]\nnpus_count: [6]\nbandwidth: [4.0]\nlatency: [1]\n")
    told = assumptions(TINY.with_({"network": {"kind": "file", "file": str(topology)}}))["Fibre"]
    assert "34.4 Gb/s links to racks" in told
