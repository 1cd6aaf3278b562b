"""One event on fibre and one on THz, by hand; and the figures that the parameters come from."""

from __future__ import annotations

import math

import pytest

from tests.energy.settings import pair
from thzsync.auditor import audit
from thzsync.energy import Meter
from thzsync.network import network_of
from thzsync.scenario import Scenario
from thzsync.simulation import simulate
from thzsync.simulation.world import World


def test_a_megabyte_on_fibre() -> None:
    """8 Mbit cross 3 links of 21 pJ/bit and 2 switches of 9.8 pJ/bit: 82.6 pJ/bit."""
    run = simulate(pair(), "all-wired", iterations=1, references={})
    event = run.events.row(0, named=True)
    assert event["optical_energy_j"] == pytest.approx(8e6 * 3 * 40e-12)  # 960 uJ
    assert event["optical_wall_j"] == pytest.approx(660.8e-6)
    assert event["thz_wall_j"] == event["further_wall_j"] == 0
    # 2 of 2 racks; 3 duplex fibres have 6 modules, which sleep half of the time in which they
    # send nothing; they send for 3 x 80 us in total; 2 switches; 2 chains that sleep a quarter
    lasts_s = event["completion_ms"] / 1e3
    modules_j = 4.0 * (0.5 * 6 * lasts_s + 0.5 * 240e-6)
    others_w = 2 * 60.0 + 2 * 0.1 * 0.75 + 2 * 1000.0
    assert event["static_j"] == pytest.approx(modules_j + others_w * lasts_s)
    assert audit(run).violations == []


def test_a_megabyte_on_thz() -> None:
    """8 Mbit at Shannon's rate with 100 mW; a P2P needs no guard time."""
    run = simulate(pair(), "all-wireless", iterations=1, references={})
    event, sent = run.events.row(0, named=True), run.tables["transmissions"].row(0, named=True)
    noise_w = 10 ** ((-174 + 2 - 30) / 10) * 5e9
    rate_bps = 5e9 * math.log2(1 + 0.1 * sent["gain"] * 10**2.5 / noise_w)
    data_s = 8e6 / rate_bps
    assert event["thz_energy_j"] == pytest.approx(0.1 * data_s, rel=1e-6)
    front_ends_j, amplifier_j = 0.8 * data_s, 0.1 * data_s / 0.05
    assert event["thz_wall_j"] == pytest.approx(front_ends_j + amplifier_j + 8e6 * 15e-12, rel=1e-6)
    assert event["optical_wall_j"] == 0
    # both chains are in use for the data, and sleep a quarter of the rest
    lasts_s, used_s = event["completion_ms"] / 1e3, 2 * data_s
    chains_j = 0.1 * (0.75 * 2 * lasts_s + 0.25 * used_s)
    others_w = 4.0 * 0.5 * 6 + 2 * 60.0 + 2 * 1000.0
    assert event["static_j"] == pytest.approx(chains_j + others_w * lasts_s, rel=1e-6)
    assert audit(run).violations == []


def test_what_is_sent_again_takes_baseband_energy() -> None:
    """At its threshold QPSK 11/15 loses a fifth: 10 Mbit are sent for 8 Mbit."""
    law = {"kind": "802.15.3d", "error_rate": 0.2, "implementation_margin_db": 0}
    clear_snr = 10 ** ((3.17 + 0.05) / 10)  # below all other points of the law
    usual = simulate(pair(), "all-wireless", iterations=1, references={})
    gain = usual.tables["transmissions"]["gain"][0]
    noise_w = 10 ** ((-174 + 2 - 30) / 10) * 5e9
    power_w = clear_snr * noise_w / gain / 10**2.5
    keys = {"thz.rate": law, "thz.max_power_w": power_w, "thz.radiation": "budget"}
    run = simulate(pair(keys), "all-wireless", iterations=1, references={})
    event, sent = run.events.row(0, named=True), run.tables["transmissions"].row(0, named=True)
    assert (sent["step"], sent["error_rate"]) == ("QPSK 11/15", 0.2)
    data_s = 10e6 / (2 * 11 / 15 * 1.76 / 2.16 * 5e9)
    front_ends_j, amplifier_j, baseband_j = 0.8 * data_s, power_w * data_s / 0.05, 10e6 * 15e-12
    assert event["thz_wall_j"] == pytest.approx(front_ends_j + amplifier_j + baseband_j, rel=1e-6)
    assert audit(run).violations == []


def meter(scenario: Scenario) -> Meter:
    return World.build(scenario, 0).meter


def test_the_papers_floor_has_76_modules_and_128_chains() -> None:
    """32 racks and 6 pairs of 4 switches make 38 duplex fibres; 32 racks have 4 chains each."""
    paper = Scenario.preset("paper")
    assert int((network_of(paper).rate_bps > 0).sum()) == 2 * (32 + 6) == 76
    found = meter(paper)
    assert (found.ports, found.switches, found.racks * found.chains) == (76, 4, 128)


def test_modules_and_ports_of_the_papers_floor_draw_310_w() -> None:
    """4.08 W each: a 100 Gb/s module takes 3.5 W (SR4) to 4.5 W (ER4) by its data sheet.

    An iteration of 1.72 s then takes 533 J.
    """
    fibre = meter(Scenario.preset("paper").with_({"energy.fibre.idle_w_per_port": 4.08}))
    assert fibre.watts(32) == pytest.approx(310, abs=0.5)
    assert sum(fibre.static(32, 1.72, 0.0, 0.0)) == pytest.approx(533, abs=1)


def test_chains_of_the_papers_floor_that_are_never_switched_off() -> None:
    """0.41 to 1.79 W per chain, over iterations of 1.75 to 1.77 s: 92 to 405 J."""
    for watts, lasts_s, joule in ((0.41, 1.753, 92), (1.79, 1.768, 405)):
        chains = meter(Scenario.preset("paper").with_({"energy.thz.idle_w": watts}))
        assert sum(chains.static(32, lasts_s, 0.0, 0.0)) == pytest.approx(joule, abs=0.5)


def test_a_hundredth_of_an_iteration_of_32_racks_outweighs_all_transmission() -> None:
    """32 racks of 10 kW take 480 kJ in 1.5 s: a hundredth is 4.8 kJ, fibre's modules 533 J."""
    racks = meter(Scenario.preset("paper").with_({"energy.racks.idle_w": "10 kW"}))
    assert sum(racks.static(32, 1.5, 0.0, 0.0)) == pytest.approx(480e3)
    assert racks.static(32, 0.015, 0.0, 0.0).rack_j == pytest.approx(4.8e3)


def test_all_that_sleeps_completely_counts_only_what_is_in_use() -> None:
    keys = {"energy.fibre.sleep_share": 1.0, "energy.fibre.idle_w_per_switch": 0.0}
    run = simulate(pair(keys), "all-wired", iterations=1, references={})
    row = run.iterations.row(0, named=True)
    assert row["fibre_static_j"] == pytest.approx(4.0 * 2 * 3 * 80e-6)  # two P2P of 3 x 80 us
