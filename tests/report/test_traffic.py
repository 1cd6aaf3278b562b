from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from thzsync.network import network_of
from thzsync.report.traffic import fibre_pairs, link_loads, ring_matrix, thz_pairs, traffic
from thzsync.scenario import Scenario
from thzsync.simulation import Run, simulate
from thzsync.topology import Topology


def test_every_byte_of_the_events_is_on_one_fabric(run: Run) -> None:
    assert fibre_pairs(run)["bytes"].sum() == run.events["wired_bytes"].sum()
    assert thz_pairs(run)["bytes"].sum() == run.events["thz_bytes"].sum()


def test_rings_hold_the_bytes_of_their_racks(run: Run) -> None:
    topology = Topology(run.scenario.floor)
    pairs = fibre_pairs(run)
    matrix = np.array(ring_matrix(pairs, topology))
    assert matrix.sum() == pairs["bytes"].sum()
    within = pairs.filter(pl.col("src") // topology.lanes == pl.col("dst") // topology.lanes)
    assert np.trace(matrix) == within["bytes"].sum()


def test_a_racks_uplink_carries_what_the_rack_sends_over_fibre(run: Run) -> None:
    sent = dict(fibre_pairs(run).group_by("src").agg(pl.col("bytes").sum()).iter_rows())
    loads = link_loads(run)
    carried = dict(zip(loads["link"], loads["bytes"], strict=True))
    for rack, size in sent.items():
        assert carried[rack] == size


def test_a_mean_load_is_bytes_over_capacity(run: Run) -> None:
    loads = link_loads(run)
    first = {name: column[0] for name, column in loads.items()}
    seconds = run.iterations["makespan_ms"].item() * 1e-3
    capacity = run.scenario.optical.access_bps * seconds / 8
    assert first["link"] == 0
    carried = first["bytes"] + first["background_bytes"]
    assert first["mean"] == pytest.approx(carried / capacity, rel=1e-2)
    assert first["peak"] >= first["mean"]


def test_the_load_of_a_fibre_is_a_share_of_its_own_rate() -> None:
    """Links above these leaves have three times the rate of links to racks, not `inter_bps`."""
    changes = {"network.kind": "leaf-spine", "network.racks_per_leaf": 3, "network.spines": 2}
    slow = {"network.oversubscription": 0.5, "optical.inter_bps": 1e6}
    run = simulate(Scenario.preset("tiny").with_(changes | slow), "all-wired", 1, 0, references={})
    network, loads = network_of(run.scenario), link_loads(run)
    seconds = run.iterations["makespan_ms"].item() * 1e-3
    for link, own, other, mean in zip(
        *(loads[name] for name in ("link", "bytes", "background_bytes", "mean")), strict=True
    ):
        capacity = network.rate_bps[link] * seconds / 8
        assert mean == pytest.approx((own + other) / capacity, rel=1e-2)
    assert max(loads["peak"]) <= 1


def test_a_pod_shows_rings_but_no_rack_pairs(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("thzsync.report.traffic.MOST_RACKS", 5)
    shown = traffic(run)
    assert shown["pairs"] == {"fibre": None, "thz": None}
    assert np.array(shown["rings"]["thz"]).sum() == run.events["thz_bytes"].sum()
