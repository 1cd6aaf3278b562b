"""Runs with every option of the channel are audited clean, and a wrong gain is found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.channel.test_file import save
from thzsync.auditor import audit
from thzsync.scenario import Scenario
from thzsync.simulation import simulate

TINY = Scenario.preset("tiny").with_({"channel.coherence_s": 1e-3, "channel.blockage.share": 0.1})
OPTIONS = {
    "free space": {"channel.path_loss": "free-space"},
    "log-distance": {"channel.path_loss": {"kind": "log-distance", "exponent": 2.2}},
    "absorption": {"channel.absorption": "itu-r-p676", "channel.path_loss": "free-space"},
    "mesh door": {"channel.blockage.loss_db": "mesh-door"},
    "cables": {"channel.blockage.loss_db": "cables"},
}


def links(rng, per_link, ends):
    """A file of all pairs and subbands at two instants, with some rows for each."""
    racks, subbands = TINY.floor.racks, TINY.thz.subbands
    low, high = np.triu_indices(racks, k=1)
    count = len(low) * subbands * 2 * per_link
    table = {
        "rack_a": np.repeat(low, subbands * 2 * per_link),
        "rack_b": np.repeat(high, subbands * 2 * per_link),
        "subband": np.tile(np.repeat(range(subbands), 2 * per_link), len(low)),
        "time_s": np.tile(np.repeat([0.0, 5e-3], per_link), len(low) * subbands),
        "gain_db": rng.uniform(-105, -85, count),
    }
    return table | {name: column(count) for name, column in ends.items()}


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(2)
    angles = dict.fromkeys(("angle_a_deg", "angle_b_deg"), lambda n: rng.uniform(-180, 180, n))
    beams = dict.fromkeys(("beam_a", "beam_b"), lambda n: np.arange(n) % 5)
    return {
        "rows": save(links(rng, 1, {}), tmp_path / "rows.parquet"),
        "beams": save(links(rng, 5, beams), tmp_path / "beams.npz"),
        "angles": save(links(rng, 5, angles), tmp_path / "angles.parquet"),
    }


def clean(scenario):
    run = simulate(scenario, "all-wireless", 1, 3, references={})
    assert run.events["thz_bytes"].sum() > 0
    found = audit(run)
    assert found.ok, found
    return run


@pytest.mark.parametrize("option", OPTIONS)
def test_a_run_with_an_option_is_audited_clean(option):
    clean(TINY.with_(OPTIONS[option]))


@pytest.mark.parametrize("varied", [False, True])
@pytest.mark.parametrize("kind", ["rows", "beams", "angles"])
def test_a_run_with_gains_of_a_file_is_audited_clean(files, kind, varied):
    keys = {"channel.gains_file": str(files[kind]), "channel.vary_gains_file": varied}
    antenna = {"thz.antenna.kind": "gaussian", "thz.transmit_gain_db": 10.0}
    clean(TINY.with_(keys | antenna))


def test_a_run_that_ignored_fluctuation_on_a_file_would_be_found(files):
    keys = {"channel.gains_file": str(files["rows"]), "channel.vary_gains_file": True}
    run = clean(TINY.with_(keys))
    other = TINY.with_(keys | {"channel.vary_gains_file": False})
    found = audit(replace(run, scenario=other))
    assert "gain" in {violation.check for violation in found.violations}


def test_every_option_changes_what_is_sent():
    plain = simulate(TINY, "all-wireless", 1, 3, references={}).tables["transmissions"]
    for option in OPTIONS.values():
        sent = simulate(TINY.with_(option), "all-wireless", 1, 3, references={})
        assert not plain["gain"].equals(sent.tables["transmissions"]["gain"])
