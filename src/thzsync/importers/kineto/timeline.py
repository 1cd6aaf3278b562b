"""Dependencies from the timeline of a rank.

A profile says when operations ran, not why. Two rules make a graph of it:

- What a rank did before it asked for a collective comes before the collective.
- A rank that was idle when a collective ended was waiting for it, so its next work comes after it.
  Compute that continued across the end of a collective did not wait for it.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from thzsync.importers.kineto.spans import COLLECTIVE, DEVICE, Span, Traffic
from thzsync.importers.ranks import Operation, Track, Work

Described = Callable[[Traffic, tuple[int, ...]], Operation]
"""Makes the operation for a message or collective, from its dependencies."""


@dataclass(frozen=True)
class Busy:
    """When a rank computes: disjoint intervals in ascending order."""

    begin_us: list[float]
    end_us: list[float]

    def last_end(self, time_us: float) -> float | None:
        """End of the last interval before ``time_us``; None if an interval contains it."""
        place = bisect_left(self.begin_us, time_us) - 1
        end = self.end_us[place] if place >= 0 else -math.inf
        return end if end <= time_us else None


def busy(spans: list[Span], traffic_lanes: set[str]) -> Busy:
    """When the rank computes: on its device if it has one, otherwise on its threads."""
    device = [s for s in spans if s.category in DEVICE]
    working = [s for s in device if COLLECTIVE not in s.arguments and "nccl" not in s.name]
    if not device:
        working = [s for s in spans if s.category == "cpu_op" and s.lane not in traffic_lanes]
    found = Busy([], [])
    for span in working:  # by time
        if found.end_us and span.begin_us <= found.end_us[-1]:
            found.end_us[-1] = max(found.end_us[-1], span.end_us)
        else:
            found.begin_us.append(span.begin_us)
            found.end_us.append(span.end_us)
    return found


@dataclass
class _Line(Track):
    """The operations of a rank up to some time."""

    now_us: float

    def work_until(self, time_us: float) -> None:
        """Add the time since the last cut as work, if there is any."""
        if time_us > self.now_us:
            self.then(Work(self.last, (time_us - self.now_us) * 1e-6, "compute"))
            self.now_us = time_us


def operations(
    found: Sequence[Traffic], busy: Busy, begin_us: float, end_us: float, described: Described
) -> list[Operation]:
    """The work of a rank, cut where it asked for communication and where it waited."""
    line = _Line(begin_us)
    position: dict[int, int] = {}
    before: dict[str, int] = {}
    # At the same time, a request comes before an end; otherwise an end could precede its start.
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
