"""Samples of the fibres against the clock, and against the chunks that crossed them."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from thzsync.arrays import IntArray
from thzsync.auditor.book import Book
from thzsync.auditor.fibre import flow_links
from thzsync.auditor.findings import Findings
from thzsync.auditor.tables import runs_of, sum_by

SPAN_PS: Final = 20 * 10**9
"""Samples are taken every 20 ms, or a multiple, and wherever an iteration ends [ps]."""
MANY_FIBRES: Final = 4096
"""So many fibres are sampled every 20 ms, twice as many every 40, and so on."""


def link_spans(book: Book, findings: Findings) -> None:
    """A sample lasts from one instant of sampling to the next."""
    links, ends = book.links, np.unique(book.iterations["end_ps"])
    start, end = links["start_ps"], links["end_ps"]
    fibres = 2 * book.racks + book.scenario.floor.rings * (book.scenario.floor.rings - 1)
    span_ps = SPAN_PS * max(1, -(-fibres // MANY_FIBRES))
    grid = (start // span_ps + 1) * span_ps
    following = np.searchsorted(ends, start, side="right")
    padded = np.append(ends, np.iinfo(np.int64).max)
    known = (start % span_ps == 0) | np.isin(start, ends)
    if book.cut:
        known |= np.isin(start, book.iterations["start_ps"])
    if book.many_jobs:  # a job may have ended an iteration that is not recorded
        known, wrong = np.ones(len(links), np.bool_), (end > grid) | (end <= start)
    else:
        wrong = end != np.minimum(grid, padded[following])
    findings.test(
        "link_spans",
        wrong | ~known,
        lambda row: f"link {links.key[row]}",
        lambda row: f"the sample from {start[row]} to {end[row]} ps is none",
    )


def link_progress(book: Book, findings: Findings) -> None:
    """By the end of every sample a fibre has carried all chunks that have arrived, and no others
    than those that were ready."""
    links = book.links
    if not len(links) or not len(book.iterations) or (book.cut and book.many_jobs):
        return  # chunks of another job may have been on their way when the record begins
    edges = np.unique(links["end_ps"])
    lots, sampled = _lots(book, edges), np.searchsorted(edges, links["end_ps"])
    for link, some in flow_links(book, lots.flow):
        arrived = _by(lots.arrived[some], lots.bytes[some], len(edges))
        ready = _by(lots.ready[some], lots.bytes[some], len(edges))
        own = slice(*np.searchsorted(links.key, (link, link + 1)).tolist())
        carried = _by(sampled[own], links["bytes"][own], len(edges))
        findings.test(
            "link_progress",
            (carried < arrived) | (carried > ready),
            lambda k, link=link: f"link {link}, until {edges[k]} ps",  # type: ignore[misc]
            lambda k, c=carried, a=arrived, r=ready: (  # type: ignore[misc]
                f"carried {c[k]} bytes; chunks of {a[k]} bytes had arrived, of {r[k]} were ready"
            ),
        )


class _Lots(NamedTuple):
    """Wired chunks of a flow that became ready, and that arrived, in the same samples."""

    flow: IntArray
    ready: IntArray
    arrived: IntArray
    bytes: IntArray


def _lots(book: Book, edges: IntArray) -> _Lots:
    lots = [_lots_of(part, edges) for part in book.parts()]
    return _Lots(*(np.concatenate(column) for column in zip(*lots, strict=True)))


def _lots_of(part: Book, edges: IntArray) -> _Lots:
    chunks = part.chunks
    row = np.flatnonzero(~chunks.thz)
    flow = part.first_flow + chunks.flow[row]
    ready = np.searchsorted(edges, chunks.ready_ps[row])
    arrived = np.searchsorted(edges, chunks.end_ps[row])
    first, _ = runs_of((flow * (len(edges) + 1) + ready) * (len(edges) + 1) + arrived)
    size = np.add.reduceat(chunks.bytes[row], first) if len(first) else first
    return _Lots(flow[first], ready[first], arrived[first], size)


def _by(at: IntArray, values: IntArray, edges: int) -> IntArray:
    """Sum of the values up to every edge."""
    return np.cumsum(sum_by(at, values, edges + 1))[:-1]
