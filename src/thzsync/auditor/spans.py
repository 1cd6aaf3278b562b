"""Samples of the fibres against the clock, and against the chunks that crossed them."""

from __future__ import annotations

from typing import Final

import numpy as np

from thzsync.arrays import NEVER_PS, IntArray
from thzsync.auditor.findings import Findings
from thzsync.auditor.links import crossed_links
from thzsync.auditor.record import Record
from thzsync.auditor.tables import runs_of, sum_by

SPAN_PS: Final = 20 * 10**9
"""Samples are taken every 20 ms, or a multiple, and wherever an iteration ends [ps]."""
MANY_FIBRES: Final = 4096
"""So many fibres are sampled every 20 ms, twice as many every 40, and so on."""


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
        following = np.searchsorted(ends, start, side="right")
        wrong = ~known | (end != np.minimum(grid, np.append(ends, NEVER_PS)[following]))
    findings.test(wrong, links.name, "is no sample of this run")


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
        findings.test(
            (carried < came) | (carried > could),
            lambda k, link=number: f"link {link}, until {edges[k]} ps",  # type: ignore[misc]
            lambda k, c=carried, a=came, r=could: (  # type: ignore[misc]
                f"carried {c[k]} bytes; chunks of {a[k]} bytes had arrived, of {r[k]} were ready"
            ),
        )


def _lots(part: Record, edges: IntArray) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Wired chunks of a flow that became ready, and that arrived, in the same samples: the flow,
    both samples, and their bytes."""
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
