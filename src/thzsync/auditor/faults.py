"""Nothing uses what is broken.

A fault stops what would begin in its window [start, end); a round that began before runs out.
"""

from __future__ import annotations

import numpy as np

from thzsync.arrays import BoolArray, to_ps
from thzsync.auditor.book import Book
from thzsync.auditor.findings import Findings
from thzsync.scenario import ComputeFrozen, Fault, PairBlocked, SubbandJammed, TransceiverDown


def thz_faults(book: Book, findings: Findings) -> None:
    """No round begins on a dead transceiver, a jammed subband or a blocked pair."""
    for fault in book.scenario.faults:
        needs_it = _needs(book, fault)
        if needs_it is not None:
            _test_window(book, findings, fault, needs_it)


def _needs(book: Book, fault: Fault) -> BoolArray | None:
    """Transmissions that need what the fault breaks; None if it is no THz fault."""
    src, dst = book.transmissions.src, book.transmissions.dst
    needs_it: BoolArray | None = None
    if isinstance(fault, TransceiverDown):
        needs_it = (src == fault.rack) | (dst == fault.rack)
    elif isinstance(fault, SubbandJammed):
        needs_it = book.transmissions.subband == fault.subband
    elif isinstance(fault, PairBlocked):
        a, b = fault.racks
        needs_it = ((src == a) & (dst == b)) | ((src == b) & (dst == a))
    return needs_it


def _test_window(book: Book, findings: Findings, fault: Fault, needs_it: BoolArray) -> None:
    sent = book.transmissions
    start, end = to_ps(fault.start_s), to_ps(fault.end_s)
    findings.test(
        "thz_faults",
        needs_it & (start <= sent.taken_ps) & (sent.taken_ps < end),
        sent.name,
        lambda row: (
            f"its round begins at {sent.taken_ps[row]} ps, during {fault.kind} "
            f"from {start} to {end} ps"
        ),
    )


def frozen_racks(book: Book, findings: Findings) -> None:
    """No rack's own data appears while its compute is frozen."""
    for fault in book.scenario.faults:
        if isinstance(fault, ComputeFrozen):
            _test_frozen(book, findings, fault)


def _test_frozen(book: Book, findings: Findings, fault: ComputeFrozen) -> None:
    events = book.events
    seat = np.flatnonzero(events.racks.values == fault.rack)
    owner = events.racks.owner[seat]
    appears = events.release_ps[owner] + events.delay_ps[seat]
    findings.test(
        "frozen_racks",
        (to_ps(fault.start_s) <= appears) & (appears < to_ps(fault.end_s)),
        lambda k: events.name(int(owner[k])),
        lambda k: f"rack {fault.rack} has its data at {appears[k]} ps, while it is frozen",
    )
