"""Policies that never learn decide what their names say."""

from __future__ import annotations

from typing import Final

import numpy as np

from thzsync.arrays import BoolArray
from thzsync.auditor.book import Book
from thzsync.auditor.findings import TOLERANCE, Findings

STATIC: Final = {
    "all-wired": (0.0, 0.0),
    "all-wired-best": (0.0, 0.0),
    "all-wireless": (1.0, 1.0),
    "all-wireless-best": (1.0, 1.0),
    "fixed-ratio": (0.5, 0.5),
}
"""Share of the chunks on THz, and of the power."""
_PER_FLOW: Final = "proposed"
"""The method whose units are its flows for every collective of the paper."""


def static_policy(book: Book, findings: Findings) -> None:
    """All-Wired, All-Wireless and Fixed ratio split every flow alike, at one power."""
    if book.run.policy not in STATIC:
        return
    share, power = STATIC[book.run.policy]
    events, flows = book.events, book.flows
    expected = np.rint(flows.needed * share).astype(np.int64)
    known = flows.event >= 0
    if len(events):
        known &= (share in (0.0, 1.0)) | split_flow_by_flow(book)[flows.event]
    findings.test(
        "static_policy",
        known & (flows.thz_chunks != expected),
        flows.name,
        lambda row: f"{flows.thz_chunks[row]} THz chunks, {book.run.policy} takes {expected[row]}",
    )
    levels = np.array(book.scenario.coordinator.power_levels)
    level = float(levels[np.argmin(np.abs(levels - power))])
    findings.test(
        "static_policy",
        (events.power != 0) & ~np.isclose(events.power, level, rtol=TOLERANCE),
        lambda k: f"{events.name(int(events.racks.owner[k]))}, rack {events.racks.values[k]}",
        lambda k: f"power budget {events.power[k]:g}, {book.run.policy} takes {level:g}",
    )


def split_flow_by_flow(book: Book) -> BoolArray:
    """Events in which every flow was split for itself, so that shares can be told from counts."""
    events = book.events
    paper = np.isin(events.kind, ("p2p", "a2a", "allreduce"))
    by_flow: BoolArray = paper & (events.text("method") == _PER_FLOW)
    return by_flow
