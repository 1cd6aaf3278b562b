"""The fibres: what they carried, and how fast they are."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from thzsync.arrays import BoolArray, FloatArray, IntArray, to_ps
from thzsync.auditor.findings import Findings
from thzsync.auditor.paths import Crossed
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


def hops(record: Record, flow: IntArray) -> IntArray:
    """Links on the wired path of flows; 0 where an end is no rack of the floor."""
    src, dst = record.flows.src[flow], record.flows.dst[flow]
    inside = record.on_floor(src, dst)
    found = np.zeros(len(flow), dtype=np.int64)
    found[inside] = record.paths.hops(src[inside], dst[inside])
    return found


def crossed_links(record: Record, flow: IntArray) -> Crossed:
    """Every link that flows (rows) can cross, with the position of the flow."""
    src, dst = record.flows.src[flow], record.flows.dst[flow]
    inside = np.flatnonzero(record.on_floor(src, dst))
    link, position, surely = record.paths.crossed(src[inside], dst[inside])
    return Crossed(link, inside[position], surely)


def bytes_per_link(
    record: Record, flow: IntArray, wired_bytes: IntArray
) -> tuple[IntArray, IntArray]:
    """Bytes that flows (rows) surely put on every directed link, and at most."""
    link, position, surely = crossed_links(record, flow)
    size, links = wired_bytes[position], record.paths.network.links
    return sum_by(link[surely], size[surely], links), sum_by(link, size, links)


def wired_speed(record: Record, findings: Findings) -> None:
    """No wired chunk is faster than its slowest fibre and its switches (eq:wired_flow_delay)."""
    chunks, optical, paths = record.chunks, record.scenario.optical, record.paths
    row = np.flatnonzero(chunks.wired)
    flow, position = np.unique(chunks.flow[row], return_inverse=True)
    link, of_flow, surely = crossed_links(record, flow)
    slowest = np.full(len(flow), np.inf)
    np.minimum.at(slowest, of_flow[surely], paths.rate_bps[link[surely]])
    wire_ps = np.bincount(of_flow[surely], paths.network.delay_ps[link[surely]], len(flow))
    crossed = hops(record, flow)[position]
    size, packet = chunks.bytes[row], optical.packet_bytes
    least = 8e12 * size / slowest[position] + (crossed - 1) * to_ps(optical.switch_delay_s)
    # Switches store and forward: the last packet is sent again on every fibre but the slowest.
    fastest = paths.rate_bps.max()
    least = least + (crossed - 1) * 8e12 * _last_packet(size, packet) / fastest + wire_ps[position]
    took = chunks.end_ps[row] - chunks.ready_ps[row]
    rounding = crossed * -(-size // packet)  # of every packet's service to whole picoseconds
    for k in findings.broken(took < np.floor(least) - rounding):
        findings.add(chunks.name(row[k]), f"took {took[k]} ps; empty fibres need {least[k]:.0f} ps")


def _last_packet(size: IntArray, packet: int) -> IntArray:
    return np.where(size % packet == 0, np.minimum(size, packet), size % packet)


def wired_order(record: Record, findings: Findings) -> None:
    """Chunks arrive at a rack one after another: a last packet takes its time on the last fibre."""
    flows, optical, paths = record.flows, record.scenario.optical, record.paths
    last_bps = np.array([paths.rate_bps[links].max() for links in paths.last])
    for arrived in _by_rack(record):
        rack, flow, chunk, end_ps = (column.to_numpy() for column in arrived)
        row = np.flatnonzero((rack[1:] == rack[:-1]) & paths.single[rack[1:]]) + 1
        apart, flow, chunk = end_ps[row] - end_ps[row - 1], flow[row], chunk[row]
        last = _last_packet(flows.size(flow, chunk), optical.packet_bytes)
        for k in findings.broken(apart < np.floor(8e12 * last / last_bps[rack[row]]) - 1):
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
    row = np.flatnonzero(chunks.wired & part.on_floor(flows.src, flows.dst)[chunks.flow])
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
    links, size = record.links, record.paths.network.links
    known = (links.key >= 0) & (links.key < size)
    for k in findings.broken(~known | (links.bytes < 0) | (links.background_bytes < 0)):
        findings.add(links.name(k), "is no fibre of this network, or carried fewer than 0 bytes")
    if record.cut and record.many_jobs:
        return  # chunks of another job's iteration before share the first samples
    told = sum_by(links.key[known], links.bytes[known], size)
    wired = record.survey.wired_bytes
    least, most = bytes_per_link(record, np.arange(len(wired)), wired)
    for link in findings.broken((told < least) | (told > most)):
        message = f"carried {told[link]} bytes, its chunks have {least[link]} to {most[link]}"
        findings.add(f"link {link}", message)
    paths = record.paths
    through = sum_by(paths.network.target[paths.real], told[paths.real], paths.nodes)
    onwards = sum_by(paths.network.source[paths.real], told[paths.real], paths.nodes)
    switches = np.arange(paths.racks, paths.nodes)
    name = paths.network.node_name
    findings.equal(through[switches], onwards[switches], lambda k: name(int(switches[k])), "in")


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
    rates = record.paths.rate_bps
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


def _faulty_links(record: Record, fault: FibreDegraded) -> IntArray:
    network, real = record.paths.network, record.paths.real
    ends = np.stack((network.source[real], network.target[real]))
    if fault.rack is not None:
        hit: BoolArray = np.logical_or.reduce(ends == fault.rack)
    else:
        hit = np.logical_and.reduce(np.isin(ends, record.racks + np.array(fault.ends)))
    found: IntArray = real[hit]
    return found


def link_spans(record: Record, findings: Findings) -> None:
    """A sample lasts from one instant of sampling to the next."""
    links, ends = record.links, np.unique(record.iterations.end_ps)
    start, end = links.start_ps, links.end_ps
    span_ps = SPAN_PS * max(1, -(-len(record.paths.real) // MANY_FIBRES))
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
    link, position, surely = crossed_links(record, flow)
    order = np.argsort(link, kind="stable")
    position, surely = position[order], surely[order]
    sampled = np.searchsorted(edges, links.end_ps)
    first, count = runs_of(link[order])
    for number, begin, many in zip(link[order][first].tolist(), first, count, strict=True):
        some, own = position[begin : begin + many], links.of(number)
        sure = some[surely[begin : begin + many]]
        came = _by(arrived[sure], size[sure], len(edges))
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
    row = np.flatnonzero(chunks.wired)
    flow = part.first_flow + chunks.flow[row]
    ready = np.searchsorted(edges, chunks.ready_ps[row])
    arrived = np.searchsorted(edges, chunks.end_ps[row])
    first, _ = runs_of((flow * (len(edges) + 1) + ready) * (len(edges) + 1) + arrived)
    size = np.add.reduceat(chunks.bytes[row], first) if len(first) else first
    return flow[first], ready[first], arrived[first], size


def _by(at: IntArray, values: IntArray, edges: int) -> IntArray:
    """Sum of the values up to every edge."""
    return np.cumsum(sum_by(at, values, edges + 1))[:-1]
