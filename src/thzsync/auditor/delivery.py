"""Every byte arrives exactly once, on one fabric, as decided or with the exception counted."""

from __future__ import annotations

import numpy as np

from thzsync.auditor.book import Book
from thzsync.auditor.findings import TOLERANCE, Findings
from thzsync.auditor.tables import spread, sum_by
from thzsync.auditor.totals import compare_events


def chunks_once(book: Book, findings: Findings) -> None:
    """A flow of D bytes has K = ceil(D / B_ch) chunks, 0..K-1, each recorded once."""
    flows, chunks = book.flows, book.chunks
    size = book.scenario.collectives.chunk_bytes
    findings.test(
        "chunks_once",
        (flows.bytes < 1) | (flows.chunk_bytes != size) | (flows.chunks != flows.needed),
        flows.name,
        lambda row: (
            f"{flows.bytes[row]} bytes in {flows.chunks[row]} chunks of {flows.chunk_bytes[row]}; "
            f"the scenario cuts at {size}"
        ),
    )
    position = np.arange(len(chunks)) - np.searchsorted(chunks.flow, chunks.flow)
    findings.test(
        "chunks_once",
        chunks.chunk != position,
        chunks.name,
        lambda row: f"stands where chunk {position[row]} should: one is missing or there twice",
    )
    delivered = sum_by(chunks.flow, chunks.bytes, len(flows))
    findings.test(
        "chunks_once",
        delivered != flows.bytes,
        flows.name,
        lambda row: f"delivered {delivered[row]} of {flows.bytes[row]} bytes",
    )


def flow_graph(book: Book, findings: Findings) -> None:
    """A flow waits only for flows into its source that have as many chunks."""
    flows = book.flows
    successor, predecessor = flows.after_edges()
    known = predecessor >= 0
    successor, predecessor = successor[known], predecessor[known]
    findings.test(
        "flow_graph",
        (flows.dst[predecessor] != flows.src[successor])
        | (flows.needed[predecessor] != flows.needed[successor]),
        lambda edge: flows.name(int(successor[edge])),
        lambda edge: (
            f"waits for flow {flows.flow[predecessor[edge]]}, which does not bring as many chunks "
            f"to rack {flows.src[successor[edge]]}"
        ),
    )


def fabric(book: Book, findings: Findings) -> None:
    """A THz chunk is in exactly one transmission and ends with it, a wired one in none.

    eq:unique_assignment.
    """
    chunks, sent = book.chunks, book.transmissions
    owner, row = spread(*sent.carried(chunks))
    times = np.bincount(row, minlength=len(chunks))
    findings.test(
        "fabric",
        times != chunks.thz,
        chunks.name,
        lambda k: (
            f"recorded on {'THz' if chunks.thz[k] else 'fibre'}, "
            f"but in {times[k]} THz transmissions"
        ),
    )
    findings.test(
        "fabric",
        sent.end_ps[owner] != chunks.end_ps[row],
        lambda k: chunks.name(int(row[k])),
        lambda k: (
            f"ended at {chunks.end_ps[row[k]]} ps, its transmission at {sent.end_ps[owner[k]]} ps"
        ),
    )


def action(book: Book, findings: Findings) -> None:
    """Decided counts lie within the flow; budgets are levels, and 0 for silent racks."""
    events, flows = book.events, book.flows
    findings.test(
        "action",
        (flows.thz_chunks < 0) | (flows.thz_chunks > flows.needed),
        flows.name,
        lambda row: f"{flows.thz_chunks[row]} THz chunks of {flows.needed[row]} were decided",
    )
    seat = events.seat(flows.event, flows.src)
    sends = np.zeros(len(events.power), dtype=np.bool_)
    sends[seat[(flows.thz_chunks > 0) & (seat >= 0)]] = True
    levels = np.array(book.scenario.coordinator.power_levels)
    is_level = np.isclose(events.power[:, None], levels, rtol=TOLERANCE, atol=0).any(axis=1)
    findings.test(
        "action",
        np.where(sends, ~is_level, events.power != 0),
        lambda k: f"{events.name(int(events.racks.owner[k]))}, rack {events.racks.values[k]}",
        lambda k: (
            f"power budget {events.power[k]:g} is none of the levels"
            if sends[k]
            else f"has power budget {events.power[k]:g} without a THz chunk"
        ),
    )


def decision(book: Book, findings: Findings) -> None:
    """Decided and carried differ by exactly the counted fallback and rerouted chunks."""
    events, flows, chunks = book.events, book.flows, book.chunks
    decided = sum_by(chunks.flow, chunks.decided_thz.astype(np.int64), len(flows))
    findings.test(
        "decision",
        decided != flows.thz_chunks,
        flows.name,
        lambda row: f"{decided[row]} chunks were decided for THz, not {flows.thz_chunks[row]}",
    )
    known = chunks.event >= 0
    counts = {
        "fallback_chunks": chunks.decided_thz & ~chunks.thz,
        "rerouted_chunks": ~chunks.decided_thz & chunks.thz,
    }
    for column, moved in counts.items():
        found = sum_by(chunks.event[known], moved[known].astype(np.int64), len(events))
        compare_events(book, findings, "decision", column, found.astype(np.float64))
    of_event = flows.event >= 0
    thz = sum_by(flows.event[of_event], flows.thz_chunks[of_event], len(events))
    every = sum_by(flows.event[of_event], flows.needed[of_event], len(events))
    compare_events(book, findings, "decision", "decision_thz_share", thz / np.maximum(every, 1))
