from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from thzsync.network import network_of
from thzsync.report.floor import lines
from thzsync.report.replay import fibre_samples, merge_samples, replay, thin
from thzsync.report.timeline import TICK_PS
from thzsync.simulation import Run


def test_differences_add_up_to_the_recorded_starts(run: Run) -> None:
    packed = replay(run)
    origin = run.iterations["start_ps"].item()
    recorded = np.sort(run.tables["transmissions"]["start_ps"].to_numpy() - origin)
    restored = np.cumsum(packed["start"]) * TICK_PS
    assert packed["every"] == 1
    assert np.abs(restored - recorded).max() <= TICK_PS / 2
    assert min(packed["length"]) >= 1


def test_all_columns_describe_the_same_transmissions(run: Run) -> None:
    packed = replay(run)
    names = ("start", "length", "src", "dst", "subband", "kib")
    assert {len(packed[name]) for name in names} == {run.tables["transmissions"].height}


def test_thinning_keeps_whole_rounds(run: Run) -> None:
    sent = run.tables["transmissions"]
    kept, every = thin(sent, most=sent.height // 3)
    assert every >= 3
    assert 0 < kept.height < sent.height
    keys = kept.select("number", "round").unique()
    whole = sent.join(keys, on=["number", "round"], how="semi")
    assert whole.height == kept.height


def test_many_policies_share_the_page(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = run.tables["transmissions"].height
    monkeypatch.setattr("thzsync.report.replay.MOST_TRANSMISSIONS", sent)
    monkeypatch.setattr("thzsync.report.replay.MOST_SAMPLES", run.tables["links"].height)
    whole, shared = replay(run), replay(run, policies=10)
    assert whole["every"] == replay(run, policies=2)["every"] == 1
    assert shared["every"] >= 4
    assert len(shared["spans"]) < len(whole["spans"])


def test_nothing_sent_gives_an_empty_film(run: Run) -> None:
    empty = run.tables["transmissions"].clear()
    kept, every = thin(empty)
    assert (kept.height, every) == (0, 1)


def test_fibre_samples_hold_the_recorded_load(run: Run) -> None:
    span = replay(run)["spans"][0]
    recorded = run.tables["links"]
    first = recorded.filter(pl.col("start_ps") == pl.col("start_ps").min())
    network = network_of(run.scenario)
    fibre = lines(network).fibre
    loads = dict(zip(span["fibre"], span["own"], strict=True))
    seconds = (span["end"] - span["start"]) * TICK_PS * 1e-12
    for row in first.filter(pl.col("bytes") > 0).iter_rows(named=True):
        load = 8 * row["bytes"] / (network.rate_bps[row["link"]] * seconds)
        assert abs(loads[fibre[row["link"]]] - 1000 * load) <= 1


def test_joined_samples_keep_every_byte_and_the_whole_time(run: Run) -> None:
    links, samples = run.tables["links"], fibre_samples(run)
    assert samples.height == links.height
    joined = merge_samples(samples, most=links.height // 2)
    assert joined.height < links.height
    for column in ("bytes", "background_bytes"):
        assert joined[column].sum() == links[column].sum()
    assert joined["start_ps"].min() == links["start_ps"].min()
    assert joined["end_ps"].max() == links["end_ps"].max()
