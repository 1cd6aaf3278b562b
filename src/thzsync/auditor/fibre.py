"""The fibres: which ones a flow crosses (eq:wired_path), what they carried, and how fast they are.

Links 0, 1, ... lead from the racks to their switches, then from the switches to the racks, then
from ring to ring.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from thzsync.arrays import FloatArray, IntArray, to_ps
from thzsync.auditor.findings import Findings
from thzsync.auditor.record import Record
from thzsync.auditor.tables import runs_of, sum_by
from thzsync.scenario import FibreDegraded

if TYPE_CHECKING:
    import polars as pl

SPAN_PS: Final = 20 * 10**9
"""Samples are taken every 20 ms, or a multiple, and wherever an iteration ends [ps]."""
MANY_FIBRES: Final = 4096
"""So many fibres are sampled every 20 ms, twice as many every 40, and so on."""
_LATEST_PS: Final = int(np.iinfo(np.int64).max)


def link_rate_bps(record: Record) -> FloatArray:
    """Full rate of every directed link [bit/s]; those from a ring to itself are none."""
    optical, access = record.scenario.optical, 2 * record.racks
    rates = np.full(access + record.scenario.floor.rings**2, optical.inter_bps)
    rates[:access] = optical.access_bps
    return rates


def hops(record: Record, flow: IntArray) -> IntArray:
    """Links on the wired path of flows: 2 within a ring, 3 across rings."""
    lanes, flows = record.scenario.floor.lanes, record.flows
    return np.where(flows.src[flow] // lanes == flows.dst[flow] // lanes, 2, 3)


def crossed_links(record: Record, flow: IntArray) -> tuple[IntArray, IntArray]:
    """Every link that flows (rows) cross, with the position of the flow that crosses it."""
    racks, floor = record.racks, record.scenario.floor
    src, dst = record.flows.src[flow], record.flows.dst[flow]
    inside = np.flatnonzero(record.on_floor(src, dst))
    src, dst = src[inside], dst[inside]
    s, t = src // floor.lanes, dst // floor.lanes
    across = s != t
    between = 2 * racks + s[across] * floor.rings + t[across]
    return (
        np.concatenate((src, racks + dst, between)),
        np.concatenate((inside, inside, inside[across])),
    )


def bytes_per_link(record: Record, flow: IntArray, wired_bytes: IntArray) -> IntArray:
    """Bytes that flows (rows) put on every directed link."""
    link, position = crossed_links(record, flow)
    return sum_by(link, wired_bytes[position], len(link_rate_bps(record)))


def wired_speed(record: Record, findings: Findings) -> None:
    """No wired chunk is faster than its slowest fibre and its switches (eq:wired_flow_delay)."""
    chunks, optical = record.chunks, record.scenario.optical
    row = np.flatnonzero(~chunks.thz)
    crossed = hops(record, chunks.flow[row])
    slowest = np.where(crossed == 2, optical.access_bps, min(optical.access_bps, optical.inter_bps))
    size, packet = chunks.bytes[row], optical.packet_bytes
    least = 8e12 * size / slowest + (crossed - 1) * to_ps(optical.switch_delay_s)
    # Switches store and forward: the last packet is sent again on every fibre but the slowest.
    fastest = max(optical.access_bps, optical.inter_bps)
    least = least + (crossed - 1) * 8e12 * _last_packet(size, packet) / fastest
    took = chunks.end_ps[row] - chunks.ready_ps[row]
    rounding = crossed * -(-size // packet)  # of every packet's service to whole picoseconds
    for k in findings.broken(took < np.floor(least) - rounding):
        findings.add(chunks.name(row[k]), f"took {took[k]} ps; empty fibres need {least[k]:.0f} ps")


def _last_packet(size: IntArray, packet: int) -> IntArray:
    return np.where(size % packet == 0, np.minimum(size, packet), size % packet)


def wired_order(record: Record, findings: Findings) -> None:
    """Chunks arrive at a rack one after another: a last packet takes its time on the last fibre."""
    flows, optical = record.flows, record.scenario.optical
    for arrived in _by_rack(record):
        rack, flow, chunk, end_ps = (column.to_numpy() for column in arrived)
        row = np.flatnonzero(rack[1:] == rack[:-1]) + 1
        apart, flow, chunk = end_ps[row] - end_ps[row - 1], flow[row], chunk[row]
        last = _last_packet(flows.size(flow, chunk), optical.packet_bytes)
        for k in findings.broken(apart < np.floor(8e12 * last / optical.access_bps) - 1):
            place = f"{flows.name(flow[k])}, chunk {chunk[k]}"
            findings.add(
                place, f"arrives {apart[k]} ps after another, too soon for its last packet"
            )


def _by_rack(record: Record) -> Iterator[pl.DataFrame]:
    """Arrivals by rack and time, some at a time; each rack's last one comes again with the next.

    What comes before the release of all later events is complete.
    """
    import polars as pl

    soonest_ps = np.minimum.accumulate(np.append(record.events.release_ps, _LATEST_PS)[::-1])[::-1]
    left: list[pl.DataFrame] = []
    for part in record.parts():
        arrived = pl.concat([*left, _arrivals(part)])
        now = pl.col("end_ps") < int(soonest_ps[part.first_event + len(part.events)])
        ordered = arrived.filter(now).sort("rack", "end_ps", maintain_order=True)
        yield ordered
        left = [arrived.filter(~now), ordered.unique("rack", keep="last", maintain_order=True)]


def _arrivals(part: Record) -> pl.DataFrame:
    """Wired chunks between racks of the floor, flows as the whole record has them."""
    import polars as pl

    chunks, flows = part.chunks, part.flows
    row = np.flatnonzero(~chunks.thz & part.on_floor(flows.src, flows.dst)[chunks.flow])
    flow = chunks.flow[row]
    return pl.DataFrame(
        {
            "rack": flows.dst[flow],
            "flow": part.first_flow + flow,
            "chunk": chunks.chunk[row],
            "end_ps": chunks.end_ps[row],
        }
    )


def link_bytes(record: Record, findings: Findings) -> None:
    """Over the whole run every fibre carried the wired chunks whose path it is on."""
    links, size = record.links, len(link_rate_bps(record))
    known = (links.key >= 0) & (links.key < size)
    for k in findings.broken(~known | (links.bytes < 0) | (links.background_bytes < 0)):
        findings.add(links.name(k), "is no fibre of this fabric or carried less than nothing")
    if record.cut and record.many_jobs:
        return  # chunks of another job's iteration before share the first samples
    told = sum_by(links.key[known], links.bytes[known], size)
    wired = record.survey.wired_bytes
    expected = bytes_per_link(record, np.arange(len(wired)), wired)
    findings.equal(told, expected, lambda link: f"link {link}", "sum of the wired chunks' bytes")


def link_rate(record: Record, findings: Findings) -> None:
    """In no span did a fibre carry more than its rate allows, faults included, and one packet.

    The packet (the train, in flow fidelity) in service when the span or a fault begins still counts
    in full.
    """
    links, optical = record.links, record.scenario.optical
    link, start, end = links.key, links.start_ps, links.end_ps
    for k in findings.broken((link[1:] == link[:-1]) & (start[1:] < end[:-1])):
        findings.add(links.name(k + 1), "overlaps the span before")
    bits, onsets = _capacity(record, link, start, end)
    carried = links.bytes + links.background_bytes
    train = record.scenario.collectives.chunk_bytes * record.in_trains
    allowed = bits / 8 + (1 + onsets) * max(optical.packet_bytes, train)
    for k in findings.broken((end <= start) | (carried > np.ceil(allowed))):
        findings.add(links.name(k), f"carried {carried[k]} bytes, at most {allowed[k]:.0f} fit")


def _capacity(
    record: Record, link: IntArray, start: IntArray, end: IntArray
) -> tuple[FloatArray, IntArray]:
    """Bits that fit into spans of links, and how many faults begin inside each."""
    rates = link_rate_bps(record)
    full = rates[np.clip(link, 0, len(rates) - 1)]
    bits = full * (end - start) * 1e-12
    onsets = np.zeros(len(link), dtype=np.int64)
    faults = record.broken_fibres
    edges = sorted({to_ps(t) for f in faults for t in (f.start_s, f.end_s)})
    for begin, finish in pairwise(edges):
        overlap = np.maximum(np.minimum(end, finish) - np.maximum(start, begin), 0)
        share = np.ones(len(link))
        for fault in faults:
            if to_ps(fault.start_s) <= begin and finish <= to_ps(fault.end_s):
                hit = np.isin(link, _faulty_links(record, fault))
                share[hit] = np.minimum(share[hit], fault.rate_share)
        bits -= full * (1 - share) * overlap * 1e-12
        onsets += (share < 1) & (overlap > 0)
    return bits, onsets


def _faulty_links(record: Record, fault: FibreDegraded) -> list[int]:
    if fault.rack is not None:
        return [fault.rack, record.racks + fault.rack]
    assert fault.rings is not None
    (a, b), rings = fault.rings, record.scenario.floor.rings
    return [2 * record.racks + a * rings + b, 2 * record.racks + b * rings + a]


def link_spans(record: Record, findings: Findings) -> None:
    """A sample lasts from one instant of sampling to the next."""
    links, ends = record.links, np.unique(record.iterations.end_ps)
    start, end = links.start_ps, links.end_ps
    fibres = 2 * record.racks + record.scenario.floor.rings * (record.scenario.floor.rings - 1)
    span_ps = SPAN_PS * max(1, -(-fibres // MANY_FIBRES))
    grid = (start // span_ps + 1) * span_ps
    if record.many_jobs:  # a job may have ended an iteration that is not recorded
        wrong = (end > grid) | (end <= start)
    else:
        known = (start % span_ps == 0) | np.isin(start, ends)
        if record.cut:
            known |= np.isin(start, record.iterations.start_ps)
        following = np.append(ends, _LATEST_PS)[np.searchsorted(ends, start, side="right")]
        wrong = ~known | (end != np.minimum(grid, following))
    for k in findings.broken(wrong):
        findings.add(links.name(k), "is no sample of this run")


def link_progress(record: Record, findings: Findings) -> None:
    """By the end of every sample a fibre has carried all chunks that have arrived, and no others
    than those that were ready."""
    links = record.links
    if not len(links) or not len(record.iterations) or (record.cut and record.many_jobs):
        return  # chunks of another job may have been on their way when the record begins
    edges = np.unique(links.end_ps)
    lots = [_lots(part, edges) for part in record.parts()]
    flow, ready, arrived, size = (np.concatenate(column) for column in zip(*lots, strict=True))
    link, position = crossed_links(record, flow)
    order = np.argsort(link, kind="stable")
    position, sampled = position[order], np.searchsorted(edges, links.end_ps)
    first, count = runs_of(link[order])
    for number, begin, many in zip(link[order][first].tolist(), first, count, strict=True):
        some, own = position[begin : begin + many], links.of(number)
        came = _by(arrived[some], size[some], len(edges))
        could = _by(ready[some], size[some], len(edges))
        carried = _by(sampled[own], links.bytes[own], len(edges))
        for k in findings.broken((carried < came) | (carried > could)):
            place = f"link {number}, until {edges[k]} ps"
            findings.add(
                place, f"carried {carried[k]} bytes of {came[k]} arrived, {could[k]} ready"
            )


def _lots(part: Record, edges: IntArray) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Bytes of wired chunks by flow and by the samples in which they became ready and arrived."""
    chunks = part.chunks
    row = np.flatnonzero(~chunks.thz)
    flow = part.first_flow + chunks.flow[row]
    ready = np.searchsorted(edges, chunks.ready_ps[row])
    arrived = np.searchsorted(edges, chunks.end_ps[row])
    first, _ = runs_of((flow * (len(edges) + 1) + ready) * (len(edges) + 1) + arrived)
    size = np.add.reduceat(chunks.bytes[row], first) if len(first) else first
    return flow[first], ready[first], arrived[first], size


def _by(at: IntArray, values: IntArray, edges: int) -> IntArray:
    """Sum of the values up to every edge."""
    return np.cumsum(sum_by(at, values, edges + 1))[:-1]
