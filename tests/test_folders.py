"""An output folder is ours or empty: nothing else is ever replaced, and one writes at a time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from thzsync.cli import main
from thzsync.errors import ThzSyncError
from thzsync.folders import (
    COMPARISON,
    RECORDS,
    RUN,
    RUN_TABLES,
    SWEEP,
    UNFINISHED,
    Record,
    claim_folder,
)
from thzsync.records.schema import TABLES


def put(folder: Path, record: Record) -> None:
    folder.mkdir(exist_ok=True)
    (folder / record.marker).write_text(json.dumps({"kind": record.kinds[0]}))


def contents(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def test_the_tables_of_a_run_are_those_of_its_schema() -> None:
    assert set(RUN_TABLES) == set(TABLES)


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.marker)
def test_absent_and_empty_are_ours_and_a_finished_record_only_by_force(
    tmp_path: Path, record: Record
) -> None:
    for force in (False, True):
        with claim_folder(tmp_path / "new", record, force) as folder:
            assert folder is not None
            put(folder, record)
            (folder / "scenario.toml").touch()
    kept = contents(tmp_path / "new")
    with pytest.raises(ThzSyncError, match="--force"):
        claim_folder(tmp_path / "new", record).__enter__()
    assert contents(tmp_path / "new") == kept
    with claim_folder(tmp_path / "new", record, extend=True):
        assert contents(tmp_path / "new") == sorted([*kept, UNFINISHED])


@pytest.mark.parametrize("force", [True, False])
def test_pages_of_an_older_record_go_and_a_users_page_stays(tmp_path: Path, force: bool) -> None:
    put(tmp_path, RUN)
    (tmp_path / "figures").mkdir()
    (tmp_path / "report.html").write_text("<p>Written by thzsync 0.2.0.</p>")
    (tmp_path / "figures/reward_vs_iteration.pdf").touch()
    (tmp_path / "figures/mine.pdf").touch()
    (tmp_path / "notes.html").write_text("mine")
    with claim_folder(tmp_path, RUN, force, extend=not force):
        pass
    assert {"figures/mine.pdf", "notes.html"} >= set(contents(tmp_path)) - {"run.json", UNFINISHED}
    (tmp_path / "report.html").write_text("mine")
    put(tmp_path, RUN)
    with claim_folder(tmp_path, RUN, extend=True):
        assert (tmp_path / "report.html").read_text() == "mine"


RUN_OF_TINY = ["run", "tiny", "--policy", "all-wired", "--iterations", "1", "--json"]
COMPARISON_OF_TINY = [
    "compare", "tiny", "--policies", "all-wired", "--iterations", "1", "--seeds", "1", "--json",
]  # fmt: skip


@pytest.mark.parametrize("command", [RUN_OF_TINY, COMPARISON_OF_TINY])
def test_no_finished_record_is_replaced_without_force_and_its_report_goes_with_it(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--out", str(tmp_path)]
    assert main([*command, *out]) == 0
    assert main(["report", str(tmp_path), "--figures"]) == 0
    (tmp_path / "notes.txt").write_text("mine")
    kept = contents(tmp_path)
    assert "report.html" in kept
    assert main([*command, "--set", "thz.subbands=2", *out]) == 2
    assert contents(tmp_path) == kept
    assert main([*command, "--set", "thz.subbands=2", *out, "--force"]) == 0
    assert set(kept) - set(contents(tmp_path)) >= {"report.html"}
    assert not list(tmp_path.glob("figures/*"))
    assert (tmp_path / "notes.txt").exists()
    assert "subbands = 2" in (tmp_path / "scenario.toml").read_text()


def test_a_reproduction_grows_and_is_made_again_but_not_with_other_seeds_unless_forced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("thzsync.paper.synthesis.QUICK_RACKS", (3,))
    part = ["reproduce", "synthesis", "--quick", "--out", str(tmp_path), "--json"]
    assert main([*part, "--seeds", "1"]) == 0
    assert main(["report", str(tmp_path)]) == 0
    assert main([*part, "--seeds", "1"]) == 0  # as `make run` typed twice does
    assert not (tmp_path / "report.html").exists()
    kept = (tmp_path / "synthesis/synthesis.json").read_text()
    for other in (["--seeds", "2"], ["--seeds", "1", "--set", "thz.subbands=2"]):
        capsys.readouterr()
        assert main([*part, *other]) == 2
        assert "--force" in capsys.readouterr().err
        assert (tmp_path / "synthesis/synthesis.json").read_text() == kept
    assert main([*part, "--seeds", "2", "--force"]) == 0
    assert json.loads((tmp_path / "synthesis/synthesis.json").read_text())["seeds"] == 2


def test_no_path_claims_nothing() -> None:
    with claim_folder(None, RUN) as folder:
        assert folder is None


def test_a_users_file_is_refused_and_force_writes_beside_it(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ThzSyncError, match=r"notes\.txt"):
        claim_folder(tmp_path, RUN).__enter__()
    with claim_folder(tmp_path, RUN, force=True):
        put(tmp_path, RUN)
    assert contents(tmp_path) == ["notes.txt", "run.json"]


@pytest.mark.parametrize("name", ["scenario.toml", "run.json", "events.parquet"])
def test_a_users_file_of_our_name_is_not_replaced_even_by_force(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine")
    with pytest.raises(ThzSyncError, match=name):
        claim_folder(tmp_path, RUN, force=True).__enter__()
    assert contents(tmp_path) == [name]


def test_another_record_is_refused_and_force_removes_it_and_only_it(tmp_path: Path) -> None:
    put(tmp_path, COMPARISON)
    (tmp_path / "runs/ddqn").mkdir(parents=True)
    for name in ("iterations.parquet", "notes.txt", "runs/ddqn/links.parquet", "runs/mine.txt"):
        (tmp_path / name).touch()
    with pytest.raises(ThzSyncError, match="--force"):
        claim_folder(tmp_path, SWEEP).__enter__()
    with claim_folder(tmp_path, SWEEP, force=True):
        assert contents(tmp_path) == [UNFINISHED, "notes.txt", "runs/mine.txt"]
    assert not (tmp_path / "runs/ddqn").exists()


def test_what_was_broken_off_is_still_ours(tmp_path: Path) -> None:
    def broken_off() -> None:
        with claim_folder(tmp_path, RUN):
            (tmp_path / "scenario.toml").touch()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        broken_off()
    with claim_folder(tmp_path, RUN):
        put(tmp_path, RUN)
    assert contents(tmp_path) == ["run.json", "scenario.toml"]


def test_what_came_to_nothing_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), claim_folder(tmp_path / "new", RUN):
        raise KeyboardInterrupt
    assert contents(tmp_path) == []


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    with (
        claim_folder(tmp_path, RUN),
        pytest.raises(ThzSyncError, match=f"^{tmp_path}: "),
        claim_folder(tmp_path, RUN, force=True),
    ):
        pass
    with claim_folder(tmp_path, RUN):
        pass  # free again


@pytest.mark.parametrize("command", [["run", "tiny"], ["compare", "tiny"], ["reproduce", "all"]])
def test_every_command_with_out_keeps_the_rule(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    assert main([*command, "--out", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "thesis.tex" in error
    assert contents(tmp_path) == ["thesis.tex"]


def test_hidden_parts_of_an_interrupted_run_are_not_dropped_for_another_record(
    tmp_path: Path,
) -> None:
    """A killed process leaves nothing else behind."""
    progress = tmp_path / ".progress"
    progress.mkdir()
    (progress / "begun.json").write_text("{}")
    for record in (COMPARISON, SWEEP):
        with claim_folder(tmp_path, record):  # nothing had been finished
            pass
        progress.mkdir(exist_ok=True)
        (progress / "part-000000.zip").write_bytes(b"rows")
        with (
            pytest.raises(ThzSyncError, match="--force"),
            claim_folder(tmp_path, record),
        ):
            pass
        assert (progress / "part-000000.zip").exists()
        with claim_folder(tmp_path, record, force=True):
            assert not progress.exists()
