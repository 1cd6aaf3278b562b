"""How far runs are: on a terminal as they go, elsewhere a line a minute."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import ceil
from typing import TYPE_CHECKING

from thzsync.cli.output import note, notes, progress

if TYPE_CHECKING:
    from thzsync.experiments.runs import Tally

LINE_EVERY_S = 60.0
"""Time between two lines where there is no terminal [s]."""


class Meter:
    """Turns tallies into a line: runs done, rate, time left, failures."""

    def __init__(self) -> None:
        self._start_s = time.monotonic()
        self._part = ""
        self.line = "starting"
        self.share = 0.0
        """Of all runs, those that are done."""

    def tell(self, tally: Tally) -> str:
        """Take note of how far things are."""
        if tally.part != self._part or tally.to_prepare:  # the rate is that of runs alone
            self._part, self._start_s = tally.part, time.monotonic()
        lead = f"{tally.part}: " if tally.part else ""
        parts = [f"{lead}{_count(tally.done)} of {tally.total} runs"]
        fresh, elapsed_s = tally.done - tally.kept, time.monotonic() - self._start_s
        if tally.to_prepare:
            parts.append(f"references {_count(tally.prepared)} of {tally.to_prepare}")
        if fresh > 0 and elapsed_s > 0:
            parts.append(_rate(fresh / elapsed_s))
            parts.append(f"{span((tally.total - tally.done) * elapsed_s / fresh)} left")
        if tally.failed:
            parts.append(f"{tally.failed} failed")
        self.line, self.share = ", ".join(parts), tally.done / max(1, tally.total)
        return self.line


def span(seconds: float) -> str:
    """A length of time for people: 42 s, 3:05 min, 2:10 h; a moment is a second."""
    whole = ceil(seconds) if seconds < 1 else round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02d} min"
    return f"{whole // 3600}:{whole % 3600 // 60:02d} h"


def _count(done: float) -> str:
    return f"{int(10 * done) / 10:g}"  # what is nearly done is not done


def _rate(per_s: float) -> str:
    return f"{per_s:.2g} runs/s" if per_s >= 1 else f"{60 * per_s:.2g} runs/min"


@contextmanager
def watching(what: str) -> Iterator[Callable[[Tally], None]]:
    """Show tallies: a bar on a terminal, otherwise a line a minute on stderr."""
    meter = Meter()

    def show(tally: Tally) -> None:
        before = meter.share
        advance(description=meter.tell(tally), steps=meter.share - before)

    with progress(what, total=1, counted=False) as advance, _told(lambda: f"{what}: {meter.line}"):
        yield show


@contextmanager
def following(description: str, total: int) -> Iterator[Callable[..., None]]:
    """Show how far one run is: a bar on a terminal, otherwise a line a minute on stderr.

    Yields ``advance(steps=1, description=None)``; a step is an iteration.
    """
    start_s, done, words = time.monotonic(), 0.0, description

    def line() -> str:
        left_s = (time.monotonic() - start_s) * max(0.0, total / done - 1) if done else None
        left = "" if left_s is None else f", {span(left_s)} left"
        return f"{words}, {_count(done)} of {total} iterations{left}"

    with progress(description, total) as advance, _told(line):

        def step(steps: float = 1, description: str | None = None) -> None:
            nonlocal done, words
            done, words = done + steps, description or words
            advance(steps, description)

        yield step


@contextmanager
def _told(line: Callable[[], str]) -> Iterator[None]:
    """Where there is no terminal, say a line from time to time."""
    if notes().is_terminal:
        yield
        return
    over = threading.Event()

    def speak() -> None:
        while not over.wait(LINE_EVERY_S):
            note(line())

    speaker = threading.Thread(target=speak, daemon=True)
    speaker.start()
    try:
        yield
    finally:
        over.set()
        speaker.join()
