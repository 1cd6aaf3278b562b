"""The fibres of the floor: which ones a flow crosses, and how fast they are (eq:wired_path).

Links 0, 1, ... lead from the racks to their switches, then from the switches to the racks, then
from ring to ring.
"""

from __future__ import annotations

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.auditor.record import Record
from thzsync.auditor.tables import sum_by


def link_count(record: Record) -> int:
    """Numbers of directed links; those from a ring to itself are none."""
    return 2 * record.racks + record.scenario.floor.rings**2


def link_rate_bps(record: Record) -> FloatArray:
    """Full rate of every directed link [bit/s]."""
    optical = record.scenario.optical
    rates = np.full(link_count(record), optical.inter_bps)
    rates[: 2 * record.racks] = optical.access_bps
    return rates


def hops(record: Record, flow: IntArray) -> IntArray:
    """Links on the wired path of flows: 2 within a ring, 3 across rings."""
    lanes, flows = record.scenario.floor.lanes, record.flows
    return np.where(flows.src[flow] // lanes == flows.dst[flow] // lanes, 2, 3)


def on_floor(record: Record, flow: IntArray) -> IntArray:
    """Positions of the flows whose ends are racks of the floor."""
    src, dst, racks = record.flows.src[flow], record.flows.dst[flow], record.racks
    return np.flatnonzero((src >= 0) & (src < racks) & (dst >= 0) & (dst < racks))


def crossed_links(record: Record, flow: IntArray) -> tuple[IntArray, IntArray]:
    """Every link that flows (rows) cross, with the position of the flow that crosses it."""
    racks, floor = record.racks, record.scenario.floor
    inside = on_floor(record, flow)
    src, dst = record.flows.src[flow[inside]], record.flows.dst[flow[inside]]
    s, t = src // floor.lanes, dst // floor.lanes
    across = s != t
    between = 2 * racks + s[across] * floor.rings + t[across]
    return (
        np.concatenate((src, racks + dst, between)),
        np.concatenate((inside, inside, inside[across])),
    )


def bytes_per_link(record: Record, flow: IntArray, wired_bytes: IntArray) -> IntArray:
    """Bytes that flows (rows) put on every directed link."""
    link, position = crossed_links(record, flow)
    return sum_by(link, wired_bytes[position], link_count(record))
