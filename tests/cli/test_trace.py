from __future__ import annotations

import json
from pathlib import Path

import pytest

from thzsync.cli import main
from thzsync.workload.tracefile import read_trace

MIB = 2**20


@pytest.fixture
def paper(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    file = tmp_path / "paper.jsonl.gz"
    assert main(["trace", "generate", "--out", str(file), "--seed", "7", "--iteration", "3"]) == 0
    assert capsys.readouterr().err.count("96 ") == 2
    return file


def test_a_generated_trace_says_where_it_came_from(paper: Path) -> None:
    origin = read_trace(paper).origin
    assert origin["scenario"] == "paper"
    assert (origin["seed"], origin["iteration"]) == (7, 3)


def test_show_counts_events_bytes_and_time(paper: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", "show", str(paper), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert {kind: of["events"] for kind, of in shown["kinds"].items()} == {
        "p2p": 48,
        "a2a": 32,
        "allreduce": 16,
    }
    assert shown["kinds"]["p2p"]["payload_bytes"] == 48 * 8 * 16 * MIB
    assert shown["kinds"]["a2a"]["largest_event_bytes"] == 8 * 12 * MIB
    assert shown["makespan_s"] == pytest.approx((8 + 3) * 0.12)
    assert shown["compute_s"] == pytest.approx(4 * 8 * 0.12)
    assert (shown["racks"], shown["stages"], shown["jobs"]) == (32, 4, ["train"])


def test_show_prints_a_table_for_people(paper: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", "show", str(paper)]) == 0
    printed = capsys.readouterr().out
    assert "6 GiB" in printed
    assert "1320 ms" in printed


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_show_draws_a_gantt_chart(
    suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace, picture = tmp_path / "t.gz", tmp_path / f"gantt{suffix}"
    assert main(["trace", "generate", "tiny", "--out", str(trace), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["events"] == 16
    assert main(["trace", "show", str(trace), "--gantt", str(picture), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["gantt"] == str(picture)
    assert picture.stat().st_size > 1000


def test_check_says_how_much_it_checked(paper: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", "check", str(paper), "--scenario", "paper", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["valid"]
    assert document["checked"]["nodes"] == 192
    assert document["checked"]["edges"] > 204
    assert main(["trace", "check", str(paper)]) == 0
    assert "192 " in capsys.readouterr().out


def test_check_against_a_smaller_floor_names_the_node_and_the_rack(
    paper: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trace", "check", str(paper), "--scenario", "tiny"]) == 2
    error = capsys.readouterr().err
    assert "compute 0 (" in error
    assert "rack 7 " in error
    assert "0..5" in error


def test_a_damaged_file_is_one_line_and_status_2(
    paper: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paper.write_bytes(paper.read_bytes()[:-20])
    for command in ("show", "check"):
        assert main(["trace", command, str(paper)]) == 2
        error = capsys.readouterr().err
        assert str(paper) in error
        assert error.count("\n") == 1


def test_a_scenario_can_run_a_trace(
    paper: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = tmp_path / "replay.toml"
    scenario.write_text(f'preset = "paper"\n[[jobs]]\nname = "replay"\ntrace = "{paper}"\n')
    again = tmp_path / "again.gz"
    assert main(["trace", "generate", str(scenario), "--out", str(again)]) == 0
    first, second = read_trace(paper).graph, read_trace(again).graph
    assert {node.job for node in second.nodes} == {"replay"}
    assert [node.after for node in first.nodes] == [node.after for node in second.nodes]


def test_a_scenario_without_jobs_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trace", "generate", "single-ring", "--out", str(tmp_path / "x")]) == 2
    assert "'single-ring'" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
