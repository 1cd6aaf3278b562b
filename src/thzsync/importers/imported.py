"""From files of a known format to a trace: read, add replicas, match, place, assemble."""

from __future__ import annotations

import gc
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from thzsync.errors import ThzSyncError
from thzsync.importers.assemble import Assembly, Dropped
from thzsync.importers.importer import ReadOptions, find_importer
from thzsync.importers.matching import join
from thzsync.importers.placement import Placement, place
from thzsync.importers.ranks import Recording
from thzsync.importers.rescale import Rescaling, fill, rescale
from thzsync.version import __version__
from thzsync.workload.tracefile import Trace


@dataclass(frozen=True, eq=False)
class Imported:
    """A trace, and what was read, dropped and timed in its files."""

    trace: Trace
    dropped: Dropped
    passed_over: Counter[str]
    event_s: dict[int, float]
    """Recorded durations of events, by id, if the format has them [s]."""
    recorded_s: float | None
    """Recorded duration of the step [s]."""

    @property
    def replayed_s(self) -> float:
        """Duration of the step if every event takes as long as recorded [s]."""
        return self.trace.graph.critical_path_s(lambda event: self.event_s.get(event.id, 0.0))


def import_trace(
    paths: Sequence[str | Path],
    format: str = "auto",
    options: ReadOptions | None = None,
    placement: Placement | None = None,
    rescaling: Rescaling | None = None,
) -> Imported:
    """Read the files of all ranks and merge them into one iteration on racks."""
    files = [Path(path) for path in paths]
    options, placement = options or ReadOptions(), placement or Placement()
    importer = find_importer(format, files)
    with _no_collection():
        recording = fill(importer.read(files, options), options.world)
        recording = rescale(recording, rescaling or Rescaling(), placement.stages)
        return merge_ranks(recording, placement, options.skip_empty, importer.name)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Pause the cycle collector, which would scan a growing heap again and again. With it, ten
    times the nodes take fifteen times as long; without it, ten times."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def merge_ranks(
    recording: Recording,
    placement: Placement,
    skip_empty: bool = False,
    format_name: str = "",
) -> Imported:
    """One training graph from the operations of all ranks."""
    if not any(recording.ranks.values()):
        raise ThzSyncError(f"{recording.source}: no operation found; is it the right file?")
    floor = place(recording.ranks, placement)
    made = Assembly(recording, join(recording), floor, skip_empty)
    origin = {
        "format": format_name,
        "source": Path(recording.source).name,
        "ranks": len(recording.ranks),
        "in_rack_events": made.dropped.events,
        "in_rack_bytes": made.dropped.in_rack_bytes,
        "passed_over": dict(made.passed_over),
        "recorded_event_s": _event_seconds(made),
        "thzsync": __version__,
    }
    trace = Trace(made.graph, floor.racks, origin)
    return Imported(trace, made.dropped, made.passed_over, made.recorded_s, recording.recorded_s)


def _event_seconds(made: Assembly) -> dict[str, float]:
    """Time in every collective whose events all have a recorded duration [s]."""
    seconds: dict[str, float] = {}
    for event in made.graph.events:
        took = made.recorded_s.get(event.id, math.nan)
        seconds[event.kind] = seconds.get(event.kind, 0.0) + took
    return {kind: total for kind, total in seconds.items() if total > 0}
