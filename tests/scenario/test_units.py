"""Units as people write them, in and out."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thzsync.cli import main
from thzsync.scenario import Scenario, preset_names
from thzsync.scenario.changes import changed
from thzsync.scenario.described import json_schema
from thzsync.scenario.files import parse_scenario
from thzsync.scenario.units import UNITS, Quantity, rate_text

TINY = Scenario.preset("tiny")
SPELT = [
    ("optical.inter_bps", 100e9, "100 Gb/s", "100 Gbit/s", "100Gbps", "0.1 Tbit/s", "100000 Mb/s"),
    ("thz.max_power_w", 0.1, "0.1 W", "100 mW", "20 dBm", "100000 uW", "100000 µW", "1e-4 kW"),
    ("thz.noise_figure_db", 3.5, "3.5 dB"),
    ("thz.receive_gain_db", 25.0, "25 dBi", "25 dB"),
    ("thz.noise_psd_dbm_per_hz", -173.0, "-173 dBm/Hz"),
    ("channel.blockage.loss_db", 6.0, "mesh-door", "6 dB"),
    ("channel.blockage.loss_db", 20.0, "cables"),
    ("thz.subband_hz", 5e9, "5 GHz", "5000 MHz", "0.005 THz"),
    ("thz.interference_w", 1e-12, "1 pW", "-90 dBm"),
    ("optical.energy_j_per_bit_hop", 40e-12, "40 pJ", "40 pJ/bit", "0.04 nJ/bit/hop"),
    ("collectives.chunk_bytes", 2**20, "1 MiB", "1024 KiB", "1048576 B", "1048576 bytes"),
    ("collectives.chunk_bytes", 10**6, "1 MB", "1000 kB", "1000 KB", "0.001 GB"),
    ("optical.switch_delay_s", 5e-7, "500 ns", "0.5 us", "0.5 µs", "0.0005 ms"),
]


@pytest.mark.parametrize(("key", "value", "text"), [(k, v, t) for k, v, *ts in SPELT for t in ts])
def test_usual_spellings_are_read(key: str, value: float, text: str) -> None:
    assert changed(TINY, {key: text}, "x") == changed(TINY, {key: value}, "x")


def test_the_schema_for_editors_knows_every_spelling() -> None:
    table = {"thz": "Thz", "optical": "Optical", "collectives": "Collectives"}
    table["channel.blockage"] = "Blockage"
    for key, _, *texts in SPELT:
        section, _, name = key.rpartition(".")
        node = json_schema()["$defs"][table[section]]["properties"][name]
        pattern = next(part["pattern"] for part in node["anyOf"] if "pattern" in part)
        for text in texts:
            if "µ" not in text:
                assert re.search(pattern, text), (key, text)


@given(st.sampled_from(sorted(UNITS)), st.floats(1e-15, 1e15))
def test_what_is_shown_is_read_as_the_same_number(dimension: str, value: float) -> None:
    quantity = Quantity(dimension)
    shown = quantity.text(value)
    if shown is not None:
        assert quantity.parse(shown) == value


def test_a_shown_scenario_has_the_units_that_a_person_would_choose(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["scenario", "show", "paper", "--set", "optical.inter_bps=5e9"]) == 0
    shown = capsys.readouterr().out
    for line in (
        'inter_bps = "5 Gb/s"', 'switch_delay_s = "500 ns"', 'chunk_bytes = "512 KiB"',
        'max_power_w = "100 mW"', 'energy_j_per_bit_hop = "40 pJ/bit/hop"',
    ):  # fmt: skip
        assert line in shown.splitlines()
    assert rate_text(5e9) == "5 Gb/s"


@pytest.mark.parametrize(("preset", "ratio"), [("paper", "8:1"), ("paper-1to1", "1:1")])
def test_a_shown_scenario_says_how_oversubscribed_its_fibre_is_and_loads_again(
    preset: str, ratio: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["scenario", "show", preset]) == 0
    shown = capsys.readouterr().out
    assert f"Oversubscription of the fibre between rings: {ratio}\n" in shown
    assert parse_scenario(shown, "shown") == Scenario.preset(preset)


def test_one_to_one_is_the_paper_with_faster_fibre_between_rings() -> None:
    paper = Scenario.paper()
    wider = changed(paper, {"optical.inter_bps": "800 Gb/s", "name": "paper-1to1"}, "x")
    assert Scenario.preset("paper-1to1") == wider
    mine = parse_scenario('preset = "paper-1to1"\n[thz]\nsubbands = 8\n', "mine")
    assert mine == changed(wider, {"thz.subbands": 8}, "x")
    assert "paper-1to1" in preset_names()
