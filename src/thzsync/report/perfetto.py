"""The timeline of one iteration in Chrome's trace format, which Perfetto opens.

One process holds the pipeline stages, one per rack holds its subbands (a transmission shows at
both of its ends), and one holds the fibres as counters of their load.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from thzsync.display.labels import POLICY_LABELS, label
from thzsync.errors import ThzSyncError
from thzsync.files import write_atomically
from thzsync.network import network_of
from thzsync.records.run import Run
from thzsync.report.floor import lines
from thzsync.report.replay import fibre_samples
from thzsync.report.source import Results
from thzsync.report.timeline import COMPUTE, bars, lanes, window_ps

STAGES: Final = 1
FIBRES: Final = 2
FIRST_RACK: Final = 100
COMPUTE_ARGUMENTS: Final = ("stage", "microbatch")
EVENT_ARGUMENTS: Final = (
    "number", "method", "completion_ms", "optical_energy_j", "thz_energy_j", "reward",
    "wired_bytes", "thz_bytes", "fallback_chunks", "rerouted_chunks",
)  # fmt: skip
Entry = dict[str, Any]


def write_perfetto(results: Results, out: str | Path, policy: str | None = None) -> Path:
    """Write the last iteration of one policy (the first one unless told) as JSON, gzipped."""
    run = detailed_run(results, policy)
    document = {
        "displayTimeUnit": "ms",
        "otherData": {"policy": run.policy, "seed": run.seed, "scenario": run.scenario.name},
        "traceEvents": list(trace_events(run)),
    }
    text = json.dumps(document, separators=(",", ":"), allow_nan=False).encode()
    target = Path(out)
    packed = target.suffix == ".gz"
    write_atomically(target, gzip.compress(text, compresslevel=6, mtime=0) if packed else text)
    return target


def detailed_run(results: Results, policy: str | None = None) -> Run:
    """The recorded last iteration of a policy."""
    details = results.fabric.details if results.fabric is not None else {}
    if not details:
        raise ThzSyncError(
            f"{results.folder}: holds no recorded run; export the timeline of a folder that "
            f"`thzsync run` or `compare` wrote"
        )
    if policy is None:
        return next(iter(details.values()))
    if policy not in details:
        raise ThzSyncError(f"{policy}: not recorded here; use one of {', '.join(details)}")
    return details[policy]


def trace_events(run: Run) -> Iterator[Entry]:
    """All entries of the trace; times count from the iteration's start [us]."""
    origin, _ = window_ps(run)
    yield from _stage_entries(run, origin)
    yield from _rack_entries(run, origin)
    yield from _fibre_entries(run, origin)


def _stage_entries(run: Run, origin: int) -> Iterator[Entry]:
    yield _meta("process_name", STAGES, f"Stages ({label(POLICY_LABELS, run.policy)})")
    thread = 0
    for members, sub_rows in lanes(bars(run)):
        job, stage, lane = members[0][:3]
        title = lane if lane == COMPUTE else members[0].title
        count = max(sub_rows) + 1
        for track in range(thread, thread + count):
            yield _meta("thread_name", STAGES, f"{job} stage {stage} {title}", track)
            yield _meta("thread_sort_index", STAGES, track, track)
        for bar, sub in zip(members, sub_rows, strict=True):
            names = COMPUTE_ARGUMENTS if lane == COMPUTE else EVENT_ARGUMENTS
            span = (bar.start_ps - origin, bar.end_ps - origin)
            arguments = {name: bar.row[name] for name in names}
            yield _slice(bar.name, lane, STAGES, thread + sub, span, arguments)
        thread += count


def _rack_entries(run: Run, origin: int) -> Iterator[Entry]:
    subbands = [f"{hz / 1e9:g} GHz" for hz in run.scenario.thz.centres_hz]
    for rack in range(run.scenario.floor.racks):
        process = FIRST_RACK + rack
        yield _meta("process_name", process, f"Rack {rack} THz")
        yield _meta("process_sort_index", process, process)
        for subband, title in enumerate(subbands):
            yield _meta("thread_name", process, title, subband)
    kinds = dict(run.events.select("number", "kind").iter_rows())
    for row in run.tables["transmissions"].iter_rows(named=True):
        src, dst, kind = row["src"], row["dst"], kinds[row["number"]]
        span = (row["start_ps"] - origin, row["end_ps"] - origin)
        arguments = {"event": row["number"]} | {k: row[k] for k in ("round", "bytes", "power_w")}
        for rack, name in ((src, f"to {dst}"), (dst, f"from {src}")):
            yield _slice(name, kind, FIRST_RACK + rack, row["subband"], span, arguments)


def _fibre_entries(run: Run, origin: int) -> Iterator[Entry]:
    yield _meta("process_name", FIBRES, "Fibres")
    network = network_of(run.scenario)
    drawn = lines(network)
    ends: dict[str, int] = {}
    for row in fibre_samples(run).sort("start_ps", "fibre").iter_rows(named=True):
        name, start = drawn.name(network, row["fibre"]), row["start_ps"]
        if name in ends and ends[name] < start:  # nothing was carried in between
            yield _load(name, ends[name] - origin, 0.0, 0.0)
        per_second = 8e-9 / ((row["end_ps"] - start) * 1e-12)
        own, other = row["bytes"] * per_second, row["background_bytes"] * per_second
        yield _load(name, start - origin, own, other)
        ends[name] = row["end_ps"]
    for name, end in ends.items():
        yield _load(name, end - origin, 0.0, 0.0)


def _load(name: str, at_ps: int, own: float, other: float) -> Entry:
    gbps = {"collectives [Gbit/s]": round(own, 4), "background [Gbit/s]": round(other, 4)}
    return {"ph": "C", "pid": FIBRES, "name": name, "ts": at_ps / 1e6, "args": gbps}


def _slice(
    name: str, category: str, process: int, thread: int, span_ps: tuple[int, int], arguments: Entry
) -> Entry:
    start, end = span_ps
    track = {"ph": "X", "name": name, "cat": category, "pid": process, "tid": thread}
    return {**track, "ts": start / 1e6, "dur": (end - start) / 1e6, "args": arguments}


def _meta(what: str, process: int, value: str | int, thread: int = 0) -> Entry:
    """A name or a place in the order of tracks."""
    key = "name" if what.endswith("_name") else "sort_index"
    return {"ph": "M", "name": what, "pid": process, "tid": thread, "args": {key: value}}
