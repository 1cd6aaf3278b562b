"""From a rank's timeline to what waits for what.

A profile tells when things ran, not why. Two rules make a graph of it. What a rank did before it
asked for a collective comes before the collective. And a rank that stood idle when a collective
ended was waiting for it: what it did next comes after. Compute that went on across the end of a
collective did not wait for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from thzsync.importers.kineto.spans import Busy, Traffic
from thzsync.importers.ranks import Operation, Track, Work

Described = Callable[[Traffic, tuple[int, ...]], Operation]
"""Makes the operation of some traffic, given what it waits for."""


class _Line(Track):
    """A rank, and how far its time is told."""

    def __init__(self, now_us: float) -> None:
        super().__init__()
        self.now_us = now_us

    def work_until(self, time_us: float) -> None:
        """Time since the last cut as work; nothing where none has passed."""
        if time_us > self.now_us:
            seconds = (time_us - self.now_us) * 1e-6
            self.then(Work(self.last, seconds, "compute"))
            self.now_us = time_us


def operations(
    found: Sequence[Traffic], busy: Busy, begin_us: float, end_us: float, described: Described
) -> list[Operation]:
    """The rank's work, cut where it asked for traffic and where it waited for it."""
    line = _Line(begin_us)
    position: dict[int, int] = {}
    before: dict[str, int] = {}
    # Asking comes before ending at the same instant, or an end would come without its traffic.
    cuts = [(t.issued_us, 0, n) for n, t in enumerate(found)]
    cuts += [(t.run.end_us, 1, n) for n, t in enumerate(found)]
    for time_us, ends, number in sorted(cuts):
        asked = found[number]
        if not ends:
            line.work_until(time_us)
            queued = (before[asked.run.lane],) if asked.run.lane in before else ()
            added = line.add(described(asked, tuple(dict.fromkeys(line.last + queued))))
            position[number] = before[asked.run.lane] = added
            continue
        stopped_us = busy.last_end(time_us)
        if stopped_us is not None and time_us > line.now_us:
            line.work_until(min(stopped_us, time_us))
            line.last = (*line.last, position[number])
            line.now_us = time_us
    line.work_until(end_us)
    return line.operations
