"""Bandwidths as nccl-tests defines them, from an event's blocks and its times."""

from __future__ import annotations

import numpy as np

from thzsync.arrays import FloatArray
from thzsync.auditor.book import Book
from thzsync.auditor.findings import Findings
from thzsync.auditor.tables import find
from thzsync.auditor.totals import compare_events

_WITH_OWN_PART = "a2a"
"""The collective whose buffers hold a part for their own rack, which no block shows."""
_DIRECTED = ("p2p", "a2a")
_TENSOR = (
    "allreduce", "reduce", "broadcast", "reduce-scatter", "all-gather", "gather", "scatter",
    "barrier",
)  # fmt: skip
"""Collectives of this package by what their size is; of others only the bus bandwidth is known."""


def bandwidth(book: Book, findings: Findings) -> None:
    """Both bandwidths are bytes over the time from release to end, 0 where there was none."""
    events = book.events
    seconds = (events.end_ps - events.release_ps) * 1e-12
    per_second = np.divide(1e-9, seconds, out=np.zeros(len(events)), where=seconds > 0)
    bus = _busiest(book)
    compare_events(book, findings, "bandwidth", "busbw_gb_s", bus * per_second)
    parties = np.maximum(events.racks.lengths, 2)
    own = np.where(events.kind == _WITH_OWN_PART, parties / (parties - 1), 1.0)
    tensor = np.isin(events.kind, _TENSOR)
    size = np.where(tensor, events["payload_bytes"], bus * own)
    told = events.real("algbw_gb_s")
    known = tensor | np.isin(events.kind, _DIRECTED)
    expected = np.where(known, size * per_second, told)
    compare_events(book, findings, "bandwidth", "algbw_gb_s", expected)


def _busiest(book: Book) -> FloatArray:
    """Bytes of every event's busiest rack: what it alone has, what it lacks, or its even share."""
    events, table = book.events, book.blocks
    sources, targets = table.lists("sources"), table.lists("targets")
    size, owner = table["bytes"], find(events.key, table["number"])
    sends: list[dict[int, int]] = [{} for _ in range(len(events))]
    gets: list[dict[int, int]] = [{} for _ in range(len(events))]
    moved = np.zeros(len(events), dtype=np.int64)
    for row in np.flatnonzero(owner >= 0).tolist():
        have, want = set(sources.of(row).tolist()), set(targets.of(row).tolist())
        event, amount = int(owner[row]), int(size[row])
        moved[event] += amount * (len(have) + len(want) - 1 - bool(have & want))
        for rack in have:
            kept = want == {rack}
            sends[event][rack] = sends[event].get(rack, 0) + (0 if kept else amount)
        for rack in want:
            held = have == {rack}
            gets[event][rack] = gets[event].get(rack, 0) + (0 if held else amount)
    busiest = np.zeros(len(events))
    for event, (out, into) in enumerate(zip(sends, gets, strict=True)):
        parties = len(out.keys() | into.keys())
        if parties:
            share = moved[event] / parties
            busiest[event] = max(*out.values(), *into.values(), share)
    return busiest
