from __future__ import annotations

import polars as pl
import pytest

from thzsync.network import network_of
from thzsync.report.floor import lines
from thzsync.report.traffic import fibre_loads, fibre_pairs, group_pairs, thz_pairs, traffic
from thzsync.simulation import Run


def test_every_byte_of_the_events_is_on_one_fabric(run: Run) -> None:
    assert fibre_pairs(run)["bytes"].sum() == run.events["wired_bytes"].sum()
    assert thz_pairs(run)["bytes"].sum() == run.events["thz_bytes"].sum()


def test_groups_hold_the_bytes_of_their_racks(run: Run) -> None:
    lanes, pairs = run.scenario.floor.lanes, fibre_pairs(run)
    groups = group_pairs(pairs, lanes)
    assert groups["bytes"].sum() == pairs["bytes"].sum()
    within = pairs.filter(pl.col("src") // lanes == pl.col("dst") // lanes)
    inner = groups.filter(pl.col("src") == pl.col("dst"))
    assert inner["bytes"].sum() == within["bytes"].sum()


def test_a_racks_uplink_carries_what_the_rack_sends_over_fibre(run: Run) -> None:
    sent = dict(fibre_pairs(run).group_by("src").agg(pl.col("bytes").sum()).iter_rows())
    loads = fibre_loads(run)
    carried = dict(zip(loads["fibre"], loads["bytes"], strict=True))
    fibre = lines(network_of(run.scenario)).fibre
    for rack, size in sent.items():
        assert carried[fibre[rack]] == size  # rings number the links from racks first


def test_a_mean_load_is_bytes_over_capacity(run: Run) -> None:
    loads = fibre_loads(run)
    first = {name: column[0] for name, column in loads.items()}
    seconds = run.iterations["makespan_ms"].item() * 1e-3
    capacity = run.scenario.optical.access_bps * seconds / 8
    assert first["fibre"] == 0
    carried = first["bytes"] + first["background_bytes"]
    assert first["mean"] == pytest.approx(carried / capacity, rel=1e-2)
    assert first["peak"] >= first["mean"]


def test_a_pod_shows_groups_but_no_rack_pairs(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("thzsync.report.traffic.MOST_RACKS", 5)
    shown = traffic(run)
    assert shown["racks"] == {"fibre": None, "thz": None}
    assert sum(shown["groups"]["thz"]["bytes"]) == run.events["thz_bytes"].sum()
