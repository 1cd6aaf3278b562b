"""Worker processes of our own on this machine, fed through pipes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from typing import IO, Final

from thzsync.workers.call import Answer, Call
from thzsync.workers.frames import read_frame, write_frame
from thzsync.workers.news import News
from thzsync.workers.worker import DIE_WITH_PARENT

ATTEMPTS: Final = 3
"""How often a call is tried whose worker died under it."""
PATIENCE_S: Final = 2.0
ONE_THREAD: Final = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMEXPR_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
    ),
    "1",
)
"""Environment of a worker: with one process per core, threads inside only get in the way."""


class Worker:
    """A fresh interpreter; it inherits no threads, locks, random state or ``__main__``."""

    def __init__(self) -> None:
        command = [sys.executable, "-P", "-m", "thzsync.workers.worker"]
        if threading.current_thread() is threading.main_thread():
            # The kernel means the thread that starts a process, and other threads may end early.
            command.append(f"{DIE_WITH_PARENT}{os.getpid()}")
        home = str(Path(__file__).parents[2])
        path = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH"))))
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | ONE_THREAD | {"PYTHONPATH": path},
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._calls = self.process.stdin
        # Without a buffer: a second message in it would wait there unseen by the selector.
        self.answers: IO[bytes] = self.process.stdout.detach()  # type: ignore[attr-defined]
        self._tell({"path": sys.path})

    def ask(self, call: Call) -> None:
        """Hand over a call; a worker that is gone shows when its answer is read."""
        self._tell({"function": call.function, "version": call.version}, call.payload)

    def _tell(self, header: dict[str, object], payload: bytes = b"") -> None:
        with suppress(BrokenPipeError):
            write_frame(self._calls, header, payload)

    def answer(self) -> Answer | float | None:
        """The answer to the last call, or which share is done; ``None`` from one that died."""
        frame = read_frame(self.answers)
        if frame is None:
            return None
        told, payload = frame
        if "share" in told:
            return float(told["share"])
        return Answer(payload, told["error"], told["traceback"], tuple(told["warnings"]))

    def end(self) -> str:
        """How a worker ended that has closed its pipes, in words."""
        try:
            status = self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            return "no more answers"
        return signal.Signals(-status).name if status < 0 else f"status {status}"

    def dismiss(self) -> None:
        """End the worker now, whatever it does."""
        self.process.kill()
        self.process.wait()
        for pipe in (self._calls, self.answers):
            with suppress(BrokenPipeError):  # bytes that it never read
                pipe.close()


@dataclass(frozen=True)
class _Errand:
    position: int
    attempt: int = 1


class Processes:
    """A team of workers that stays for several rounds of calls."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._idle: list[Worker] = []
        self._busy: dict[Worker, _Errand] = {}
        self._selector = DefaultSelector()

    @property
    def busy(self) -> bool:
        """Whether answers are still to come."""
        return bool(self._busy)

    def run(self, calls: Sequence[Call], news: News | None = None) -> Iterator[tuple[int, Answer]]:
        """Position and answer of every call, as they are finished."""
        waiting = deque(_Errand(position) for position in range(len(calls)))
        while waiting or self._busy:
            self._hand_out(calls, waiting)
            finished = [
                found
                for key, _ in self._selector.select()
                if (found := self._collect(key.data, waiting, news)) is not None
            ]
            self._hand_out(calls, waiting)  # nobody idles while the caller looks at answers
            yield from finished

    def _hand_out(self, calls: Sequence[Call], waiting: deque[_Errand]) -> None:
        while waiting and len(self._busy) < self.count:
            worker = self._idle.pop() if self._idle else self._hire()
            errand = waiting.popleft()
            self._busy[worker] = errand
            worker.ask(calls[errand.position])

    def _hire(self) -> Worker:
        worker = Worker()
        self._selector.register(worker.answers, EVENT_READ, worker)
        return worker

    def _collect(
        self, worker: Worker, waiting: deque[_Errand], news: News | None
    ) -> tuple[int, Answer] | None:
        answer = worker.answer()
        if isinstance(answer, float):
            if news is not None:
                news(self._busy[worker].position, answer)
            return None
        errand = self._busy.pop(worker, None)
        if answer is not None and errand is not None:
            self._idle.append(worker)
            return errand.position, answer
        end = worker.end()
        self._dismiss(worker)
        if errand is None:
            return None  # it died idle, which costs nothing but a new one
        if errand.attempt < ATTEMPTS:
            waiting.appendleft(_Errand(errand.position, errand.attempt + 1))
            return None
        return errand.position, Answer(
            error=f"a worker process died {ATTEMPTS} times under this run ({end}; out of memory?); "
            f"use fewer workers or smaller runs"
        )

    def _dismiss(self, worker: Worker) -> None:
        self._selector.unregister(worker.answers)
        if worker in self._idle:
            self._idle.remove(worker)
        worker.dismiss()

    def close(self) -> None:
        """End all workers, also in the middle of a call."""
        for worker in (*self._idle, *self._busy):
            self._dismiss(worker)
        self._idle, self._busy = [], {}
        self._selector.close()
