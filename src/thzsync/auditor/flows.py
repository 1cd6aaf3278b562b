"""Runs in flow fidelity: bytes fit into the time that they had, and replays are what they say."""

from __future__ import annotations

import numpy as np

from thzsync.arrays import IntArray
from thzsync.auditor.book import Book
from thzsync.auditor.findings import TOLERANCE, Findings
from thzsync.auditor.tables import find
from thzsync.scenario.fidelity import in_flows


def in_trains(book: Book) -> bool:
    """Whether the fibres carried flows in trains instead of single packets."""
    return in_flows(book.scenario)


def fibre_time(book: Book, findings: Findings) -> None:
    """What an event sent over a fibre fits into the time between its release and its end."""
    chunks, flows, events = book.chunks, book.flows, book.events
    wired = np.flatnonzero(~chunks.thz & (chunks.event >= 0))
    flow = chunks.flow[wired]
    load = np.bincount(flow, chunks.bytes[wired], len(flows))
    racks, rings = book.racks, book.scenario.floor.rings
    row = np.flatnonzero((load > 0) & (flows.event >= 0))
    src, dst, event = flows.src[row], flows.dst[row], flows.event[row]
    s, t = book.ring(src), book.ring(dst)
    across = s != t
    link = np.concatenate((src, racks + dst, 2 * racks + s[across] * rings + t[across]))
    owner = np.concatenate((event, event, event[across]))
    size = np.concatenate((load[row], load[row], load[row][across]))
    pair, at = np.unique(np.stack((owner, link)), axis=1, return_inverse=True)
    total = np.bincount(at.reshape(-1), size, pair.shape[1])
    optical = book.scenario.optical
    rate = np.where(pair[1] < 2 * racks, optical.access_bps, optical.inter_bps)
    had = (events.end_ps - events.release_ps)[pair[0]] * 1e-12 * rate / 8
    findings.test(
        "fibre_time",
        total > had * (1 + TOLERANCE) + 1,
        lambda k: f"{events.name(int(pair[0][k]))}, link {pair[1][k]}",
        lambda k: f"sent {total[k]:.0f} bytes in a time in which {had[k]:.0f} fit",
    )


def fidelity(book: Book, findings: Findings) -> None:
    """Replayed events are events of the record, with its completion times."""
    told = book.run.fidelity
    if told is None or not in_trains(book):
        findings.require(
            "fidelity", told is None, "run.json", "tells of replays of a run in packets"
        )
        return
    events = book.events
    number: IntArray = np.array([row.number for row in told.replayed], dtype=np.int64)
    row = find(events.key, number)
    known = row >= 0
    completion = (events.end_ps - events.release_ps) * 1e-9
    flow_ms = np.array([r.flow_ms for r in told.replayed])
    packet_ms = np.array([r.packet_ms for r in told.replayed])
    same = np.zeros(len(number), dtype=np.bool_)
    same[known] = np.isclose(flow_ms[known], completion[row[known]], rtol=TOLERANCE, atol=0)
    kinds = np.array([r.kind for r in told.replayed])
    same[known] &= kinds[known] == events.kind[row[known]]
    findings.test(
        "fidelity",
        ~known | ~same | ~(packet_ms > 0),
        lambda k: f"replay of event {number[k]}",
        lambda k: f"says {kinds[k]} of {flow_ms[k]} ms, which is not what the record has",
    )
