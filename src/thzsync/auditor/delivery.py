"""Every byte arrives exactly once, on one fabric, as decided or with the exception counted."""

from __future__ import annotations

import numpy as np

from thzsync.auditor.findings import TOLERANCE, Findings
from thzsync.auditor.record import Record
from thzsync.auditor.tables import spread, sum_by


def chunks_once(record: Record, findings: Findings) -> None:
    """A flow of D bytes has K = ceil(D / B_ch) chunks, 0..K-1, each recorded once."""
    flows, chunks = record.flows, record.chunks
    size = record.scenario.collectives.chunk_bytes
    findings.test(
        (flows.bytes < 1) | (flows.chunk_bytes != size) | (flows.chunks != flows.needed),
        flows.name,
        lambda k: f"{flows.bytes[k]} bytes in {flows.chunks[k]} chunks; they are cut at {size}",
    )
    position = np.arange(len(chunks)) - np.searchsorted(chunks.flow, chunks.flow)
    findings.equal(chunks.chunk, position, chunks.name, "number")
    delivered = sum_by(chunks.flow, chunks.bytes, len(flows))
    findings.equal(flows.bytes, delivered, flows.name, "sum of the chunks' bytes")


def flow_graph(record: Record, findings: Findings) -> None:
    """A flow waits only for flows into its source that have as many chunks."""
    flows = record.flows
    successor, predecessor = flows.after_edges()
    known = predecessor >= 0
    successor, predecessor = successor[known], predecessor[known]
    findings.test(
        (flows.dst[predecessor] != flows.src[successor])
        | (flows.needed[predecessor] != flows.needed[successor]),
        flows.at(successor),
        lambda k: f"flow {flows.flow[predecessor[k]]} does not bring as many chunks to its source",
    )


def fabric(record: Record, findings: Findings) -> None:
    """A THz chunk is in exactly one transmission and ends with it, a wired one in none.

    eq:unique_assignment.
    """
    chunks, sent = record.chunks, record.transmissions
    owner, row = spread(*sent.carried(chunks))
    times = np.bincount(row, minlength=len(chunks))
    findings.equal(times, chunks.thz.astype(np.int64), chunks.name, "count of THz transmissions")
    findings.equal(chunks.end_ps[row], sent.end_ps[owner], chunks.at(row), "arrival [ps]")


def action(record: Record, findings: Findings) -> None:
    """Decided counts lie within the flow; budgets are levels, and 0 for silent racks."""
    events, flows = record.events, record.flows
    findings.test(
        (flows.thz_chunks < 0) | (flows.thz_chunks > flows.needed),
        flows.name,
        lambda row: f"{flows.thz_chunks[row]} THz chunks of {flows.needed[row]} were decided",
    )
    member = events.member(flows.event, flows.src)
    sends = np.zeros(len(events.power), dtype=np.bool_)
    sends[member[(flows.thz_chunks > 0) & (member >= 0)]] = True
    levels = np.array(record.scenario.coordinator.power_levels)
    is_level = np.isclose(events.power[:, None], levels, rtol=TOLERANCE, atol=0).any(axis=1)
    findings.test(
        np.where(sends, ~is_level, events.power != 0),
        events.member_name,
        lambda k: f"power {events.power[k]:g} is {'no level' if sends[k] else 'for no THz chunk'}",
    )


def decision(record: Record, findings: Findings) -> None:
    """Decided and carried differ by exactly the counted fallback and rerouted chunks."""
    events, flows, chunks = record.events, record.flows, record.chunks
    decided = sum_by(chunks.flow, chunks.decided_thz.astype(np.int64), len(flows))
    findings.equal(flows.thz_chunks, decided, flows.name, "count of chunks decided for THz")
    known = chunks.event >= 0
    counts = {
        "fallback_chunks": chunks.decided_thz & ~chunks.thz,
        "rerouted_chunks": ~chunks.decided_thz & chunks.thz,
    }
    for column, moved in counts.items():
        found = sum_by(chunks.event[known], moved[known].astype(np.int64), len(events))
        findings.compare(record.events, column, found.astype(np.float64))
    of_event = flows.event >= 0
    thz = sum_by(flows.event[of_event], flows.thz_chunks[of_event], len(events))
    every = sum_by(flows.event[of_event], flows.needed[of_event], len(events))
    findings.compare(record.events, "decision_thz_share", thz / np.maximum(every, 1))
