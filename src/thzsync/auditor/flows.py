"""Runs in flow fidelity: bytes fit into the time that they had, and replays are what they say."""

from __future__ import annotations

import numpy as np

from thzsync.auditor.findings import TOLERANCE, Findings
from thzsync.auditor.links import crossed_links, link_rate_bps
from thzsync.auditor.record import Record
from thzsync.auditor.tables import find, pack, unpack
from thzsync.scenario.fidelity import in_flows


def in_trains(record: Record) -> bool:
    """Whether the fibres carried flows in trains instead of single packets."""
    return in_flows(record.scenario)


def fibre_time(record: Record, findings: Findings) -> None:
    """What an event sent over a fibre fits into the time between its release and its end."""
    chunks, flows, events = record.chunks, record.flows, record.events
    wired = np.flatnonzero(~chunks.thz & (chunks.event >= 0))
    load = np.bincount(chunks.flow[wired], chunks.bytes[wired], len(flows))
    row = np.flatnonzero((load > 0) & (flows.event >= 0))
    link, position = crossed_links(record, row)
    pair, at = np.unique(pack(flows.event[row[position]], link), return_inverse=True)
    event, link = unpack(pair)
    total = np.bincount(at, load[row[position]], len(pair))
    had = (events.end_ps - events.release_ps)[event] * 1e-12 * link_rate_bps(record)[link] / 8
    findings.test(
        total > had * (1 + TOLERANCE) + 1,
        lambda k: f"{events.name(int(event[k]))}, link {link[k]}",
        lambda k: f"sent {total[k]:.0f} bytes in a time in which {had[k]:.0f} fit",
    )


def fidelity(record: Record, findings: Findings) -> None:
    """Replayed events are events of the record, with its completion times."""
    told, events = record.run.fidelity, record.events
    if told is None or not in_trains(record):
        findings.require(told is None, "run.json", "tells of replays of a run in packets")
        return
    number = np.array([replay.number for replay in told.replayed], dtype=np.int64)
    completion_ms = (events.end_ps - events.release_ps) * 1e-9
    broken = []
    for replay, row in zip(told.replayed, find(events.key, number).tolist(), strict=True):
        same = row >= 0 and replay.kind == events.kind[row] and replay.packet_ms > 0
        same = same and np.isclose(replay.flow_ms, completion_ms[row], rtol=TOLERANCE, atol=0)
        broken.append(not same)
    findings.test(
        np.array(broken, dtype=np.bool_),
        lambda k: f"replay of event {number[k]}",
        lambda k: f"says {told.replayed[k]}, which is not what the record has",
    )
