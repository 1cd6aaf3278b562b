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

from thzsync.arrays import NEVER_PS, BoolArray, IntArray, to_ps
from thzsync.auditor.findings import Findings
from thzsync.auditor.links import link_rate_bps
from thzsync.auditor.record import Record
from thzsync.auditor.tables import sum_by
from thzsync.hashing import GOLDEN, mix64
from thzsync.streams import Streams

MOST_BURSTS: Final = 10**7
"""So many bursts of a fibre are drawn anew; later samples are not checked."""


class Output:
    """One switch output by the end of every sample of the run (``edges``, from 0 on)."""

    def __init__(self, record: Record, link: int, edges: IntArray) -> None:
        self.record, self.link, self.edges = record, link, edges
        links, own = record.links, record.links.of(link)
        at = np.searchsorted(edges, links.end_ps[own])
        background = links.background_bytes[own]
        self.carried = np.cumsum(sum_by(at, background, len(edges)))
        """Bytes of background."""
        self.sent = self.carried + np.cumsum(sum_by(at, links.bytes[own], len(edges)))
        """Bytes of events and background."""
        self.bursts_ps = _bursts_ps(record, link, int(edges[-1]))
        """When bursts came, as far as they were drawn [ps]."""

    def offered(self, by_ps: IntArray) -> IntArray:
        """Bytes of all bursts that have come by some instants."""
        come = np.searchsorted(self.bursts_ps, by_ps, side="right").astype(np.int64)
        return come * self.record.scenario.optical.background.burst_bytes

    def none_too_soon(self, findings: Findings) -> None:
        """No burst is carried before it comes."""
        known = self.edges < self.bursts_ps[-1]
        edges, carried = self.edges[known], self.carried[known]
        offered = self.offered(edges)
        findings.test(
            carried > offered,
            lambda k: f"link {self.link}, until {edges[k]} ps",
            lambda k: f"carried {carried[k]} bytes of background, {offered[k]} were offered",
        )

    def none_left_behind(self, findings: Findings) -> None:
        """Where the output fell silent, all bursts that had come are carried."""
        start, end = self.edges[:-1], self.edges[1:]
        row = np.flatnonzero(self._silent_at_some_instant() & (end < self._first_fault_ps()))
        delay_ps = to_ps(self.record.scenario.optical.switch_delay_s)
        due, carried = self.offered(start[row] - delay_ps), self.carried[1:][row]
        findings.test(
            carried < due,
            lambda k: f"link {self.link}, until {end[row[k]]} ps",
            lambda k: f"had time to spare, carried {carried[k]} bytes of a background of {due[k]}",
        )

    def _silent_at_some_instant(self) -> BoolArray:
        """Samples in which the fibre cannot have been busy all the time.

        A packet takes its bits over the rate, rounded up to a picosecond, and has a byte at least.
        The one in service at the end is not counted.
        """
        per_byte_ps = 8e12 / float(link_rate_bps(self.record)[self.link])
        packet = self.record.scenario.optical.packet_bytes
        busy_ps = np.diff(self.sent) * (per_byte_ps + 1) + packet * per_byte_ps + 1
        silent: BoolArray = busy_ps * (1 + 1e-9) < np.diff(self.edges)
        return silent

    def never_held_up(self) -> bool:
        """Whether a fibre to a rack always finds its switch's buffer and queue large enough."""
        optical, floor = self.record.scenario.optical, self.record.scenario.floor
        outputs = floor.lanes + floor.rings - 1  # as many links lead into a switch
        return (
            self.record.racks <= self.link < 2 * self.record.racks
            and outputs * optical.output_queue_bytes <= optical.shared_buffer_bytes
            and (outputs + 1) * optical.packet_bytes <= optical.output_queue_bytes
        )

    def _first_fault_ps(self) -> int:
        """When the fibre to a rack is first degraded [ps]."""
        rack = self.link - self.record.racks
        begins = [to_ps(f.start_s) for f in self.record.broken_fibres if f.rack == rack]
        return min(begins, default=NEVER_PS)


def background(record: Record, findings: Findings) -> None:
    """A fibre carries the bursts that were drawn for it: none before it comes, and none is left
    behind where there was time to spare."""
    links, load = record.links, record.scenario.optical.background.load
    outputs = _outputs(record)
    findings.test(
        (links.background_bytes != 0) & ~(np.isin(links.key, outputs) & (load > 0)),
        links.name,
        "carried background that no switch output was offered",
    )
    edges = np.append(0, np.unique(links.end_ps))
    if load == 0 or record.cut or len(edges) == 1:
        return  # what was offered before a cut is not recorded
    carried = offered = 0
    for link in outputs[(outputs < 2 * record.racks) | np.isin(outputs, links.key)].tolist():
        output = Output(record, link, edges)
        output.none_too_soon(findings)
        if output.never_held_up():
            output.none_left_behind(findings)
        carried += int(output.carried[-1])
        offered += int(output.offered(edges[-1:] * 3 // 4)[0])
    if _mostly_idle(record, outputs, int(edges[-1])):
        findings.require(
            carried > 0 or offered == 0,
            "all links",
            f"carried {carried} bytes of background, {offered} had long been offered",
        )


def _mostly_idle(record: Record, outputs: IntArray, until_ps: int) -> bool:
    """Whether the switches sent less than half of what they could, and no fibre was broken."""
    links = record.links
    own = np.isin(links.key, outputs)
    sent = int((links.bytes + links.background_bytes)[own].sum())
    could = float(link_rate_bps(record)[outputs].sum()) * until_ps * 1e-12 / 8
    bursts = float(len(outputs)) * record.scenario.optical.background.burst_bytes
    return sent < could / 2 and could > 100 * bursts and not record.broken_fibres


def _outputs(record: Record) -> IntArray:
    """Links that leave a switch: to racks, and between rings."""
    racks, rings = record.racks, record.scenario.floor.rings
    between = 2 * racks + np.flatnonzero(~np.eye(rings, dtype=np.bool_))
    return np.concatenate((np.arange(racks, 2 * racks, dtype=np.int64), between))


def _bursts_ps(record: Record, link: int, until_ps: int) -> IntArray:
    """When bursts come to a link, past ``until_ps``: a Poisson process, burst k from a hash."""
    model = record.scenario.optical.background
    mean_ps = 8e12 * model.burst_bytes / (model.load * float(link_rate_bps(record)[link]))
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
