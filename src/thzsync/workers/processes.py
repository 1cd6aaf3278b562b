"""Worker processes of our own on this machine; each has a connection for calls and answers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from thzsync.workers.call import Answer, Call, News

ATTEMPTS: Final = 3
"""How often a call is tried whose worker died under it."""
PATIENCE_S: Final = 2.0
THREADS: Final = ("OMP", "OPENBLAS", "MKL", "NUMEXPR")
ONE_THREAD: Final = {f"{name}_NUM_THREADS": "1" for name in THREADS} | {
    "VECLIB_MAXIMUM_THREADS": "1"
}
"""Environment of a worker: with one process per core, threads inside only get in the way."""


class Worker:
    """A fresh interpreter; it inherits no threads, locks, random state or ``__main__``."""

    def __init__(self) -> None:
        self.connection: Connection[Any, Any]
        self.connection, theirs = Pipe()
        command = [sys.executable, "-P", "-m", "thzsync.workers.worker", str(theirs.fileno())]
        if threading.current_thread() is threading.main_thread():
            # The kernel means the thread that starts a process, and other threads may end early.
            command.append(str(os.getpid()))
        source = str(Path(__file__).parents[2])
        path = os.pathsep.join(filter(None, (source, os.environ.get("PYTHONPATH"))))
        with theirs:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=2,  # what a library prints must not become part of a result
                pass_fds=[theirs.fileno()],
                env=os.environ | ONE_THREAD | {"PYTHONPATH": path},
            )
        self.send(sys.path)

    def send(self, message: Call | list[str]) -> None:
        """Hand over a call; a worker that is gone shows when its answer is read."""
        with suppress(OSError):
            self.connection.send(message)

    def answer(self) -> Answer | float | None:
        """The answer to the last call, or which share is done; ``None`` from one that died."""
        try:
            return cast(Answer | float, self.connection.recv())
        except (EOFError, OSError):
            return None

    def end(self) -> str:
        """How a worker ended that has closed its connection, in words."""
        try:
            status = self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            return "no more answers"
        return signal.Signals(-status).name if status < 0 else f"status {status}"

    def dismiss(self) -> None:
        """End the worker now, whatever it does."""
        self.process.kill()
        self.process.wait()
        self.connection.close()


class _Attempt(NamedTuple):
    position: int
    number: int = 1


class Processes:
    """A team of workers that stays for several rounds of calls."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._idle: list[Worker] = []
        self._busy: dict[Worker, _Attempt] = {}

    @property
    def busy(self) -> bool:
        """Whether answers are still to come."""
        return bool(self._busy)

    def run(self, calls: Sequence[Call], news: News) -> Iterator[tuple[int, Answer]]:
        """Position and answer of every call, as they are finished; ``news`` of those under way."""
        waiting = deque(_Attempt(position) for position in range(len(calls)))
        while waiting or self._busy:
            self._hand_out(calls, waiting)
            owners = {worker.connection: worker for worker in (*self._idle, *self._busy)}
            finished = [
                found
                for connection in wait(list(owners))
                if (found := self._collect(owners[connection], waiting, news)) is not None  # type: ignore[index]
            ]
            self._hand_out(calls, waiting)  # nobody idles while the caller looks at answers
            yield from finished

    def _hand_out(self, calls: Sequence[Call], waiting: deque[_Attempt]) -> None:
        while waiting and len(self._busy) < self.count:
            worker = self._idle.pop() if self._idle else Worker()
            self._busy[worker] = waiting.popleft()
            worker.send(calls[self._busy[worker].position])

    def _collect(
        self, worker: Worker, waiting: deque[_Attempt], news: News
    ) -> tuple[int, Answer] | None:
        answer = worker.answer()
        if isinstance(answer, float):
            news(self._busy[worker].position, answer)
            return None
        attempt = self._busy.pop(worker, None)
        if answer is not None and attempt is not None:
            self._idle.append(worker)
            return attempt.position, answer
        end = worker.end()
        worker.dismiss()
        if attempt is None:
            self._idle.remove(worker)
            return None  # it died idle, which costs nothing but a new one
        if attempt.number < ATTEMPTS:
            waiting.appendleft(_Attempt(attempt.position, attempt.number + 1))
            return None
        return attempt.position, Answer(
            error=f"a worker process died {ATTEMPTS} times under this run ({end}; out of memory?); "
            f"use fewer workers or smaller runs"
        )

    def close(self) -> None:
        """End all workers, also in the middle of a call."""
        for worker in (*self._idle, *self._busy):
            worker.dismiss()
        self._idle, self._busy = [], {}
