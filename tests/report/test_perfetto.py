from __future__ import annotations

import gzip
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from thzsync.errors import ThzSyncError
from thzsync.report import Results
from thzsync.report.perfetto import FIBRES, FIRST_RACK, STAGES, trace_events, write_perfetto
from thzsync.simulation import Run

Entry = dict[str, Any]


@pytest.fixture(scope="module")
def entries(run: Run) -> list[Entry]:
    return list(trace_events(run))


def slices(entries: list[Entry]) -> dict[tuple[int, int], list[tuple[float, float]]]:
    tracks: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for entry in entries:
        if entry["ph"] == "X":
            span = (entry["ts"], entry["ts"] + entry["dur"])
            tracks.setdefault((entry["pid"], entry["tid"]), []).append(span)
    return tracks


def test_slices_of_a_track_never_overlap(entries: list[Entry]) -> None:
    for spans in slices(entries).values():
        for (_, end), (start, _) in pairwise(sorted(spans)):
            assert start >= end - 1e-6


def test_every_transmission_shows_at_both_ends(run: Run, entries: list[Entry]) -> None:
    on_air = [e for e in entries if e["ph"] == "X" and e["pid"] >= FIRST_RACK]
    assert len(on_air) == 2 * run.tables["transmissions"].height
    staged = [e for e in entries if e["ph"] == "X" and e["pid"] == STAGES]
    assert len(staged) == run.tables["tasks"].height + run.events.height


def test_every_track_has_a_name(entries: list[Entry]) -> None:
    named = {(e["pid"], e["tid"]) for e in entries if e["name"] == "thread_name"}
    assert set(slices(entries)) <= named
    processes = {e["pid"] for e in entries if e["name"] == "process_name"}
    assert {e["pid"] for e in entries} == processes


def test_times_lie_inside_the_iteration(run: Run, entries: list[Entry]) -> None:
    end_us = run.iterations["makespan_ms"].item() * 1e3
    for entry in entries:
        if entry["ph"] in "XC":
            assert -1e-6 <= entry["ts"] <= end_us + 1e-6


def test_fibre_counters_integrate_to_the_recorded_bytes(run: Run, entries: list[Entry]) -> None:
    counters: dict[str, list[tuple[float, float]]] = {}
    for entry in entries:
        if entry["ph"] == "C" and entry["pid"] == FIBRES:
            point = (entry["ts"], entry["args"]["collectives [Gbit/s]"])
            counters.setdefault(entry["name"], []).append(point)
    total = sum(
        (b - a) * 1e-6 * gbps * 1e9 / 8
        for points in counters.values()
        for (a, gbps), (b, _) in pairwise(points)
    )
    assert total == pytest.approx(run.tables["links"]["bytes"].sum(), rel=1e-3)
    assert all(points[-1][1] == 0 for points in counters.values())


def test_the_file_is_gzipped_json_and_the_same_each_time(results: Results, tmp_path: Path) -> None:
    first = write_perfetto(results, tmp_path / "a.json.gz").read_bytes()
    assert first == write_perfetto(results, tmp_path / "b.json.gz").read_bytes()
    document = json.loads(gzip.decompress(first))
    assert document["otherData"]["policy"] == "fixed-ratio"
    plain = write_perfetto(results, tmp_path / "c.json", "all-wired")
    assert json.loads(plain.read_text())["otherData"]["policy"] == "all-wired"


def test_what_was_not_recorded_cannot_be_exported(results: Results, tmp_path: Path) -> None:
    with pytest.raises(ThzSyncError, match="fixed-ratio"):
        write_perfetto(results, tmp_path / "x.json", "ddqn")
    with pytest.raises(ThzSyncError, match=f"^{tmp_path}: "):
        write_perfetto(Results("weights", tmp_path), tmp_path / "x.json")
