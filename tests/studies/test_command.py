"""`thzsync sweep` on the command line."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.studies.sweeps import POLICIES, SMALL_COMMAND, environment
from thzsync.cli import announcement, main, meter
from thzsync.display.labels import POLICY_LABELS, label
from thzsync.experiments.runs import Tally


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main([*arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_json_rows_have_a_column_per_axis(capsys: pytest.CaptureFixture[str]) -> None:
    document = answer(capsys, *SMALL_COMMAND, "--workers", "1")
    assert document["kind"] == "sweep"
    assert len(document["rows"]) == 4
    row = document["rows"][-1]
    assert (row["thz.max_power_w"], row["policy"], row["seeds"]) == (0.2, "fixed-ratio", 2)
    assert {"completion_ms", "ci95_completion_ms", "ci95_diff_reward"} <= row.keys()


def test_a_specification_says_the_same_and_options_replace_its_parts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "spec.toml"
    file.write_text(
        'base = "tiny"\npolicies = ["all-wired", "fixed-ratio"]\nseeds = 7\niterations = 1\n'
        "[axes]\nthz.max_power_w = [0.05, 0.2]\n"
    )
    told = answer(capsys, "sweep", str(file), "--seeds", "2", "--workers", "1")
    same = answer(capsys, *SMALL_COMMAND, "--workers", "1")
    assert told["rows"] == same["rows"]


def test_people_get_a_table_and_where_things_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*SMALL_COMMAND, "--workers", "1", "--out", str(tmp_path / "s")]) == 0
    shown = capsys.readouterr()
    named = (label(POLICY_LABELS, policy) for policy in POLICIES)
    assert all(told in shown.out for told in ("2 points", "2 paired seeds", *named))
    assert str(tmp_path / "s") in shown.err


def test_a_dry_run_tells_the_plan_and_its_cost_and_does_not_run_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "never"
    document = answer(capsys, *SMALL_COMMAND, "--dry-run", "--out", str(out), "--workers", "2")
    assert document["runs"] == 8
    assert document["policies"] == list(POLICIES)
    assert 0 < document["cpu_s"] < 60
    assert document["disk_bytes"] > 8 * 1000
    assert not out.exists()
    assert main([*SMALL_COMMAND, "--dry-run"]) == 0
    assert "8 runs" in capsys.readouterr().out


def test_shards_are_joined_by_merge(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parts = []
    for k in (1, 2):
        folder = str(tmp_path / f"part{k}")
        assert main([*SMALL_COMMAND, "--shard", f"{k}/2", "--workers", "1", "--out", folder]) == 0
        parts += ["--merge", folder]
    told = capsys.readouterr()
    assert " 4 runs" in told.err
    assert "1 of 2 paired seeds" in told.out
    merged = answer(capsys, "sweep", *parts, "--out", str(tmp_path / "all"))
    assert merged["complete"]
    assert merged["rows"] == answer(capsys, *SMALL_COMMAND, "--workers", "1")["rows"]


def test_a_dry_run_of_a_resumed_sweep_counts_what_is_done_and_changes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "part"
    part = [*SMALL_COMMAND, "--workers", "1", "--out", str(out)]
    assert main([*part, "--shard", "1/2"]) == 0
    (out / "finished/.half.parquet.tmp").write_bytes(b"PAR1")
    capsys.readouterr()
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
    document = answer(capsys, *part, "--dry-run", "--resume")
    assert (document["runs"], document["done"]) == (8, 4)
    assert before == {path: path.stat().st_mtime_ns for path in out.rglob("*")}
    assert answer(capsys, *part, "--dry-run")["done"] == 0
    done = answer(capsys, *part, "--dry-run", "--resume", "--shard", "1/2")
    assert (done["runs"], done["done"], done["cpu_s"]) == (4, 4, 0)


def test_merging_tells_failed_runs_from_missing_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gains = f"channel.gains_file={tmp_path}/none.csv,"
    command = ["sweep", "tiny", "--set", gains, "--policies", "all-wired", "--iterations", "1"]
    assert main([*command, "--seeds", "2", "--workers", "1", "--out", str(tmp_path / "x")]) == 1
    capsys.readouterr()
    merged = ["sweep", "--merge", str(tmp_path / "x"), "--out", str(tmp_path / "whole")]
    assert main([*merged, "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert len(document["failures"]) == 2
    assert "none.csv" in document["failures"][0]["error"]
    assert document["missing"] == 0


MANY = ["sweep", "tiny", "--set", "thz.max_power_w=" + ",".join(map(str, range(1, 502)))]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["sweep"], "sweep: "),
        (["sweep", "papper"], "papper: "),
        (
            ["sweep", "tiny", "--set", "thz.subbands=1,-3"],
            "thz.subbands=-3: thz.subbands: found -3",
        ),
        (["sweep", "tiny", "--shard", "2"], "--shard: found '2'; .*I/N"),
        (["sweep", "tiny", "--shard", "1/2"], "--shard: .*--out DIR"),
        (["sweep", "--merge", "x"], "--merge: .*--out DIR"),
        (["sweep", "--merge", "x", "--out", "y"], r"x: .*sweep\.json"),
        ([*MANY, "--seeds", "2"], ".* 1002 runs; .*--dry-run"),
    ],
)
def test_a_wrong_call_is_one_line(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert re.match(f"thzsync: error: {message}", error)
    assert error.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_failures_are_told_and_the_status_is_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = tmp_path / "bad.toml"
    scenario.write_text('preset = "tiny"\n')
    gains = f"channel.gains_file={tmp_path}/none.csv,"
    command = ["sweep", str(scenario), "--set", gains, "--policies", "all-wired"]
    assert main([*command, "--seeds", "1", "--iterations", "1", "--workers", "1"]) == 1
    told = capsys.readouterr().err
    assert "1 run " in told
    assert "--resume" in told


SCRIPT = """
from thzsync import Scenario, compare, sweep
print(compare(Scenario.preset("tiny"), ("all-wired",), 2, 1, workers=2).seeds)
found = sweep("tiny", {"thz.subbands": [2, 16]}, policies=["all-wired"], seeds=1, iterations=1,
              workers=2)
