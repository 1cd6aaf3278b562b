"""Flow fidelity: bytes fit into their time, and long flows are followed in runs of chunks.

Whatever waits for a chunk of a run waits for the whole run, and a run is ready with the last of its
chunks. Chunks of THz are single, and so are the others that would share a run with them. Two single
chunks wait for each other alone.
"""

from __future__ import annotations

import numpy as np

from thzsync.arrays import BoolArray, IntArray
from thzsync.auditor.fibre import crossed_links
from thzsync.auditor.findings import TOLERANCE, Findings
from thzsync.auditor.record import Record
from thzsync.auditor.tables import find, pack, sum_by
from thzsync.carriers import FIBRE


def fibre_time(record: Record, findings: Findings) -> None:
    """What an event sent over a fibre fits into the time between its release and its end."""
    chunks, flows, events = record.chunks, record.flows, record.events
    wired = np.flatnonzero(chunks.wired & (chunks.event >= 0))
    load = np.bincount(chunks.flow[wired], chunks.bytes[wired], len(flows))
    row = np.flatnonzero((load > 0) & (flows.event >= 0))
    link, position, surely = crossed_links(record, row)
    link, position = link[surely], position[surely]
    pair, at = np.unique(pack(flows.event[row[position]], link), return_inverse=True)
    event, link = pair >> 32, pair & 0xFFFFFFFF
    total = np.bincount(at, load[row[position]], len(pair))
    had = (events.end_ps - events.release_ps)[event] * 1e-12 * record.paths.rate_bps[link] / 8
    for k in findings.broken(total > had * (1 + TOLERANCE) + 1):
        place = f"{events.name(event[k])}, link {link[k]}"
        findings.add(place, f"sent {total[k]:.0f} bytes in a time in which {had[k]:.0f} fit")


def fidelity(record: Record, findings: Findings) -> None:
    """Replayed events are events of the record, with its completion times."""
    told, events = record.run.fidelity, record.events
    if told is None or not record.in_trains:
        findings.require(told is None, "run.json", "tells of replays of a run in packets")
        return
    number = np.array([replay.number for replay in told.replayed], dtype=np.int64)
    completion_ms = (events.end_ps - events.release_ps) * 1e-9
    broken = []
    for replay, row in zip(told.replayed, find(events.key, number).tolist(), strict=True):
        same = row >= 0 and replay.kind == events.kind[row] and replay.packet_ms > 0
        same = same and np.isclose(replay.flow_ms, completion_ms[row], rtol=TOLERANCE, atol=0)
        broken.append(not same)
    for k in findings.broken(broken):
        findings.add(f"replay of event {number[k]}", f"says {told.replayed[k]}, unlike the record")


def told_ps(record: Record, row: IntArray, before: IntArray) -> IntArray:
    """When chunks (rows) are told that the chunks before them have arrived [ps].

    Chunks that may leave a broken fibre are single; flows of few chunks have runs of one.
    """
    chunks, end_ps = record.chunks, record.chunks.end_ps
    if not len(chunks) or not record.in_trains or record.broken_fibres:
        return end_ps[before]
    first = np.searchsorted(chunks.flow, np.arange(len(record.flows) + 1))
    starts = _starts(record, first)
    size = np.diff(np.append(starts, len(chunks)))
    run = np.repeat(np.arange(len(starts)), size)
    single = _single(record, first, run, starts + size)
    whole_ps = np.maximum.reduceat(end_ps, starts)
    return np.where(single[row] & single[before], end_ps[before], whole_ps[run[before]])


def _starts(record: Record, first: IntArray) -> IntArray:
    """Rows of the first chunks of all runs."""
    optical, flows = record.scenario.optical, record.flows
    # flows of no event count for one more, beyond the last
    waits = sum_by(flows.event, flows.after.lengths, len(record.events) + 1)[flows.event] > 0
    trains = optical.trains_per_flow
    pieces_of = np.where(waits, trains, max(8, trains // 4))  # a quarter where nobody waits
    queue = min(optical.nic_queue_bytes, optical.output_queue_bytes)
    most = max(1, queue // 2 // record.scenario.collectives.chunk_bytes)
    kinds, kind = np.unique(np.stack((np.diff(first), pieces_of)), axis=1, return_inverse=True)
    found = [
        (first[:-1][kind.reshape(-1) == k][:, None] + grid(chunks, pieces, most)).reshape(-1)
        for k, (chunks, pieces) in enumerate(kinds.T.tolist())
    ]
    return np.sort(np.concatenate(found)) if found else np.zeros(0, dtype=np.int64)


def grid(chunks: int, pieces: int, most: int) -> IntArray:
    """First chunks of a flow's runs: singles, pairs, fours ... at both ends, even runs between.

    A run has at most twice its even share of the chunks, and ``most`` chunks unless that would make
    more than ``4 * pieces`` runs.
    """
    if chunks <= pieces:
        return np.arange(chunks)
    longest = max(min(-(-2 * chunks // pieces), most), -(-chunks // (4 * pieces)))
    ramp: list[int] = []
    size = 1
    while size < longest:
        ramp += [size] * max(1, pieces // 16)
        size *= 2
    while sum(ramp) > chunks // 2:
        ramp.pop()
    begin = sum(ramp)
    middle, runs = chunks - 2 * begin, -(-(chunks - 2 * begin) // longest)
    even = [begin + k * middle // runs for k in range(runs)]
    rising = np.cumsum([0, *ramp])[:-1]
    falling = chunks - np.cumsum(ramp)[::-1] if ramp else rising
    return np.concatenate((rising, np.array(even, dtype=np.int64), falling))


def _single(record: Record, first: IntArray, run: IntArray, ends: IntArray) -> BoolArray:
    """Chunks that were decided for other carriers, and the rest of the run of the last of them."""
    chunks, rows = record.chunks, len(record.chunks)
    count = sum_by(chunks.flow, chunks.decided != FIBRE, len(record.flows))
    some = count > 0
    until = first[:-1].copy()
    until[some] = ends[run[first[:-1][some] + count[some] - 1]]
    return np.arange(rows) < until[chunks.flow]
