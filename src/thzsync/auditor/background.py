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

from typing import Final, NamedTuple

import numpy as np

from thzsync.arrays import BoolArray, IntArray, to_ps
from thzsync.auditor.book import Book
from thzsync.auditor.fibre import link_rate_bps
from thzsync.auditor.findings import Findings
from thzsync.hashing import GOLDEN, mix64
from thzsync.scenario import FibreDegraded
from thzsync.streams import Streams

MOST_BURSTS: Final = 10**7
"""So many bursts of a fibre are drawn anew; later samples are not checked."""


class Fibre(NamedTuple):
    """One switch output by the end of every sample of the run."""

    link: int
    sent: IntArray
    """Bytes of events and background."""
    carried: IntArray
    """Bytes of background."""
    bursts_ps: IntArray
    """When bursts came, as far as they were drawn [ps]."""

    def offered(self, book: Book, by_ps: IntArray) -> IntArray:
        """Bytes of all bursts that have come by some instants."""
        come = np.searchsorted(self.bursts_ps, by_ps, side="right").astype(np.int64)
        return come * book.scenario.optical.background.burst_bytes


def background(book: Book, findings: Findings) -> None:
    """A fibre carries the bursts that were drawn for it: none before it comes, and none is left
    behind where there was time to spare."""
    links, load = book.links, book.scenario.optical.background.load
    outputs = _outputs(book)
    inside = np.isin(links.key, outputs) & (load > 0)
    findings.test(
        "background",
        (links["background_bytes"] != 0) & ~inside,
        lambda row: f"link {links.key[row]}",
        lambda row: "carried background that no switch output was offered",
    )
    edges = np.append(0, np.unique(links["end_ps"]))
    if load == 0 or book.cut or len(edges) == 1:
        return  # what was offered before a cut is not recorded
    total = np.zeros(2, dtype=np.int64)
    for link in outputs[(outputs < 2 * book.racks) | np.isin(outputs, links.key)].tolist():
        fibre = _fibre(book, link, edges)
        _none_too_soon(book, findings, fibre, edges)
        if _never_held_up(book, link):
            _none_left_behind(book, findings, fibre, edges)
        total += (fibre.carried[-1], fibre.offered(book, edges[-1:] * 3 // 4)[0])
    if _mostly_idle(book, outputs, int(edges[-1])):
        findings.require(
            "background",
            bool(total[0] > 0 or total[1] == 0),
            "all links",
            f"carried {total[0]} bytes of background, {total[1]} had long been offered",
        )


def _none_too_soon(book: Book, findings: Findings, fibre: Fibre, edges: IntArray) -> None:
    known = edges < fibre.bursts_ps[-1]
    carried, offered = fibre.carried[known], fibre.offered(book, edges[known])
    findings.test(
        "background",
        carried > offered,
        lambda k: f"link {fibre.link}, until {edges[k]} ps",
        lambda k: f"carried {carried[k]} bytes of background, {offered[k]} were offered",
    )


def _none_left_behind(book: Book, findings: Findings, fibre: Fibre, edges: IntArray) -> None:
    start, end = edges[:-1], edges[1:]
    due = fibre.offered(book, start - to_ps(book.scenario.optical.switch_delay_s))
    carried = fibre.carried[1:]
    silent = _silent_at_some_instant(book, fibre, edges) & (end < _first_fault_ps(book, fibre.link))
    row = np.flatnonzero(silent)
    findings.test(
        "background",
        carried[row] < due[row],
        lambda k: f"link {fibre.link}, until {end[row[k]]} ps",
        lambda k: (
            f"had time to spare and carried {carried[row[k]]} bytes of background; "
            f"{due[row[k]]} had come before {start[row[k]]} ps"
        ),
    )


def _silent_at_some_instant(book: Book, fibre: Fibre, edges: IntArray) -> BoolArray:
    """Samples in which the fibre cannot have been busy all the time.

    A packet takes its bits over the rate, rounded up to a picosecond, and has a byte at least. The
    one in service at the end is not counted.
    """
    per_byte_ps = 8e12 / float(link_rate_bps(book)[fibre.link])
    packet = book.scenario.optical.packet_bytes
    busy_ps = np.diff(fibre.sent) * (per_byte_ps + 1) + packet * per_byte_ps + 1
    silent: BoolArray = busy_ps * (1 + 1e-9) < np.diff(edges)
    return silent


def _never_held_up(book: Book, link: int) -> bool:
    """Whether a fibre to a rack always finds its switch's buffer and its queue large enough."""
    optical, floor, racks = book.scenario.optical, book.scenario.floor, book.racks
    outputs = floor.lanes + floor.rings - 1  # as many links lead into a switch
    return (
        racks <= link < 2 * racks
        and outputs * optical.output_queue_bytes <= optical.shared_buffer_bytes
        and (outputs + 1) * optical.packet_bytes <= optical.output_queue_bytes
    )


def _first_fault_ps(book: Book, link: int) -> int:
    """When a fibre is first degraded [ps]."""
    begins = [
        to_ps(fault.start_s)
        for fault in book.scenario.faults
        if isinstance(fault, FibreDegraded) and fault.rack == link - book.racks
    ]
    return min(begins, default=int(np.iinfo(np.int64).max))


def _mostly_idle(book: Book, outputs: IntArray, until_ps: int) -> bool:
    """Whether the switches sent less than half of what they could, and no fibre was broken."""
    links = book.links
    own = np.isin(links.key, outputs)
    sent = int((links["bytes"] + links["background_bytes"])[own].sum())
    could = float(link_rate_bps(book)[outputs].sum()) * until_ps * 1e-12 / 8
    broken = any(isinstance(fault, FibreDegraded) for fault in book.scenario.faults)
    bursts = float(len(outputs)) * book.scenario.optical.background.burst_bytes
    return sent < could / 2 and could > 100 * bursts and not broken


def _outputs(book: Book) -> IntArray:
    """Links that leave a switch: to racks, and between rings."""
    racks, rings = book.racks, book.scenario.floor.rings
    between = 2 * racks + np.flatnonzero(~np.eye(rings, dtype=np.bool_))
    return np.concatenate((np.arange(racks, 2 * racks, dtype=np.int64), between))


def _fibre(book: Book, link: int, edges: IntArray) -> Fibre:
    links = book.links
    first, end = np.searchsorted(links.key, (link, link + 1))
    own = slice(int(first), int(end))
    at = np.searchsorted(edges, links["end_ps"][own])

    def by_edge(values: IntArray) -> IntArray:
        total = np.zeros(len(edges), dtype=np.int64)
        np.add.at(total, at, values)
        return np.cumsum(total)

    background_bytes = links["background_bytes"][own]
    return Fibre(
        link,
        by_edge(links["bytes"][own] + background_bytes),
        by_edge(background_bytes),
        _bursts_ps(book, link, int(edges[-1])),
    )


def _bursts_ps(book: Book, link: int, until_ps: int) -> IntArray:
    """When bursts come to a link, past ``until_ps``: a Poisson process, burst k from a hash."""
    model = book.scenario.optical.background
    mean_ps = 8e12 * model.burst_bytes / (model.load * float(link_rate_bps(book)[link]))
    key = np.array([Streams(book.run.seed).key("background")], dtype=np.uint64)
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
