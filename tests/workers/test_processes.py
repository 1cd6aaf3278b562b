"""Workers answer by name, survive each other, and never outlive whoever started them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

from thzsync.errors import ThzSyncError
from thzsync.workers import Call, carry_out, one_team, open_executor
from thzsync.workers.processes import ATTEMPTS, Processes

HERE = "tests.workers.jobs:"


def answers(calls: list[Call], workers: int) -> list[bytes | str]:
    found: dict[int, bytes | str] = {}
    with open_executor(workers) as executor:
        for position, answer in executor.run(calls):
            found[position] = answer.payload if answer.error is None else answer.error
    return [found[position] for position in range(len(calls))]


@pytest.mark.parametrize("workers", [1, 2])
def test_every_call_is_answered_and_one_that_raises_stops_no_other(workers: int) -> None:
    calls = [Call(f"{HERE}echo", b"a"), Call(f"{HERE}fail", b"b"), Call(f"{HERE}echo", b"c")]
    assert answers(calls, workers) == [b"a", "RuntimeError: asked to fail on b", b"c"]


def test_large_payloads_go_both_ways() -> None:
    big = os.urandom(3_000_000)
    assert answers([Call(f"{HERE}echo", big)] * 3, 2) == [big] * 3


def test_what_a_library_prints_does_not_disturb_the_answers() -> None:
    assert answers([Call(f"{HERE}talk", b"x")] * 2, 2) == [b"x", b"x"]


def test_a_team_takes_several_rounds_of_calls_with_the_same_workers() -> None:
    with open_executor(2) as executor:
        calls = [Call(f"{HERE}pid", b"")] * 4
        first, second = ({a.payload for _, a in executor.run(calls)} for _ in range(2))
    assert second <= first
    assert str(os.getpid()).encode() not in first


def test_a_call_whose_worker_dies_is_done_by_another(tmp_path: Path) -> None:
    mark = tmp_path / "died"
    calls = [Call(f"{HERE}die_once", str(mark).encode()), Call(f"{HERE}echo", b"y")]
    assert answers(calls, 2) == [b"alive", b"y"]
    assert mark.exists()


def test_a_call_that_kills_every_worker_is_given_up_with_the_reason() -> None:
    calls = [Call(f"{HERE}die", b""), Call(f"{HERE}echo", b"z")]
    gave_up, fine = answers(calls, 2)
    assert f" {ATTEMPTS} times" in str(gave_up)
    assert "SIGKILL" in str(gave_up)
    assert fine == b"z"


@pytest.mark.parametrize("workers", [1, 2])
def test_a_warning_of_many_calls_is_told_once(workers: int) -> None:
    with warnings.catch_warnings(record=True) as caught, open_executor(workers) as executor:
        warnings.simplefilter("always")
        list(executor.run([Call(f"{HERE}warn", b"")] * 6))
    assert [str(w.message) for w in caught] == ["the gains are coarse"]


def test_a_worker_of_another_version_refuses() -> None:
    answer = carry_out(Call(f"{HERE}echo", b"", version="0.0.1"))
    assert answer.error is not None
    assert "0.0.1" in answer.error


def test_zero_workers_are_refused() -> None:
    with pytest.raises(ThzSyncError, match="at least 1"), open_executor(0):
        pass


def test_workers_have_one_blas_thread() -> None:
    assert answers([Call(f"{HERE}threads", b"")] * 2, 2) == [b"1", b"1"]


def test_closing_ends_workers_in_the_middle_of_a_call() -> None:
    team = Processes(2)
    calls = [Call(f"{HERE}echo", b""), Call(f"{HERE}sleep", b"60")]
    running = team.run(calls, lambda position, share: None)
    next(running)
    processes = [worker.process for worker in (*team._busy, *team._idle)]
    team.close()
    assert all(process.poll() is not None for process in processes)


def test_executors_of_one_team_share_its_workers() -> None:
    calls = [Call(f"{HERE}pid", b"")] * 4
    with one_team():
        found = []
        for _ in range(2):
            with open_executor(2) as executor:
                found.append({answer.payload for _, answer in executor.run(calls)})
        assert found[0] & found[1]
    assert not any(alive(int(pid)) for pids in found for pid in pids)


def _break_off(calls: list[Call]) -> None:
    with open_executor(2) as executor:
        for _ in executor.run(calls):
            raise KeyboardInterrupt


def test_a_team_whose_work_was_broken_off_is_replaced() -> None:
    with one_team():
        with pytest.raises(KeyboardInterrupt):
            _break_off([Call(f"{HERE}pid", b""), Call(f"{HERE}sleep", b"60")])
        assert answers([Call(f"{HERE}echo", b"again")], 2) == [b"again"]


PARENT = """
import sys
from thzsync.workers import Call, open_executor
with open_executor(2) as executor:
    run = executor.run([Call("tests.workers.jobs:pid", b"")] + [Call("{job}", b"60")] * 2)
    print(next(run)[1].payload.decode(), flush=True)
    list(run)
"""


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize("job", ["sleep", "spin"])
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_workers_end_with_their_parent_whatever_killed_it(end: signal.Signals, job: str) -> None:
    """Run as a plain script on stdin, which has no ``__main__`` that a worker could import."""
    script = PARENT.replace("{job}", f"{HERE}{job}")
    with subprocess.Popen(
        [sys.executable, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        parent.stdin.write(script)
        parent.stdin.close()
        worker = int(parent.stdout.readline())
        assert alive(worker)
        parent.send_signal(end)
        parent.wait(30)
    deadline = time.monotonic() + 10
    while alive(worker) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive(worker)
