"""How fast this machine is now, beside the one on which running times were measured.

Machines differ, and a shared one differs from minute to minute. So estimates of running time are
scaled by a short, fixed piece of plain Python that is timed here: an event loop over a heap, which
is what simulators in Python spend their time on. Once through it takes some 20 ms.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Final

EVENTS: Final = 30_000
PROCESSES: Final = 64
REPEATS: Final = 20
USUAL_EVENTS_PER_S: Final = 1.75e6
"""Events per CPU second at pace 1: where running times were measured, SimPy carried 0.13 million
packet-hops per CPU second; the loop below has 13.5 events for each (12 to 18 in twelve runs)."""


def pace(repeats: int = REPEATS) -> float:
    """Events per CPU second, relative to pace 1.

    The mean of some repeats, not the best: what is measured beside it has no better luck.
    """
    return sum(_events_per_s() for _ in range(repeats)) / repeats / USUAL_EVENTS_PER_S


def _events_per_s() -> float:
    start = time.process_time()
    run_events(EVENTS)
    return EVENTS / (time.process_time() - start)


def run_events(events: int) -> int:
    """Processes that wait for whole numbers of steps, resumed in the order of time and number."""
    processes = [process(number) for number in range(PROCESSES)]
    heap = [(next(one), number) for number, one in enumerate(processes)]
    heap.sort()
    now = 0
    for _ in range(events):
        now, number = heappop(heap)
        heappush(heap, (now + next(processes[number]), number))
    return now


def process(number: int) -> Iterator[int]:
    """Steps to wait for, one after the other; every process has its own."""
    state = number + 1
    while True:
        state = state * 1103515245 + 12345 & 0x7FFFFFFF
        yield 1 + (state >> 16) % 97
