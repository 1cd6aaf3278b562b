"""Timed calls outside the packet kernel, ordered by (time, priority, sequence)."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from enum import IntEnum
from itertools import count
from typing import Any

from thzsync.arrays import NEVER_PS, PS_PER_S
from thzsync.errors import ThzSyncError


class Priority(IntEnum):
    """Order of calls at one instant."""

    ROUND_END = 0
    COMPUTE_END = 1
    FAULT = 2
    RELEASE = 3
    WAKE = 4
    SAMPLE = 5


_PROMISES = (Priority.ROUND_END, Priority.COMPUTE_END, Priority.RELEASE)


class Agenda:
    """A heap of handlers with their due times."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, int, Callable[[Any], None], Any]] = []
        self._sequence = count()
        self.promises = 0
        """Number of pending ends of rounds and compute, and releases, which will cause progress."""

    @property
    def next_ps(self) -> int:
        """Due time of the first handler [ps]."""
        return self._heap[0][0] if self._heap else NEVER_PS

    def add(
        self, at_ps: int, priority: Priority, handler: Callable[[Any], None], argument: Any
    ) -> None:
        """Call ``handler(argument)`` at this instant, which must be before ``NEVER_PS``."""
        if at_ps >= NEVER_PS:
            raise ThzSyncError(
                f"the simulated clock would pass {NEVER_PS / PS_PER_S:g} s, where it ends; "
                "use shorter compute times and delays, or fewer iterations"
            )
        entry = (at_ps, int(priority), next(self._sequence), handler, argument)
        heapq.heappush(self._heap, entry)
        self.promises += priority in _PROMISES

    def run_due(self, now_ps: int) -> bool:
        """Call every handler that is due, in order; return whether there was one."""
        any_due = False
        while self._heap and self._heap[0][0] <= now_ps:
            _, priority, _, handler, argument = heapq.heappop(self._heap)
            self.promises -= priority in _PROMISES
            handler(argument)
            any_due = True
        return any_due
