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
        lambda row: (
            f"{flows.bytes[row]} bytes in {flows.chunks[row]} chunks of {flows.chunk_bytes[row]}; "
            f"the scenario cuts at {size}"
        ),
    )
    position = np.arange(len(chunks)) - np.searchsorted(chunks.flow, chunks.flow)
    findings.test(
        chunks.chunk != position,
        chunks.name,
        lambda row: f"stands where chunk {position[row]} should: one is missing or there twice",
    )
    delivered = sum_by(chunks.flow, chunks.bytes, len(flows))
    findings.test(
        delivered != flows.bytes,
        flows.name,
        lambda row: f"delivered {delivered[row]} of {flows.bytes[row]} bytes",
    )


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
        lambda edge: (
            f"waits for flow {flows.flow[predecessor[edge]]}, which does not bring as many chunks "
            f"to rack {flows.src[successor[edge]]}"
        ),
    )


def fabric(record: Record, findings: Findings) -> None:
    """A THz chunk is in exactly one transmission and ends with it, a wired one in none.

    eq:unique_assignment.
    """
    chunks, sent = record.chunks, record.transmissions
    owner, row = spread(*sent.carried(chunks))
    times = np.bincount(row, minlength=len(chunks))
    findings.test(
        times != chunks.thz,
        chunks.name,
        lambda k: (
            f"recorded on {'THz' if chunks.thz[k] else 'fibre'}, "
            f"but in {times[k]} THz transmissions"
        ),
    )
    findings.test(
        sent.end_ps[owner] != chunks.end_ps[row],
        chunks.at(row),
        lambda k: (
            f"ended at {chunks.end_ps[row[k]]} ps, its transmission at {sent.end_ps[owner[k]]} ps"
        ),
    )


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
        lambda k: (
            f"power budget {events.power[k]:g} is none of the levels"
            if sends[k]
            else f"has power budget {events.power[k]:g} without a THz chunk"
        ),
    )


def decision(record: Record, findings: Findings) -> None:
    """Decided and carried differ by exactly the counted fallback and rerouted chunks."""
    events, flows, chunks = record.events, record.flows, record.chunks
    decided = sum_by(chunks.flow, chunks.decided_thz.astype(np.int64), len(flows))
    findings.test(
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
        findings.compare(record.events, column, found.astype(np.float64))
    of_event = flows.event >= 0
    thz = sum_by(flows.event[of_event], flows.thz_chunks[of_event], len(events))
    every = sum_by(flows.event[of_event], flows.needed[of_event], len(events))
    findings.compare(record.events, "decision_thz_share", thz / np.maximum(every, 1))
