"""Nothing happens before its cause."""

from __future__ import annotations

import numpy as np

from thzsync.arrays import IntArray
from thzsync.auditor.book import Book
from thzsync.auditor.findings import Findings
from thzsync.auditor.runs import Runs, in_runs
from thzsync.auditor.tables import find, pack, spread


def chunk_times(book: Book, findings: Findings) -> None:
    """Event release <= chunk ready <= chunk end."""
    chunks = book.chunks
    release = _of_event(book, chunks.event, book.events.release_ps, chunks.ready_ps)
    findings.test(
        "chunk_times",
        (chunks.ready_ps < release) | (chunks.end_ps < chunks.ready_ps),
        chunks.name,
        lambda row: (
            f"event released at {release[row]} ps, ready at {chunks.ready_ps[row]} ps, "
            f"ended at {chunks.end_ps[row]} ps: out of order"
        ),
    )


def event_end(book: Book, findings: Findings) -> None:
    """An event ends with its last chunk (at its release if it has none)."""
    events, chunks = book.events, book.chunks
    last = events.release_ps.copy()
    known = chunks.event >= 0
    np.maximum.at(last, chunks.event[known], chunks.end_ps[known])
    findings.test(
        "event_end",
        events.end_ps != last,
        events.name,
        lambda row: f"ended at {events.end_ps[row]} ps, its last chunk at {last[row]} ps",
    )


def iteration_span(book: Book, findings: Findings) -> None:
    """A job's iterations follow each other and last from their first node to their last."""
    table, nodes = book.iterations, book.nodes
    start, end = table["start_ps"], table["end_ps"]
    order = np.lexsort((table.iteration, table.job))
    a, b = order[:-1], order[1:]
    findings.test(
        "iteration_span",
        (table.job[a] == table.job[b]) & (start[b] < end[a]),
        lambda k: table.name(int(b[k])),
        lambda k: f"starts at {start[b[k]]} ps, before the one before ended",
    )
    row = np.flatnonzero(nodes.owner >= 0)
    owner, first, last = nodes.owner[row], nodes.begin_ps[row], nodes.end_ps[row]
    findings.test(
        "iteration_span",
        (first < start[owner]) | (last > end[owner]),
        lambda k: nodes.name(int(row[k])),
        lambda k: f"runs from {first[k]} to {last[k]} ps, outside its iteration",
    )
    earliest, latest = end.copy(), start.copy()
    np.minimum.at(earliest, owner, first)
    np.maximum.at(latest, owner, last)
    if book.has_traces:  # the nominal release of an imported event may be later than the start
        earliest = start
    findings.test(
        "iteration_span",
        (start < earliest) | (end > latest),
        table.name,
        lambda row: (
            f"lasts from {start[row]} to {end[row]} ps, "
            f"its nodes from {earliest[row]} to {latest[row]} ps"
        ),
    )


def task_duration(book: Book, findings: Findings) -> None:
    """A compute task takes at least its duration."""
    tasks = book.tasks
    took, duration = tasks["end_ps"] - tasks["start_ps"], tasks["duration_ps"]
    findings.test(
        "task_duration",
        (took < duration) | (duration < 0),
        lambda row: f"iteration {tasks['iteration'][row]}, task {tasks['node'][row]}",
        lambda row: f"took {took[row]} ps of the {duration[row]} ps it needs",
    )


def graph_precedence(book: Book, findings: Findings) -> None:
    """A task starts, and an event is released, when all nodes in its ``after`` have ended."""
    nodes = book.nodes
    findings.test(
        "graph_precedence",
        nodes.predecessor < 0,
        lambda edge: nodes.name(int(nodes.successor[edge])),
        lambda edge: f"waits for node {nodes.after[edge]}, which is not recorded",
    )
    known = np.flatnonzero(nodes.predecessor >= 0)
    later, earlier = nodes.successor[known], nodes.predecessor[known]
    findings.test(
        "graph_precedence",
        nodes.begin_ps[later] < nodes.end_ps[earlier],
        lambda edge: nodes.name(int(later[edge])),
        lambda edge: (
            f"begins at {nodes.begin_ps[later[edge]]} ps, but node {nodes.node[earlier[edge]]} "
            f"ended at {nodes.end_ps[earlier[edge]]} ps"
        ),
    )
    if not book.has_traces:  # whose events may be held back
        _begins_at_once(book, findings, later, earlier)


def _begins_at_once(book: Book, findings: Findings, later: IntArray, earlier: IntArray) -> None:
    """Nothing else is waited for: a node begins at the instant at which the last one ends."""
    nodes = book.nodes
    last_ps = np.full(len(nodes.node), -1, dtype=np.int64)
    np.maximum.at(last_ps, later, nodes.end_ps[earlier])
    row = np.flatnonzero(last_ps >= 0)
    findings.test(
        "graph_precedence",
        nodes.begin_ps[row] > last_ps[row],
        lambda k: nodes.name(int(row[k])),
        lambda k: (
            f"begins at {nodes.begin_ps[row[k]]} ps, though all it waits for had ended "
            f"at {last_ps[row[k]]} ps"
        ),
    )


