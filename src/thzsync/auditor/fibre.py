"""The optical fabric: what the fibres carried, how fast, and how fast they can be."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from thzsync.arrays import FloatArray, IntArray, to_ps
from thzsync.auditor.findings import Findings
from thzsync.auditor.flows import in_trains
from thzsync.auditor.links import bytes_per_link, hops, link_count, link_rate_bps
from thzsync.auditor.record import Record
from thzsync.auditor.tables import sum_by
from thzsync.scenario import FibreDegraded


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
    least = least + (crossed - 1) * 8e12 * last_packet(size, packet) / fastest
    took = chunks.end_ps[row] - chunks.ready_ps[row]
    rounding = crossed * -(-size // packet)  # of every packet's service to whole picoseconds
    findings.test(
        took < np.floor(least) - rounding,
        chunks.at(row),
        lambda k: f"took {took[k]} ps over fibre; an empty fabric needs {least[k]:.0f} ps",
    )


def last_packet(size: IntArray, packet: int) -> IntArray:
    """Bytes of the last packets of chunks."""
    return np.where(size % packet == 0, np.minimum(size, packet), size % packet)


def link_bytes(record: Record, findings: Findings) -> None:
    """Over the whole run every fibre carried the wired chunks whose path it is on."""
    links, size = record.links, link_count(record)
    known = (links.key >= 0) & (links.key < size)
    findings.test(
        ~known | (links.bytes < 0) | (links.background_bytes < 0),
        links.name,
        "is no fibre of this fabric or carried less than nothing",
    )
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
    findings.test(
        (link[1:] == link[:-1]) & (start[1:] < end[:-1]),
        lambda row: links.name(row + 1),
        "overlaps the span before",
    )
    bits, onsets = _capacity(record, link, start, end)
    carried = links.bytes + links.background_bytes
    train = record.scenario.collectives.chunk_bytes * in_trains(record)
    allowed = bits / 8 + (1 + onsets) * max(optical.packet_bytes, train)
    findings.test(
        (end <= start) | (carried > np.ceil(allowed)),
        links.name,
        lambda row: f"carried {carried[row]} bytes, at most {allowed[row]:.0f} fit",
    )


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
