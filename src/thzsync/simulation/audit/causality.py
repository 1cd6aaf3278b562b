"""Nothing happens before its cause."""

from __future__ import annotations

import numpy as np

from thzsync.arrays import IntArray
from thzsync.simulation.audit.book import Book
from thzsync.simulation.audit.findings import Findings
from thzsync.simulation.audit.tables import find, pack, spread


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
    """Iterations follow each other, hold all their nodes and end with the last of them."""
    table, tasks, events = book.iterations, book.tasks, book.events
    start, end = table["start_ps"], table["end_ps"]
    findings.test(
        "iteration_span",
        start[1:] < end[:-1],
        lambda row: f"iteration {table.key[row + 1]}",
        lambda row: f"starts at {start[row + 1]} ps, before the one before ended",
    )
    owner = find(table.key, np.concatenate((tasks["iteration"], events.iteration)))
    first = np.concatenate((tasks["start_ps"], events.release_ps))[owner >= 0]
    last = np.concatenate((tasks["end_ps"], events.end_ps))[owner >= 0]
    owner = owner[owner >= 0]
    findings.test(
        "iteration_span",
        (first < start[owner]) | (last > end[owner]),
        lambda row: f"iteration {table.key[owner[row]]}",
        lambda row: f"a node from {first[row]} to {last[row]} ps lies outside the iteration",
    )
    latest = start.copy()
    np.maximum.at(latest, owner, last)
    findings.test(
        "iteration_span",
        end > latest,
        lambda row: f"iteration {table.key[row]}",
        lambda row: f"ends at {end[row]} ps, but its last node at {latest[row]} ps",
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
    tasks, events = book.tasks, book.events
    iteration = np.concatenate((tasks["iteration"], events.iteration))
    node = np.concatenate((tasks["node"], events.node))
    begin = np.concatenate((tasks["start_ps"], events.release_ps))
    end = np.concatenate((tasks["end_ps"], events.end_ps))
    task_after, event_after = tasks.lists("after"), events.lists("after")
    after = np.concatenate((task_after.values, event_after.values))
    successor = np.concatenate((task_after.owner, len(tasks) + event_after.owner))
    key = pack(iteration, node)
    order = np.argsort(key, kind="stable")
    row = find(key[order], pack(iteration[successor], after))
    before = np.where(row >= 0, order[row], -1) if len(order) else row

    def message(edge: int) -> str:
        if before[edge] < 0:
            return f"waits for node {after[edge]}, which is not recorded"
        return (
            f"begins at {begin[successor[edge]]} ps, but node {after[edge]} "
            f"ended at {end[before[edge]]} ps"
        )

    findings.test(
        "graph_precedence",
        (before < 0) | (begin[successor] < end[before]) if len(order) else before < 0,
        lambda edge: f"iteration {iteration[successor[edge]]}, node {node[successor[edge]]}",
        message,
    )


def chunk_precedence(book: Book, findings: Findings) -> None:
    """Chunk k of a flow is ready when chunk k of every flow in ``after`` has arrived."""
    flows, chunks = book.flows, book.chunks
    successor, predecessor = flows.after_edges()
    known = predecessor >= 0
    successor, predecessor = successor[known], predecessor[known]
    first = np.searchsorted(chunks.flow, successor)
    count = np.searchsorted(chunks.flow, successor, side="right") - first
    edge, row = spread(first, count)
    before = find(chunks.key, pack(predecessor[edge], chunks.chunk[row]))
    # Absent chunks are the business of chunks_once and flow_graph.
    row, before = row[before >= 0], before[before >= 0]
    findings.test(
        "chunk_precedence",
        chunks.ready_ps[row] < chunks.end_ps[before],
        lambda pair: chunks.name(int(row[pair])),
        lambda pair: (
            f"ready at {chunks.ready_ps[row[pair]]} ps, but the chunk of flow "
            f"{flows.flow[chunks.flow[before[pair]]]} arrived at {chunks.end_ps[before[pair]]} ps"
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


def round_start(book: Book, findings: Findings) -> None:
    """A round starts when all chunks that it carries are ready."""
    chunks, sent = book.chunks, book.transmissions
    owner, row = spread(sent.first_row, sent.carried)
    findings.test(
        "round_start",
        sent.taken_ps[owner] < chunks.ready_ps[row],
        lambda k: chunks.name(int(row[k])),
        lambda k: (
            f"ready at {chunks.ready_ps[row[k]]} ps, "
            f"but its round began at {sent.taken_ps[owner[k]]} ps"
        ),
    )


def _of_event(book: Book, event: IntArray, column: IntArray, otherwise: IntArray) -> IntArray:
    """A column of the events for rows that name an event; another value for the rest."""
    if not len(book.events):
        return otherwise
    return np.where(event >= 0, column[event], otherwise)
