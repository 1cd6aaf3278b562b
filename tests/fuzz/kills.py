"""Commands that are killed at a random instant: nothing finished is lost, mixed up or left running.

Every case starts a command in a process group of its own, half of the time over an older result,
ends it by SIGKILL, SIGTERM or SIGINT, and looks at what is there. Now and then the command is
started again and must leave what an undisturbed one leaves.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from thzsync.auditor import audit
from thzsync.errors import ThzSyncError
from thzsync.records.journal import in_progress
from thzsync.report import open_results
from thzsync.simulation import Run

ROOT = Path(__file__).parents[2]
PATIENCE_S = 300.0
"""A busy machine may be slow, but workers must not stay for good [s]."""
FINISHED_AGAIN = 0.2
"""Share of the cases that go on to the end."""
_scratch = tempfile.TemporaryDirectory()


@dataclass(frozen=True)
class Command:
    """A command of which one argument makes an older result differ from the new one."""

    name: str
    new: tuple[str, ...]
    old: tuple[str, ...] | None
    resume: tuple[str, ...] | None = None
    """How it goes on, where it can; ``DIR`` stands for the folder."""


_SMALL = ("--policies", "all-wired,fixed-ratio", "--iterations", "1", "--workers", "2")
_SWEEP = ("sweep", "tiny", "--set", "thz.max_power_w=0.05,0.2", *_SMALL)
_RUN = ("run", "tiny", "--policy", "fixed-ratio", "--iterations", "6")
_FIGURE = ("reproduce", "synthesis", "--quick", "--seeds")
COMMANDS = {
    "run": Command("run", _RUN, (*_RUN, "--seed", "1"), ("run", "--resume", "DIR")),
    "compare": Command(
        "compare", ("compare", "tiny", *_SMALL, "--seeds", "2"),
        ("compare", "tiny", *_SMALL, "--seeds", "1"),
    ),
    "reproduce": Command("reproduce", (*_FIGURE, "2"), (*_FIGURE, "1")),
    "sweep": Command(
        "sweep", (*_SWEEP, "--seeds", "2"), None,
        (*_SWEEP, "--seeds", "2", "--out", "DIR", "--resume"),
    ),
}  # fmt: skip


def killing(name: str) -> Callable[[np.random.Generator], str]:
    """The case for one command."""
    return lambda rng: try_kill(COMMANDS[name], rng)


def try_kill(command: Command, rng: np.random.Generator) -> str:
    """Kill a command at a random instant and look at what it leaves."""
    _, took_s = _undisturbed(command.new)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "out")
        older = command.old is not None and rng.random() < 0.5
        if older:
            assert command.old is not None
            _copy(_undisturbed(command.old)[0], folder)
        end = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT][rng.integers(3)]
        process = _start((*command.new, *_into(command, folder, older)))
        time.sleep(float(rng.uniform(0.0, 1.1 * took_s)))
        ended = process.poll() is not None
        process.send_signal(end)
        _, errors = process.communicate(timeout=PATIENCE_S)
        _no_orphan(process.pid)
        assert "Traceback" not in errors, errors
        told = _look(command, folder)
        if rng.random() < FINISHED_AGAIN:
            _finish(command, folder)
        return "too late" if ended else f"{end.name}, {told}"


def _into(command: Command, folder: Path, older: bool) -> tuple[str, ...]:
    return ("--out", str(folder), *(["--force"] if older else []))


def _start(arguments: tuple[str, ...]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "thzsync", *arguments],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@cache
def _undisturbed(arguments: tuple[str, ...]) -> tuple[Path, float]:
    """What a command leaves, and how long it takes here [s]."""
    folder = Path(tempfile.mkdtemp(dir=_scratch.name), "out")
    begun = time.monotonic()
    process = _start((*arguments, "--out", str(folder)))
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, errors
    return folder, time.monotonic() - begun


def _copy(source: Path, target: Path) -> None:
    import shutil

    shutil.copytree(source, target)


def _no_orphan(session: int) -> None:
    """Workers end with their parent, whatever ended it."""
    deadline = time.monotonic() + PATIENCE_S
    while left := [pid for pid in os.listdir("/proc") if pid.isdigit() and _of(pid, session)]:
        assert time.monotonic() < deadline, f"processes {left} were left running"
        time.sleep(0.05)


def _of(pid: str, session: int) -> bool:
    try:
        fields = Path("/proc", pid, "stat").read_text().rsplit(")", 1)[1].split()
    except (OSError, IndexError):
        return False
    return fields[0] != "Z" and int(fields[3]) == session


def _look(command: Command, folder: Path) -> str:
    """What is there must be the old result, the new one, or a finished part of it."""
    if command.name == "sweep":
        expected = _contents(_undisturbed(command.new)[0] / "finished")
        assert _contents(folder / "finished").items() <= expected.items()
        return "part"
    try:
        results = open_results(folder)
    except ThzSyncError:
        assert not folder.exists() or not any(folder.glob("*.json")), "a result cannot be read"
        return "nothing"
    if command.name != "run":
        assert results.rows or results.synthesis
        return "result"
    run = Run.load(folder)
    assert audit(run).ok
    assert command.old is not None
    whole = Run.load(_undisturbed(command.old if run.seed else command.new)[0])
    assert run.events.equals(whole.events.head(run.events.height)), "a mixture of two runs"
    return "part" if in_progress(folder) else "record"


def _finish(command: Command, folder: Path) -> None:
    """Go on or begin again; the result is that of an undisturbed command."""
    arguments = (*command.new, "--out", str(folder), "--force")
    unfinished = command.name == "sweep" or in_progress(folder)
    if command.resume is not None and unfinished:
        arguments = tuple(str(folder) if part == "DIR" else part for part in command.resume)
    process = _start(arguments)
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, errors
    place = "finished" if command.name == "sweep" else "."
    whole = _undisturbed(command.new)[0]
    assert _contents(folder / place) == _contents(whole / place)


def _contents(folder: Path) -> dict[str, bytes]:
    """All results below a folder; hidden files are the commands' own affair."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and not any(p.startswith(".") for p in file.relative_to(folder).parts)
    }
