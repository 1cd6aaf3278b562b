"""Nothing happens before its cause."""

from __future__ import annotations

import numpy as np

from thzsync.arrays import IntArray
from thzsync.auditor.findings import Findings
from thzsync.auditor.flows import told_ps
from thzsync.auditor.record import Record
from thzsync.auditor.tables import find, pack, spread


def chunk_times(record: Record, findings: Findings) -> None:
    """Event release <= chunk ready <= chunk end."""
    chunks = record.chunks
    release, known = chunks.ready_ps.copy(), chunks.event >= 0
    release[known] = record.events.release_ps[chunks.event[known]]
    for k in findings.broken((chunks.ready_ps < release) | (chunks.end_ps < chunks.ready_ps)):
        times = f"released {release[k]}, ready {chunks.ready_ps[k]}, end {chunks.end_ps[k]} ps"
        findings.add(chunks.name(k), times)


def event_end(record: Record, findings: Findings) -> None:
    """An event ends with its last chunk (at its release if it has none)."""
    events, chunks = record.events, record.chunks
    last = events.release_ps.copy()
    known = chunks.event >= 0
    np.maximum.at(last, chunks.event[known], chunks.end_ps[known])
    findings.equal(events.end_ps, last, events.name, "end [ps]")


def iteration_span(record: Record, findings: Findings) -> None:
    """A job's iterations follow each other and last from their first node to their last."""
    table, nodes = record.iterations, record.nodes
    start, end = table.start_ps, table.end_ps
    a, b = table.consecutive()
    for k in findings.broken((table.job[a] == table.job[b]) & (start[b] < end[a])):
        findings.add(table.name(b[k]), f"starts at {start[b[k]]} ps, before the one before ended")
    row = np.flatnonzero(nodes.owner >= 0)
    owner, first, last = nodes.owner[row], nodes.begin_ps[row], nodes.end_ps[row]
    for k in findings.broken((first < start[owner]) | (last > end[owner])):
        findings.add(nodes.name(row[k]), f"from {first[k]} to {last[k]} ps, outside its iteration")
    earliest, latest = end.copy(), start.copy()
    np.minimum.at(earliest, owner, first)
    np.maximum.at(latest, owner, last)
    if record.has_traces:  # the nominal release of an imported event may be later than the start
        earliest = start
    for k in findings.broken((start < earliest) | (end > latest)):
        findings.add(table.name(k), f"{start[k]}-{end[k]} ps, nodes {earliest[k]}-{latest[k]} ps")


def task_duration(record: Record, findings: Findings) -> None:
    """A compute task takes at least its duration."""
    tasks = record.tasks
    took, duration = tasks.end_ps - tasks.start_ps, tasks.duration_ps
    for k in findings.broken((took < duration) | (duration < 0)):
        findings.add(tasks.name(k), f"took {took[k]} ps of the {duration[k]} ps it needs")


def graph_precedence(record: Record, findings: Findings) -> None:
    """A task starts, and an event is released, when all nodes in its ``after`` have ended."""
    nodes = record.nodes
    for k in findings.broken(nodes.predecessor < 0):
        findings.add(nodes.name(nodes.successor[k]), f"awaits node {nodes.after[k]}, not recorded")
    known = np.flatnonzero(nodes.predecessor >= 0)
    later, earlier = nodes.successor[known], nodes.predecessor[known]
    begin_ps, end_ps = nodes.begin_ps[later], nodes.end_ps[earlier]
    findings.not_before(begin_ps, end_ps, nodes.at(later), "begins", "what it waits for ends")
    if record.has_traces:
        return  # their events may be held back
    # Nothing else is waited for: a node begins at the instant at which the last one ends.
    last_ps = np.full(len(nodes.node), -1, dtype=np.int64)
    np.maximum.at(last_ps, later, end_ps)
    row = np.flatnonzero(last_ps >= 0)
    begin_ps = nodes.begin_ps[row]
    findings.not_before(last_ps[row], begin_ps, nodes.at(row), "may begin", "but begins")


def chunk_precedence(record: Record, findings: Findings) -> None:
    """Chunk k of a flow is ready when chunk k of every flow in ``after`` has arrived."""
    chunks = record.chunks
    row, come_ps = _waits(record)
    ready_ps = chunks.ready_ps[row]
    findings.not_before(ready_ps, come_ps, chunks.at(row), "ready", "what it waits for")


def local_release(record: Record, findings: Findings) -> None:
    """A rack's own data is ready at r_e + delta, not before (eq:release_constraint)."""
    events, flows, chunks = record.events, record.flows, record.chunks
    member = events.member(flows.event, flows.src)
    row = np.flatnonzero(flows.local[chunks.flow] & (member[chunks.flow] >= 0))
    flow = chunks.flow[row]
    release = events.release_ps[flows.event[flow]] + events.delay_ps[member[flow]]
    ready_ps = chunks.ready_ps[row]
    findings.not_before(ready_ps, release, chunks.at(row), "ready", "its rack has the data")


def ready_time(record: Record, findings: Findings) -> None:
    """A chunk is ready at the very instant at which the last thing that it waits for is there."""
    events, flows, chunks = record.events, record.flows, record.chunks
    member = events.member(flows.event, flows.src)
    row = np.flatnonzero((chunks.event >= 0) & (member[chunks.flow] >= 0))
    flow = chunks.flow[row]
    latest = chunks.ready_ps.copy()
    own = np.where(flows.local[flow], events.delay_ps[member[flow]], 0)
    latest[row] = events.release_ps[flows.event[flow]] + own
    later, come_ps = _waits(record)
    np.maximum.at(latest, later, come_ps)
    ready_ps = chunks.ready_ps[row]
    findings.not_before(latest[row], ready_ps, chunks.at(row), "could be ready", "is ready")


def round_start(record: Record, findings: Findings) -> None:
    """A round starts when all chunks that it carries are ready."""
    chunks, sent = record.chunks, record.transmissions
    owner, row = spread(*sent.carried(chunks))
    taken_ps, ready_ps = sent.taken_ps[owner], chunks.ready_ps[row]
    findings.not_before(taken_ps, ready_ps, chunks.at(row), "its round begins", "ready")


def _waits(record: Record) -> tuple[IntArray, IntArray]:
    """Rows of chunks that wait for another, and when they are told that it is there [ps]."""
    flows, chunks = record.flows, record.chunks
    successor, predecessor = flows.edges()
    start = np.searchsorted(chunks.flow, np.arange(len(flows) + 1))
    edge, row = spread(start[successor], np.diff(start)[successor])
    before = find(chunks.key, pack(predecessor[edge], chunks.chunk[row]))
    # Absent chunks are the business of chunks_once and flow_graph.
    row, before = row[before >= 0], before[before >= 0]
    return row, told_ps(record, row, before)
