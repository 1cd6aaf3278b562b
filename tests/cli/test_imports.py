"""Traces of other tools, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.importers.files import collective, integer, node, receive, send, write_chakra
from thzsync.cli import main
from thzsync.workload.tracefile import read_trace


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Four ranks in two stages: work, a handover, an AllReduce."""
    early = [node(0, 4, micros=5), send(1, 2, 4096, after=(0,)), collective(2, 0, 8192, after=(0,))]
    late = [
        receive(0, 0, 4096),
        node(1, 4, after=(0,), micros=5),
        collective(2, 0, 8192, after=(1,)),
    ]
    ranks = [early, [early[0], early[2]], late, [node(0, 4, micros=9), early[2]]]
    return [str(path) for path in write_chakra(tmp_path, *ranks)]


def test_an_import_says_what_became_of_everything(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "job.trace"
    command = ["trace", "import", *files, "--ranks-per-rack", "2", "--out", str(out), "--json"]
    assert main(command) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["format"] == "chakra"
    assert (document["ranks"], document["racks"], document["events"]) == (4, 2, 2)
    assert document["in_rack_bytes"] == 4 * 8192
    assert read_trace(out).origin["ranks"] == 4

    assert main(command[:-1]) == 0
    said = capsys.readouterr().err
    for told in ("2 events", "4 compute", "4 ranks", "2 racks", "chakra", "32 KiB"):
        assert told in said


def test_stages_stand_on_rings_and_a_table_may_say_otherwise(
    files: list[str], tmp_path: Path
) -> None:
    out = str(tmp_path / "job.trace")
    staged = ["trace", "import", *files, "--stages", "2", "--lanes", "3", "--out", out]
    assert main(staged) == 0
    graph = read_trace(out).graph
    assert {(c.rank, c.stage, int(c.racks[0])) for c in graph.computes} == {
        (0, 0, 0), (1, 0, 1), (2, 1, 3), (3, 1, 4),
    }  # fmt: skip
    table = tmp_path / "racks.csv"
    table.write_text("rank,rack\n0,5\n1,4\n2,3\n3,2\n")
    assert main(["trace", "import", *files, "--placement", str(table), "--out", out]) == 0
    assert {int(c.racks[0]) for c in read_trace(out).graph.computes} == {2, 3, 4, 5}


def test_show_prints_groups_bus_factors_and_who_sends_to_whom(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "job.trace")
    assert main(["trace", "import", *files, "--out", out]) == 0
    assert main(["trace", "show", out]) == 0
    printed = capsys.readouterr().out
    assert "[KiB]" in printed
    assert main(["trace", "show", out, "--json"]) == 0
    groups = json.loads(capsys.readouterr().out)["groups"]
    reduction = next(group for group in groups if group["kind"] == "allreduce")
    assert (reduction["racks"], reduction["bus_factor"]) == ([0, 1, 2, 3], 1.5)


def test_run_replays_a_trace_on_any_scenario(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "job.trace")
    assert main(["trace", "import", *files, "--out", out]) == 0
    run = ["run", "tiny", "--trace", out, "--policy", "all-wired", "--iterations", "1", "--json"]
    assert main(run) == 0
    assert len(json.loads(capsys.readouterr().out)["rows"]) == 1
    wide = ["trace", "import", *files, "--stages", "4", "--lanes", "9", "--out", out]
    assert main(wide) == 0
    assert main(run) == 2
    assert f": {out}: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--format", "xml"], "--format: "),
        (["--stages", "3"], "4 ranks "),
        (["--world", "3"], "--world: found 3, "),
        (["--data-parallel", "2", "--groups-joined", "dp"], "'dp'"),
    ],
)
def test_a_wrong_option_is_one_line(
    options: list[str],
    message: str,
    files: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "job.trace"
    assert main(["trace", "import", *files, *options, "--out", str(out)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not out.exists()


def test_show_has_the_bandwidths_that_were_reached_where_collectives_were_timed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    timed = node(0, 7, integer("comm_size", 4_000_000), micros=1000)
    files = [str(path) for path in write_chakra(tmp_path, *[[timed]] * 4)]
    out = str(tmp_path / "job.trace")
    assert main(["trace", "import", *files, "--out", out]) == 0
    assert main(["trace", "show", out, "--json"]) == 0
    reached = json.loads(capsys.readouterr().out)["kinds"]["allreduce"]
    assert reached["recorded_algbw_gb_s"] == pytest.approx(4)  # 4 MB in a millisecond
    assert reached["recorded_busbw_gb_s"] == pytest.approx(6)
    assert main(["trace", "show", out]) == 0
    assert "[GB/s]" in capsys.readouterr().out
