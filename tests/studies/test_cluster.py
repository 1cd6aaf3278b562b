"""A real Dask cluster, started apart, gives the bytes of a local sweep and survives a death."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.studies.sweeps import POLICIES, SMALL, environment, outcome, stored
from thzsync import Scenario, break_even, compare
from thzsync.errors import ThzSyncError
from thzsync.experiments.runs import Tally
from thzsync.studies import sweep
from thzsync.workers import Call, open_executor

pytest.importorskip("distributed", reason="needs the extra cluster")

TINY = Scenario.preset("tiny")
LOOPBACK = ["--host", "127.0.0.1", "--no-dashboard"]


@contextmanager
def started(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A process of Dask's; its log is drained so that it never has to wait."""
    process = subprocess.Popen(
        [sys.executable, "-m", "dask", *arguments],
        env=environment() | {"PYTHONUNBUFFERED": "1"},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def told(process: subprocess.Popen[str], pattern: str) -> str:
    """What the log says behind a pattern."""
    assert process.stderr is not None
    for line in process.stderr:
        found = re.search(pattern, line)
        if found:
            threading.Thread(target=process.stderr.read, daemon=True).start()
            return found[1]
    raise AssertionError(f"{pattern} was never logged")


@contextmanager
def worker(address: str, folder: Path) -> Iterator[None]:
    quiet = ["--no-nanny", "--nthreads", "1", "--local-directory", str(folder)]
    with started("worker", address, *LOOPBACK, *quiet) as process:
        told(process, r"Registered to:\s+(\S+)")
        yield


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    with started("scheduler", *LOOPBACK, "--port", "0") as process:
        yield told(process, r"Scheduler at:\s+(tcp://127\.0\.0\.1:\d+)")


def test_a_cluster_gives_the_bytes_of_a_local_sweep_and_survives_the_death_of_a_worker(
    scheduler: str, tmp_path: Path
) -> None:
    sweep("tiny", **SMALL, workers=1, out=tmp_path / "local")
    dead: list[int] = []

    def kill_one(tally: Tally) -> None:
        if tally.done == 2 and not dead:
            dead.append(victim)
            os.kill(victim, signal.SIGKILL)

    with worker(scheduler, tmp_path / "w1"), worker(scheduler, tmp_path / "w2"):
        with open_executor(scheduler=scheduler) as executor:
            asked = [Call("tests.workers.jobs:pid", b"")] * 4
            victim = min(int(answer.payload) for _, answer in executor.run(asked))
        far = compare(TINY, POLICIES, seeds=2, iterations=1, scheduler=scheduler)
        sweep("tiny", **SMALL, scheduler=scheduler, out=tmp_path / "far", watch=kill_one)
    assert dead
    near = compare(TINY, POLICIES, seeds=2, iterations=1, workers=1)
    assert far.events.equals(near.events)
    assert far.document() == near.document()
    assert outcome(tmp_path / "far") == outcome(tmp_path / "local")
    assert stored(tmp_path / "far") == stored(tmp_path / "local")


def test_a_cluster_without_workers_is_refused(scheduler: str) -> None:
    with pytest.raises(ThzSyncError, match=scheduler):
        sweep("tiny", **SMALL, scheduler=scheduler)


def test_an_address_where_nobody_answers_is_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("thzsync.workers.cluster.PATIENCE", "1s")
    with pytest.raises(ThzSyncError, match=r"tcp://127\.0\.0\.1:9") as error:
        sweep("tiny", **SMALL, scheduler="tcp://127.0.0.1:9")
    assert "\n" not in str(error.value)


def test_a_break_even_goes_on_from_value_to_value(scheduler: str, tmp_path: Path) -> None:
    asked = ("tiny", "optical.access_bps", "5 Gb/s", "800 Gb/s")
    options = {"tolerance": 0.3, "policies": list(POLICIES), "seeds": 2, "iterations": 1}
    with worker(scheduler, tmp_path / "scratch"):
        there = break_even(*asked, **options, scheduler=scheduler)
    assert there.frame.equals(break_even(*asked, **options, workers=1).frame)
