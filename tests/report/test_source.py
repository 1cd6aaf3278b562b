from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.report.results import SYNTHESIS, save_json
from thzsync.errors import ThzSyncError
from thzsync.experiments.compare import Comparison
from thzsync.records.journal import Journal, RunSpec
from thzsync.report import Results, open_results
from thzsync.scenario import Scenario
from thzsync.simulation import Run, simulate


def test_a_run_counts_as_a_comparison_of_one_policy(run: Run, tmp_path: Path) -> None:
    found = open_results(run.save(tmp_path / "run"))
    assert found.kind == "run"
    assert found.fabric is not None
    assert found.fabric.policies == ("fixed-ratio",)
    assert found.rows[0]["completion_ms"] == pytest.approx(run.summary["completion_ms"])


def test_a_comparison_keeps_its_rows_and_details(comparison: Comparison, tmp_path: Path) -> None:
    found = open_results(comparison.save(tmp_path / "compare"))
    assert found.kind == "compare"
    assert [row["policy"] for row in found.rows] == list(comparison.policies)
    assert found.fabric is not None
    assert set(found.fabric.details) == set(comparison.policies)


def test_a_reproduction_brings_all_its_parts(results: Results) -> None:
    assert results.kind == "reproduce"
    assert results.fabric is not None
    assert results.synthesis == SYNTHESIS
    assert len(results.weights) == 3
    assert results.first == 1


def test_missing_parts_of_a_reproduction_are_left_out(reproduction: Path, tmp_path: Path) -> None:
    shutil.copy(reproduction / "reproduce.json", tmp_path)
    shutil.copytree(reproduction / "weights", tmp_path / "weights")
    found = open_results(tmp_path)
    assert found.fabric is None
    assert found.synthesis == []
    assert len(found.weights) == 3


def test_an_interval_that_is_not_a_number_counts_as_missing(tmp_path: Path) -> None:
    folder = save_json(tmp_path, "synthesis", rows=[{**SYNTHESIS[0], "ci95_ms": float("nan")}])
    assert open_results(folder).synthesis[0]["ci95_ms"] is None


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("compare.json", "{", "JSON"),
        ("compare.json", "[]", "JSON"),
        ("compare.json", "[" * 100_000, "JSON"),
        ("synthesis.json", '{"kind": "synthesis", "rows": []}', "rows"),
        ("run.json", '{"kind": "walk"}', "'walk'"),
        ("reproduce.json", '{"kind": "reproduce", "parts": ["fabric"]}', "part"),
        ("reproduce.json", '{"kind": "reproduce", "parts": "fabric"}', "parts"),
        ("other.json", "{}", r"run\.json"),
    ],
)
def test_what_cannot_be_shown_is_named_in_one_line(
    tmp_path: Path, name: str, content: str, message: str
) -> None:
    (tmp_path / name).write_text(content, "utf-8")
    with pytest.raises(ThzSyncError, match=message) as error:
        open_results(tmp_path)
    assert "\n" not in str(error.value)
    assert str(tmp_path) in str(error.value)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ThzSyncError, match="nowhere"):
        open_results(tmp_path / "nowhere")


def test_an_interrupted_run_shows_what_it_has_finished(tmp_path: Path) -> None:
    tiny = Scenario.preset("tiny")
    references = dict.fromkeys(("p2p", "a2a", "allreduce"), (0.001, 0.001))
    journal = Journal.begin(tmp_path, RunSpec(tiny, "all-wired", 0, 2, references))
    with pytest.raises(ThzSyncError, match="run --resume"):
        open_results(tmp_path)
    simulate(tiny, "all-wired", 1, 0, references, journal=journal)
    found = open_results(tmp_path)
    assert found.kind == "run"
    assert found.fabric is not None
    assert found.document["iterations"] == found.fabric.iterations.height == 1
