"""Bandwidths as nccl-tests defines them, from an event's blocks and its times."""

from __future__ import annotations

from collections import Counter

import numpy as np

from thzsync.arrays import FloatArray
from thzsync.auditor.findings import Findings
from thzsync.auditor.record import Record

_WITH_OWN_PART = "a2a"
"""The collective whose buffers hold a part for their own rack, which no block shows."""
_DIRECTED = ("p2p", "a2a")
_TENSOR = (
    "allreduce", "reduce", "broadcast", "reduce-scatter", "all-gather", "gather", "scatter",
    "barrier",
)  # fmt: skip
"""Collectives of this package by what their size is; of others only the bus bandwidth is known."""


def bandwidth(record: Record, findings: Findings) -> None:
    """Both bandwidths are bytes over the time from release to end, 0 where there was none."""
    events = record.events
    seconds = (events.end_ps - events.release_ps) * 1e-12
    per_second = np.divide(1e-9, seconds, out=np.zeros(len(events)), where=seconds > 0)
    bus = _busiest(record)
    findings.compare(events, "busbw_gb_s", bus * per_second)
    racks = np.maximum(events.racks.lengths, 2)
    own = np.where(events.kind == _WITH_OWN_PART, racks / (racks - 1), 1.0)
    tensor = np.isin(events.kind, _TENSOR)
    size = np.where(tensor, events["payload_bytes"], bus * own)
    known = tensor | np.isin(events.kind, _DIRECTED)
    expected = np.where(known, size * per_second, events.real("algbw_gb_s"))
    findings.compare(events, "algbw_gb_s", expected)


def _busiest(record: Record) -> FloatArray:
    """Bytes of every event's busiest rack: what it alone has, what it lacks, or its even share."""
    blocks, events = record.blocks, len(record.events)
    loads: list[Counter[tuple[str, int]]] = [Counter() for _ in range(events)]
    moved = np.zeros(events, dtype=np.int64)
    for row in np.flatnonzero(blocks.event >= 0).tolist():
        have, want = blocks.ends(row)
        event, size = int(blocks.event[row]), int(blocks.bytes[row])
        moved[event] += size * (len(have) + len(want) - 1 - bool(have & want))
        for way, here, far in (("sends", have, want), ("receives", want, have)):
            for rack in here:
                loads[event][way, rack] += 0 if far == {rack} else size
    busiest = np.zeros(events)
    for event, load in enumerate(loads):
        racks = len({rack for _, rack in load})
        if racks:
            busiest[event] = max(*load.values(), moved[event] / racks)
    return busiest
