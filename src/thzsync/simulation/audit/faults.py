"""Nothing uses what is broken.

A fault stops what would begin in its window [start, end); a round that began before runs out.
"""

from __future__ import annotations

import numpy as np

from thzsync.arrays import BoolArray, to_ps
from thzsync.scenario import ComputeFrozen, Fault, PairBlocked, SubbandJammed, TransceiverDown
from thzsync.simulation.audit.book import Book
from thzsync.simulation.audit.findings import Findings


def thz_faults(book: Book, findings: Findings) -> None:
    """No round begins on a dead transceiver, a jammed subband or a blocked pair."""
    sent = book.transmissions
    findings.checks.setdefault("thz_faults", 0)
    for fault in book.scenario.faults:
        hit = _uses(book, fault)
        if hit is None:
            continue
        begins = (to_ps(fault.start_s) <= sent.taken_ps) & (sent.taken_ps < to_ps(fault.end_s))
        findings.test(
            "thz_faults",
            hit & begins,
            sent.name,
            lambda row, fault=fault: (
                f"begins at {sent.taken_ps[row]} ps, during {fault.kind} "
                f"from {fault.start_s:g} to {fault.end_s:g} s"
            ),
        )


def _uses(book: Book, fault: Fault) -> BoolArray | None:
    """Transmissions that need what the fault breaks; None if it is no THz fault."""
    sent = book.transmissions
    if isinstance(fault, TransceiverDown):
        return (sent.src == fault.rack) | (sent.dst == fault.rack)
    if isinstance(fault, SubbandJammed):
        jammed: BoolArray = sent.subband == fault.subband
        return jammed
    if isinstance(fault, PairBlocked):
        a, b = fault.racks
        return ((sent.src == a) & (sent.dst == b)) | ((sent.src == b) & (sent.dst == a))
    return None


def frozen_racks(book: Book, findings: Findings) -> None:
    """No rack's own data appears while its compute is frozen."""
    events = book.events
    owner = events.racks.owner
    appears = events.release_ps[owner] + events.delay_ps
    findings.checks.setdefault("frozen_racks", 0)
    for fault in book.scenario.faults:
        if isinstance(fault, ComputeFrozen):
            start, end = to_ps(fault.start_s), to_ps(fault.end_s)
            findings.test(
                "frozen_racks",
                (events.racks.values == fault.rack) & (start <= appears) & (appears < end),
                lambda k: events.name(int(owner[k])),
                lambda k, rack=fault.rack: (
                    f"rack {rack} has its data at {appears[k]} ps, while it is frozen"
                ),
            )