def chunk_precedence(book: Book, findings: Findings) -> None:
    """Chunk k of a flow is ready when chunk k of every flow in ``after`` has arrived."""
    flows, chunks = book.flows, book.chunks
    row, before, told_ps = _waits(book)
    findings.test(
        "chunk_precedence",
        chunks.ready_ps[row] < told_ps,
        lambda pair: chunks.name(int(row[pair])),
        lambda pair: (
            f"ready at {chunks.ready_ps[row[pair]]} ps, but the chunk of flow "
            f"{flows.flow[chunks.flow[before[pair]]]} had arrived at {told_ps[pair]} ps"
        ),
    )


def local_release(book: Book, findings: Findings) -> None:
    """A rack's own data is ready at r_e + delta, not before (eq:release_constraint)."""
    events, flows, chunks = book.events, book.flows, book.chunks
    seat = events.seat(flows.event, flows.src)
    row = np.flatnonzero(flows.local[chunks.flow] & (seat[chunks.flow] >= 0))
    flow = chunks.flow[row]
    release = events.release_ps[flows.event[flow]] + events.delay_ps[seat[flow]]
    findings.test(
        "local_release",
        chunks.ready_ps[row] < release,
        lambda k: chunks.name(int(row[k])),
        lambda k: (
            f"ready at {chunks.ready_ps[row[k]]} ps, but rack {flows.src[flow[k]]} "
            f"has its data at {release[k]} ps"
        ),
    )


def ready_time(book: Book, findings: Findings) -> None:
    """A chunk is ready at the very instant at which the last thing that it waits for is there."""
    events, flows, chunks = book.events, book.flows, book.chunks
    seat = events.seat(flows.event, flows.src)
    row = np.flatnonzero((chunks.event >= 0) & (seat[chunks.flow] >= 0))
    if not len(row):
        return
    flow = chunks.flow[row]
    latest = chunks.ready_ps.copy()
    own = np.where(flows.local[flow], events.delay_ps[seat[flow]], 0)
    latest[row] = events.release_ps[flows.event[flow]] + own
    later, _, told_ps = _waits(book)
    np.maximum.at(latest, later, told_ps)
    findings.test(
        "ready_time",
        chunks.ready_ps[row] > latest[row],
        lambda k: chunks.name(int(row[k])),
        lambda k: (
            f"ready at {chunks.ready_ps[row[k]]} ps, though all it waits for was there at "
            f"{latest[row[k]]} ps"
        ),
    )


def round_start(book: Book, findings: Findings) -> None:
    """A round starts when all chunks that it carries are ready."""
    chunks, sent = book.chunks, book.transmissions
    owner, row = spread(*sent.carried(chunks))
    findings.test(
        "round_start",
        sent.taken_ps[owner] < chunks.ready_ps[row],
        lambda k: chunks.name(int(row[k])),
        lambda k: (
            f"ready at {chunks.ready_ps[row[k]]} ps, "
            f"but its round began at {sent.taken_ps[owner[k]]} ps"
        ),
    )


def _waits(book: Book) -> tuple[IntArray, IntArray, IntArray]:
    """Rows of chunks, of the chunks that they wait for, and when they hear of those [ps]."""
    flows, chunks = book.flows, book.chunks
    successor, predecessor = flows.after_edges()
    known = predecessor >= 0
    successor, predecessor = successor[known], predecessor[known]
    start = np.searchsorted(chunks.flow, np.arange(len(flows) + 1))
    edge, row = spread(start[successor], np.diff(start)[successor])
    before = _place(book, start, predecessor[edge], chunks.chunk[row])
    # Absent chunks are the business of chunks_once and flow_graph.
    row, before = row[before >= 0], before[before >= 0]
    return row, before, Runs(book).told_ps(row, before) if in_runs(book) else chunks.end_ps[before]


def _place(book: Book, start: IntArray, flow: IntArray, chunk: IntArray) -> IntArray:
    """Rows of chunks of flows, -1 if there is none; usually chunk k stands in the k-th place."""
    chunks = book.chunks
    row = start[flow] + chunk
    right = (chunk >= 0) & (row < start[flow + 1])
    right[right] = chunks.chunk[row[right]] == chunk[right]
    row[~right] = find(chunks.key, pack(flow[~right], chunk[~right]))
    return row


def _of_event(book: Book, event: IntArray, column: IntArray, otherwise: IntArray) -> IntArray:
    """A column of the events for rows that name an event; another value for the rest."""
    if not len(book.events):
        return otherwise
    return np.where(event >= 0, column[event], otherwise)
