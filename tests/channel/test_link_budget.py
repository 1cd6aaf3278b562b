"""The link budget by hand in docs/radios.md, against the package."""

from __future__ import annotations

from math import log10

import numpy as np
import pytest

from tests.docs.pages import ROOT
from thzsync.channel import ChannelModel, efficiency, law_of
from thzsync.channel.rate import silent_budget_per_w, step_of
from thzsync.scenario import Scenario
from thzsync.scenario.rates import fastest
from thzsync.streams import Streams
from thzsync.topology import Topology

PAPER = Scenario.preset("paper").with_({"channel.fluctuation_db": 0})
RECEIVE_ONLY = PAPER.with_(
    {
        "thz": {
            "subbands": 1,
            "band_start_hz": 297.5e9,
            "noise_figure_db": 10,
            "max_power_w": 10**1.4 / 1000,
            "rate": "802.15.3d",
        },
        "channel.nlos_paths": 0,
    }
)


def table() -> list[list[str]]:
    page = (ROOT / "docs/radios.md").read_text("utf-8")
    _, _, rest = page.partition("<!-- link budget -->\n")
    lines = rest.partition("<!-- /link budget -->")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def radio(name: str) -> Scenario:
    return RECEIVE_ONLY if name == "receive only" else PAPER.with_overlays(name.strip("`"))


def test_the_table_has_three_radios_and_the_receive_only_one_at_four_distances() -> None:
    names = [row[0] for row in table()]
    assert {name: names.count(name) for name in names} == dict.fromkeys(
        ("receive only", "`paper`", "`today`", "`2030`"), 4
    )


@pytest.mark.parametrize("row", table(), ids=lambda row: f"{row[0]}, {row[1]} m")
def test_link_budgets_by_hand_are_those_of_the_package(row: list[str]) -> None:
    name, distance_m, sent_dbm, gains_dbi, loss_db, noise_dbm, snr_db, effective_db, mode, gbps = (
        row
    )
    quarter_m = float(distance_m) / 4  # two racks opposite each other on one ring
    keys = {"slots_per_ring": 2, "inner_radius_m": quarter_m, "ring_spacing_m": quarter_m}
    scenario = radio(name)
    topology = Topology(scenario.floor.model_validate({"rings": 1, **keys}))
    channel = ChannelModel.build(scenario.channel, scenario.thz, topology, Streams(0))
    gain = channel.base_gain(np.array([0]), np.array([1]))[0, 0]
    thz = scenario.thz
    power_w = thz.max_power_w / thz.subbands
    noise_w = thz.noise_w * thz.headroom
    law, snr = law_of(thz), np.array([power_w * gain * silent_budget_per_w(thz)[0]])
    steps = fastest(thz.rate.steps())
    used = step_of(snr, law)[0] if steps else -1
    told = [
        (sent_dbm, 10 * log10(power_w * 1e3)),
        (gains_dbi, thz.antenna_gains_db[0]),
        (loss_db, -10 * log10(gain)),
        (noise_dbm, 10 * log10(noise_w * 1e3)),
        (snr_db, 10 * log10(snr[0])),
        (effective_db, 10 * log10(snr[0] / (1 + snr[0] * law.distortion))),
        (gbps, thz.subband_hz * efficiency(snr, law)[0] / 1e9),
    ]
    for by_hand, computed in told:
        assert float(by_hand) == pytest.approx(computed, abs=0.051)
    assert mode == (steps[used].name if used >= 0 else "none" if steps else "Shannon")
