"""Background traffic, drawn anew from the seed: what fibres were offered and what they carried.

When a burst gets through depends on everybody else, so two bounds are checked. No fibre carries a
burst before it has come. And a fibre to a rack that had time to spare has nothing left to send:

- A switch sends on such a fibre whenever a packet is there, since racks take everything.
- A burst waits outside its queue only while the queue is full, if the shared buffer can hold all
  queues of the switch at once, and if a queue is longer than all packets that may be under way to
  it. Then an empty queue means that no burst waits.
- So whoever finds the fibre silent finds that every burst has passed, but for those that came while
  the switch was still handling a packet (its delay).
- A sample that holds less than the fibre could have sent saw it silent at some instant.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from thzsync.arrays import BoolArray, IntArray, to_ps
from thzsync.auditor.findings import Findings
from thzsync.auditor.record import Record
from thzsync.auditor.tables import sum_by
from thzsync.hashing import GOLDEN, mix64
from thzsync.streams import Streams

MOST_BURSTS: Final = 10**7
"""So many bursts of a fibre are drawn anew; later samples are not checked."""


def background(record: Record, findings: Findings) -> None:
    """A fibre carries the drawn bursts: none too soon, and all where there was time to spare."""
    links, load = record.links, record.scenario.optical.background.load
    outputs = _outputs(record)
    wrong = (links.background_bytes != 0) & ~(np.isin(links.key, outputs) & (load > 0))
    for k in findings.broken(wrong):
        findings.add(links.name(k), "carried background that no switch output was offered")
    edges = np.append(0, np.unique(links.end_ps))
    if load == 0 or record.cut or len(edges) == 1:
        return  # what was offered before a cut is not recorded
    some = outputs[np.isin(outputs, record.paths.down) | np.isin(outputs, links.key)].tolist()
    totals = np.array([_check_output(record, findings, link, edges) for link in some])
    if _mostly_idle(record, outputs, int(edges[-1])):
        carried, offered = totals.reshape(-1, 2).sum(axis=0).tolist()
        message = f"carried {carried} bytes of background, {offered} had long been offered"
        findings.require(carried > 0 or offered == 0, "all links", message)


def _check_output(
    record: Record, findings: Findings, link: int, edges: IntArray
) -> tuple[int, int]:
    """One switch output: bytes that it carried, and bytes that had long been offered."""
    links, own, optical = record.links, record.links.of(link), record.scenario.optical
    at = np.searchsorted(edges, links.end_ps[own])
    carried, sent = (
        np.cumsum(sum_by(at, values[own], len(edges)))
        for values in (links.background_bytes, links.background_bytes + links.bytes)
    )
    bursts_ps = _bursts_ps(record, link, int(edges[-1]))

    def offered(by_ps: IntArray) -> IntArray:
        come = np.searchsorted(bursts_ps, by_ps, side="right").astype(np.int64)
        return come * optical.background.burst_bytes

    known = edges < bursts_ps[-1]
    until_ps, told, most = edges[known], carried[known], offered(edges[known])
    for k in findings.broken(told > most):
        place = f"link {link}, until {until_ps[k]} ps"
        findings.add(place, f"carried {told[k]} bytes of background, {most[k]} were offered")
    if _never_held_up(record, link):
        row = np.flatnonzero(_silent(record, link, sent, edges))
        due, came = offered(edges[row] - to_ps(optical.switch_delay_s)), carried[row + 1]
        for k in findings.broken(came < due):
            place = f"link {link}, until {edges[row[k] + 1]} ps"
            findings.add(place, f"was idle, but carried {came[k]} of {due[k]} bytes of background")
    return int(carried[-1]), int(offered(edges[-1:] * 3 // 4)[0])


def _silent(record: Record, link: int, sent: IntArray, edges: IntArray) -> BoolArray:
    """Samples before the first fault in which a fibre cannot have been busy all the time.

    A packet takes its bits over the rate, rounded up to a picosecond, and has a byte at least.
    The one in service at the end is not counted.
    """
    per_byte_ps = 8e12 / float(record.paths.rate_bps[link])
    packet = record.scenario.optical.packet_bytes
    busy_ps = np.diff(sent) * (per_byte_ps + 1) + packet * per_byte_ps + 1
    rack = record.paths.network.target[link]
    begins = [to_ps(f.start_s) for f in record.broken_fibres if f.rack == rack]
    sound = edges[1:] < min(begins, default=np.iinfo(np.int64).max)
    silent: BoolArray = (busy_ps * (1 + 1e-9) < np.diff(edges)) & sound
    return silent


def _never_held_up(record: Record, link: int) -> bool:
    """Whether a fibre to a rack always finds its switch's buffer and queue large enough."""
    optical, paths = record.scenario.optical, record.paths
    source, target = paths.network.source[paths.real], paths.network.target[paths.real]
    switch = paths.network.source[link]
    outputs = max(int((source == switch).sum()), int((target == switch).sum()))
    return (
        link in paths.down
        and outputs * optical.output_queue_bytes <= optical.shared_buffer_bytes
        and (outputs + 1) * optical.packet_bytes <= optical.output_queue_bytes
    )


def _mostly_idle(record: Record, outputs: IntArray, until_ps: int) -> bool:
    """Whether the switches sent less than half of what they could, and no fibre was broken."""
    links = record.links
    own = np.isin(links.key, outputs)
    sent = int((links.bytes + links.background_bytes)[own].sum())
    could = float(record.paths.rate_bps[outputs].sum()) * until_ps * 1e-12 / 8
    bursts = float(len(outputs)) * record.scenario.optical.background.burst_bytes
    return sent < could / 2 and could > 100 * bursts and not record.broken_fibres


def _outputs(record: Record) -> IntArray:
    """Links that leave a switch."""
    return np.sort(np.concatenate((record.paths.down, record.paths.between)))


def _bursts_ps(record: Record, link: int, until_ps: int) -> IntArray:
    """When bursts come to a link, past ``until_ps``: a Poisson process, burst k from a hash."""
    model = record.scenario.optical.background
    mean_ps = 8e12 * model.burst_bytes / (model.load * float(record.paths.rate_bps[link]))
    key = np.array([Streams(record.run.seed).key("background")], dtype=np.uint64)
    start = mix64(mix64(key) + np.uint64(link + 1) * GOLDEN)
    instants, last, drawn = [], 0, 0
    while last <= until_ps and drawn < MOST_BURSTS:
        index = np.arange(drawn + 1, drawn + 1025).astype(np.uint64)
        bits = mix64(start + index * GOLDEN)
        uniform = ((bits >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
        gaps = np.maximum(np.rint(-np.log(uniform) * mean_ps), 1.0).astype(np.int64)
        instants.append(last + np.cumsum(gaps))
        last, drawn = int(instants[-1][-1]), drawn + 1024
    return np.concatenate(instants)
