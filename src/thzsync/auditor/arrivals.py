"""Wired chunks in the order of their arrival, over all events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from thzsync.arrays import NEVER_PS, BoolArray, IntArray
from thzsync.auditor.fibre import last_packet
from thzsync.auditor.findings import Findings
from thzsync.auditor.links import on_floor
from thzsync.auditor.record import Record


class Arrivals(NamedTuple):
    """Wired chunks: where they go, the row of their flow, their number in it, when they came."""

    rack: IntArray
    flow: IntArray
    chunk: IntArray
    end_ps: IntArray

    def of(self, which: BoolArray | IntArray) -> Arrivals:
        """Some of them."""
        return Arrivals(*(column[which] for column in self))

    def beside(self, others: Arrivals) -> Arrivals:
        """These and others."""
        return Arrivals(*(np.concatenate(pair) for pair in zip(self, others, strict=True)))


def wired_order(record: Record, findings: Findings) -> None:
    """Chunks arrive at a rack one after another: a last packet takes its time on the last fibre."""
    flows, optical = record.flows, record.scenario.optical
    for came in _by_rack(record):
        row = np.flatnonzero(came.rack[1:] == came.rack[:-1]) + 1
        flow, chunk = came.flow[row], came.chunk[row]
        last = last_packet(flows.size(flow, chunk), optical.packet_bytes)
        apart = came.end_ps[row] - came.end_ps[row - 1]
        findings.test(
            apart < np.floor(8e12 * last / optical.access_bps) - 1,
            lambda k, flow=flow, chunk=chunk: f"{flows.name(flow[k])}, chunk {chunk[k]}",  # type: ignore[misc]
            lambda k, apart=apart: (  # type: ignore[misc]
                f"arrives {apart[k]} ps after another chunk, sooner than its last packet can follow"
            ),
        )


def _by_rack(record: Record) -> Iterator[Arrivals]:
    """Arrivals by rack and time, some at a time; each rack's last one comes again with the next.

    What comes before the release of all later events is complete.
    """
    soonest_ps = np.minimum.accumulate(np.append(record.events.release_ps, NEVER_PS)[::-1])[::-1]
    left: Arrivals | None = None
    for part in record.parts():
        found = _arrivals(part)
        left = found if left is None else left.beside(found)
        until_ps = soonest_ps[part.first_event + len(part.events)]
        now = left.end_ps < until_ps if until_ps < NEVER_PS else np.ones(len(left.rack), np.bool_)
        came = left.of(now)
        came = came.of(np.lexsort((came.end_ps, came.rack)))
        yield came
        last = np.append(came.rack[1:] != came.rack[:-1], True)[: len(came.rack)]
        left = left.of(~now).beside(came.of(last))


def _arrivals(part: Record) -> Arrivals:
    """Wired chunks between racks of the floor, flows as the whole record has them."""
    chunks, flows = part.chunks, part.flows
    inside = np.zeros(len(flows), dtype=np.bool_)
    inside[on_floor(part, np.arange(len(flows)))] = True
    row = np.flatnonzero(~chunks.thz & inside[chunks.flow])
    flow = chunks.flow[row]
    return Arrivals(flows.dst[flow], part.first_flow + flow, chunks.chunk[row], chunks.end_ps[row])
