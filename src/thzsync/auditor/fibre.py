"""The optical fabric: what the fibres carried, how fast, and how fast they can be."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from thzsync.arrays import FloatArray, IntArray, to_ps
from thzsync.auditor.book import Book
from thzsync.auditor.findings import Findings
from thzsync.auditor.flows import in_trains
from thzsync.auditor.tables import sum_by
from thzsync.scenario import FibreDegraded


def wired_speed(book: Book, findings: Findings) -> None:
    """No wired chunk is faster than its slowest fibre and its switches (eq:wired_flow_delay)."""
    chunks, optical = book.chunks, book.scenario.optical
    row = np.flatnonzero(~chunks.thz)
    hops = book.hops(chunks.flow[row])
    slowest = np.where(hops == 2, optical.access_bps, min(optical.access_bps, optical.inter_bps))
    least = 8e12 * chunks.bytes[row] / slowest + (hops - 1) * to_ps(optical.switch_delay_s)
    # Switches store and forward: the last packet is sent again on every fibre but the slowest.
    size, packet = chunks.bytes[row], optical.packet_bytes
    last = np.where(size % packet == 0, np.minimum(size, packet), size % packet)
    fastest = max(optical.access_bps, optical.inter_bps)
    least = least + (hops - 1) * 8e12 * last / fastest
    took = chunks.end_ps[row] - chunks.ready_ps[row]
    rounding = hops * -(-size // packet)  # of every packet's service to whole picoseconds
    findings.test(
        "wired_speed",
        took < np.floor(least) - rounding,
        lambda k: chunks.name(int(row[k])),
        lambda k: f"took {took[k]} ps over fibre; an empty fabric needs {least[k]:.0f} ps",
    )


def link_bytes(book: Book, findings: Findings) -> None:
    """Over the whole run every fibre carried the wired chunks whose path it is on."""
    links = book.links
    size = _links(book)
    known = (links.key >= 0) & (links.key < size)
    findings.test(
        "link_bytes",
        ~known | (links["bytes"] < 0) | (links["background_bytes"] < 0),
        lambda row: f"link {links.key[row]}",
        lambda row: "is no fibre of this fabric or carried less than nothing",
    )
    if book.cut and book.many_jobs:
        return  # chunks of another job's iteration before share the first samples
    told = sum_by(links.key[known], links["bytes"][known], size)
    expected = bytes_per_link(book, book.survey.wired_bytes)
    findings.test(
        "link_bytes",
        told != expected,
        lambda link: f"link {link}",
        lambda link: f"carried {told[link]} bytes, its wired chunks have {expected[link]}",
    )


def bytes_per_link(book: Book, wired_bytes: IntArray) -> IntArray:
    """Bytes that flows put on every directed link (eq:wired_path)."""
    flows, racks, size = book.flows, book.racks, _links(book)
    inside = (flows.src >= 0) & (flows.src < racks) & (flows.dst >= 0) & (flows.dst < racks)
    load = wired_bytes * inside
    src, dst = flows.src * inside, flows.dst * inside
    total = sum_by(src, load, size) + sum_by(racks + dst, load, size)
    s, t = book.ring(src), book.ring(dst)
    between = 2 * racks + s * book.scenario.floor.rings + t
    return total + sum_by(between, np.where(s == t, 0, load), size)


def flow_links(book: Book, flow: IntArray) -> Iterator[tuple[int, IntArray]]:
    """Every link that flows (rows) cross, with the positions of those that do (eq:wired_path)."""
    racks = book.racks
    src, dst = book.flows.src[flow], book.flows.dst[flow]
    inside = np.flatnonzero((src >= 0) & (src < racks) & (dst >= 0) & (dst < racks))
    src, dst = src[inside], dst[inside]
    s, t = book.ring(src), book.ring(dst)
    across = s != t
    between = 2 * racks + s[across] * book.scenario.floor.rings + t[across]
    link = np.concatenate((src, racks + dst, between))
    position = np.concatenate((inside, inside, inside[across]))
    order = np.argsort(link, kind="stable")
    names, first = np.unique(link[order], return_index=True)
    bounds = np.append(first, len(order))
    for k, name in enumerate(names.tolist()):
        yield name, position[order[bounds[k] : bounds[k + 1]]]


def link_rate(book: Book, findings: Findings) -> None:
    """In no span did a fibre carry more than its rate allows, faults included, and one packet.

    The packet (the train, in flow fidelity) in service when the span or a fault begins still counts
    in full.
    """
    links, optical = book.links, book.scenario.optical
    link, start, end = links.key, links["start_ps"], links["end_ps"]
    same = link[1:] == link[:-1]
    findings.test(
        "link_rate",
        same & (start[1:] < end[:-1]),
        lambda row: f"link {link[row + 1]}",
        lambda row: f"the span from {start[row + 1]} ps overlaps the one before",
    )
    bits, onsets = _capacity(book, link, start, end)
    carried = links["bytes"] + links["background_bytes"]
    largest = max(optical.packet_bytes, book.scenario.collectives.chunk_bytes * in_trains(book))
    allowed = bits / 8 + (1 + onsets) * largest
    findings.test(
        "link_rate",
        (end <= start) | (carried > np.ceil(allowed)),
        lambda row: f"link {link[row]}, {start[row]} to {end[row]} ps",
        lambda row: f"carried {carried[row]} bytes, at most {allowed[row]:.0f} fit",
    )


def link_rate_bps(book: Book) -> FloatArray:
    """Full rate of every directed link [bit/s]."""
    optical = book.scenario.optical
    rates = np.full(_links(book), optical.inter_bps)
    rates[: 2 * book.racks] = optical.access_bps
    return rates


def _links(book: Book) -> int:
    return 2 * book.racks + book.scenario.floor.rings**2


def _capacity(
    book: Book, link: IntArray, start: IntArray, end: IntArray
) -> tuple[FloatArray, IntArray]:
    """Bits that fit into spans of links, and how many faults begin inside each."""
    rates = link_rate_bps(book)
    full = rates[np.clip(link, 0, len(rates) - 1)]
    bits = full * (end - start) * 1e-12
    onsets = np.zeros(len(link), dtype=np.int64)
    faults = [f for f in book.scenario.faults if isinstance(f, FibreDegraded)]
    edges = sorted({to_ps(t) for f in faults for t in (f.start_s, f.end_s)})
    for begin, finish in pairwise(edges):
        overlap = np.maximum(np.minimum(end, finish) - np.maximum(start, begin), 0)
        share = np.ones(len(link))
        for fault in faults:
            if to_ps(fault.start_s) <= begin and finish <= to_ps(fault.end_s):
                hit = np.isin(link, _faulty_links(book, fault))
                share[hit] = np.minimum(share[hit], fault.rate_share)
        bits -= full * (1 - share) * overlap * 1e-12
        onsets += (share < 1) & (overlap > 0)
    return bits, onsets


def _faulty_links(book: Book, fault: FibreDegraded) -> list[int]:
    if fault.rack is not None:
        return [fault.rack, book.racks + fault.rack]
    assert fault.rings is not None
    (a, b), rings = fault.rings, book.scenario.floor.rings
    return [2 * book.racks + a * rings + b, 2 * book.racks + b * rings + a]
