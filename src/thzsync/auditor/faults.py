"""Nothing uses what is broken.

A fault stops what would begin in its window [start, end); a round that began before runs out.
"""

from __future__ import annotations

import numpy as np

from thzsync.arrays import BoolArray, IntArray, to_ps
from thzsync.auditor.findings import Findings
from thzsync.auditor.record import Record
from thzsync.scenario import ComputeFrozen, Fault, PairBlocked, SubbandJammed, TransceiverDown


def thz_faults(record: Record, findings: Findings) -> None:
    """No round begins on a dead transceiver, a jammed subband or a blocked pair."""
    sent = record.transmissions
    for fault in record.scenario.faults:
        hit = breaks(fault, sent.src, sent.dst, sent.subband)
        if hit is not None:
            findings.test(
                hit & during(fault, sent.taken_ps),
                sent.name,
                f"its round begins during {fault.kind}",
            )


def breaks(fault: Fault, src: IntArray, dst: IntArray, subband: IntArray) -> BoolArray | None:
    """Links that need what a fault of the overlay breaks; None if it is none."""
    broken: BoolArray | None = None
    if isinstance(fault, TransceiverDown):
        broken = (src == fault.rack) | (dst == fault.rack)
    elif isinstance(fault, SubbandJammed):
        broken = subband == fault.subband
    elif isinstance(fault, PairBlocked):
        a, b = fault.racks
        broken = ((src == a) & (dst == b)) | ((src == b) & (dst == a))
    return broken


def during(fault: Fault, instant_ps: IntArray | int) -> BoolArray:
    """Instants in the window of a fault."""
    instant = np.asarray(instant_ps)
    inside: BoolArray = (to_ps(fault.start_s) <= instant) & (instant < to_ps(fault.end_s))
    return inside


def frozen_racks(record: Record, findings: Findings) -> None:
    """No rack's own data appears while its compute is frozen."""
    events = record.events
    for fault in record.scenario.faults:
        if isinstance(fault, ComputeFrozen):
            member = np.flatnonzero(events.racks.values == fault.rack)
            owner = events.racks.owner[member]
            appears = events.release_ps[owner] + events.delay_ps[member]
            findings.test(
                during(fault, appears),
                events.at(owner),
                lambda k, at=appears: f"has data at {at[k]} ps on a frozen rack",  # type: ignore[misc]
            )
