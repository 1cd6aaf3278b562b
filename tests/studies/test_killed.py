"""A sweep that is killed at any instant loses nothing that was finished, and never counts twice."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.studies.sweeps import SMALL, SMALL_COMMAND, THZSYNC, environment, outcome, stored
from thzsync.cli import main
from thzsync.studies import sweep

PATIENCE_S = 120.0


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same sweep, undisturbed."""
    folder = tmp_path_factory.mktemp("undisturbed") / "sweep"
    sweep("tiny", **SMALL, workers=1, out=folder)
    return folder


def begin(folder: Path, workers: int) -> subprocess.Popen[str]:
    command = [*THZSYNC, *SMALL_COMMAND, "--out", str(folder), "--resume"]
    return subprocess.Popen(
        [*command, "--workers", str(workers)],
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_work(process: subprocess.Popen[str], folder: Path, runs: int) -> None:
    """Until the folder holds so many runs, or the sweep is over."""
    deadline = time.monotonic() + PATIENCE_S
    while process.poll() is None and len(stored(folder)) < runs:
        assert time.monotonic() < deadline
        time.sleep(0.002)


def kill_once(folder: Path, chance: random.Random, end: signal.Signals) -> int:
    """Start or resume the sweep and kill it at a random instant; what it ended with."""
    process = begin(folder, workers=chance.choice([1, 2]))
    wait_for_work(process, folder, len(stored(folder)) + chance.choice([0, 0, 1, 2]))
    time.sleep(chance.choice([0.0, 0.01, 0.1, 1.0]) * chance.random())
    process.send_signal(end)
    process.communicate(timeout=PATIENCE_S)
    return process.returncode


def check_after_kill(folder: Path, before: dict[str, int], expected: Path) -> dict[str, int]:
    """What was finished is still there, untouched, and all of it is whole and right."""
    now = {path.name: path.stat().st_mtime_ns for path in (folder / "finished").glob("[!.]*")}
    assert before.items() <= now.items(), "a finished run was lost or done again"
    right = stored(expected)
    assert all(right[name] == content for name, content in stored(folder).items())
    return now


def test_killed_at_random_instants_and_resumed(tmp_path: Path, expected: Path) -> None:
    chance, folder = random.Random(1), tmp_path / "sweep"
    times: dict[str, int] = {}
    for _ in range(2):
        kill_once(folder, chance, chance.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM]))
        times = check_after_kill(folder, times, expected)
        if len(times) == len(stored(expected)):
            break
    assert main([*SMALL_COMMAND, "--out", str(folder), "--resume", "--workers", "1"]) == 0
    check_after_kill(folder, times, expected)
    assert stored(folder) == stored(expected)
    assert outcome(folder) == outcome(expected)


KILLS = 50


@pytest.mark.slow
def test_fifty_kills_lose_nothing_and_count_nothing_twice(tmp_path: Path, expected: Path) -> None:
    """Only a SIGKILL that a working sweep died of counts; a sweep that got done is begun anew."""
    chance = random.Random(13)
    kills = sweeps = 0
    while kills < KILLS:
        sweeps += 1
        folder, times = tmp_path / f"sweep{sweeps}", dict[str, int]()
        while kills < KILLS and len(times) < len(stored(expected)):
            kills += kill_once(folder, chance, signal.SIGKILL) == -signal.SIGKILL
            times = check_after_kill(folder, times, expected)
        assert main([*SMALL_COMMAND, "--out", str(folder), "--resume", "--workers", "1"]) == 0
        check_after_kill(folder, times, expected)
        assert outcome(folder) == outcome(expected)
    print(f"{kills} kills over {sweeps} sweeps")
    assert kills == KILLS


@pytest.mark.parametrize(
    "end", [pytest.param(signal.SIGINT, marks=pytest.mark.slow), signal.SIGTERM]
)
def test_an_interruption_keeps_what_is_finished_and_says_how_to_go_on(
    tmp_path: Path, end: signal.Signals
) -> None:
    folder = tmp_path / "sweep"
    process = begin(folder, workers=2)
    wait_for_work(process, folder, 1)
    process.send_signal(end)
    _, errors = process.communicate(timeout=PATIENCE_S)
    if process.returncode == 0:
        pytest.skip("the sweep was faster than the signal")
    assert process.returncode == 130
    told, last = errors.splitlines()[-2:]
    assert " of 8 runs " in told
    assert str(folder) in told
    assert "--resume" in told
    assert int(told.split()[0]) == len(stored(folder)) >= 1
    assert last == "thzsync: interrupted"