print(found.frame.height)
"""


def test_a_plain_script_needs_no_guard_and_a_warning_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "(0, 1)\n2\n"
    assert done.stderr.count("290-370 GHz") == 1


def test_a_warning_of_many_runs_is_one_line_of_ours(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["compare", "tiny", "--set", "thz.subbands=16", "--policies", "all-wired"]
    assert main([*command, "--seeds", "3", "--iterations", "1", "--workers", "2"]) == 0
    error = capsys.readouterr().err
    assert error.startswith("thzsync: warning: thz: ")
    assert "290-370 GHz" in error
    assert error.count("\n") == 1


def numbers(line: str) -> list[str]:
    return re.findall(r"\d[\d.:]*", line)


def test_a_tally_says_how_far_how_fast_how_long_and_what_failed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = iter([0.0, 30.0, 30.0, 32.0])
    monkeypatch.setattr(meter.time, "monotonic", lambda: next(clock))
    gauge = meter.Meter()
    line = gauge.tell(Tally(done=16, total=76, kept=10, failed=1))
    assert numbers(line) == ["16", "76", "12", "5:00", "1"]
    assert "runs/min" in line
    line = gauge.tell(Tally(done=4, total=10, part="oracle"))
    assert numbers(line) == ["4", "10", "2", "3"], "a new part has its own rate"
    assert "runs/s" in line
    assert line.startswith("oracle: ")


def test_runs_under_way_count_by_their_shares_and_none_is_done_too_soon(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = iter([0.0, 30.0, 60.0])
    monkeypatch.setattr(meter.time, "monotonic", lambda: next(clock))
    gauge = meter.Meter()
    assert numbers(gauge.tell(Tally(done=1.5, total=4))) == ["1.5", "4", "3", "50"]
    assert numbers(gauge.tell(Tally(done=3.99, total=4)))[:2] == ["3.9", "4"]
    assert gauge.share == pytest.approx(3.99 / 4)


@pytest.mark.parametrize(
    "words",
    [SMALL_COMMAND, ["compare", "tiny", "--policies", "all-wired", "--seeds", "2"]],
    ids=["sweep", "compare"],
)
def test_what_takes_long_is_announced_with_its_remedy(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = [*words, "--iterations", "1", "--workers", "1", "--json"]
    assert main(command) == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(announcement, "WORTH_TELLING_S", 0.0)
    assert main(command) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert re.match(r".* \d+ s .* \d+ MB", line)


def test_preparing_does_not_count_against_the_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 100.0, 100.0, 110.0])
    monkeypatch.setattr(meter.time, "monotonic", lambda: next(clock))
    gauge = meter.Meter()
    gauge.tell(Tally(done=0, total=20, prepared=5, to_prepare=5))
    assert numbers(gauge.tell(Tally(done=10, total=20))) == ["10", "20", "1", "10"]


def test_without_a_terminal_a_line_is_told_from_time_to_time(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(meter, "LINE_EVERY_S", 0.02)
    with meter.watching("sweep") as watch:
        watch(Tally(done=0, total=4, prepared=1, to_prepare=2))
        meter.time.sleep(0.2)
    lines = capsys.readouterr().err.splitlines()
    assert lines
    assert all(line.startswith("sweep: ") for line in lines)
    assert {tuple(numbers(line)) for line in lines} <= {("0", "4", "1", "2"), ()}


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0, "0 s"), (0.4, "1 s"), (59, "59 s"), (185, "3:05 min"), (7800, "2:10 h")],
)
def test_spans_of_time_are_for_people(seconds: float, text: str) -> None:
    assert meter.span(seconds) == text


def test_a_point_that_run_would_refuse_is_refused_before_any_work(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rates = "optical.access_bps=1 kbps,1 Gbps"
    assert main(["sweep", "tiny", "--set", rates, "--dry-run"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("thzsync: error: optical.access_bps=1 kbps: optical.access_bps: ")
    assert main(["run", "tiny", "--set", "optical.access_bps=1 kbps"]) == 2
    assert told.split("bps: ", 2)[2] == capsys.readouterr().err.split("bps: ", 1)[1]
