"""Beams: whoever turns to another rack owes the guard time.

Rounds of the paper's disciplines owe it always, streams never (so the paper's words are read).
A discipline on pinned links owes it just in rounds in which a chain that sends or receives pointed
elsewhere before, whatever event that was for.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from thzsync.arrays import BoolArray, to_ps
from thzsync.auditor.book import Book
from thzsync.auditor.findings import Findings

PINNED: Final = ("pipeline", "sustained", "sustained-chunk")
"""Disciplines that owe a guard time where a chain turns, and nowhere else."""


def steering(book: Book, findings: Findings) -> None:
    """On pinned links the guard time is owed exactly where a chain turns."""
    rounds = book.rounds
    row = np.flatnonzero(np.isin(rounds.discipline.astype(str), PINNED))
    guard_ps = to_ps(book.scenario.thz.round_overhead_s)
    turned = _turned(book)[row]
    owed = np.where(turned, guard_ps, 0)
    findings.test(
        "steering",
        rounds.overhead_ps[row] != owed,
        lambda k: rounds.name(int(row[k])),
        lambda k: (
            f"has a guard time of {rounds.overhead_ps[row[k]]} ps although "
            f"{'a chain turned' if turned[k] else 'no chain turned'}"
        ),
    )


def _turned(book: Book) -> BoolArray:
    """Rounds in which a chain points at another rack than it did last."""
    sent, rounds = book.transmissions, book.rounds
    subbands = book.scenario.thz.subbands
    chain = np.concatenate((sent.src, sent.dst)) * subbands + np.tile(sent.subband, 2)
    faces = np.concatenate((sent.dst, sent.src))
    row = np.tile(np.arange(len(sent)), 2)
    order = np.lexsort((sent.taken_ps[row], chain))
    changes = np.ones(len(order), dtype=np.bool_)
    same_chain = chain[order[1:]] == chain[order[:-1]]
    changes[1:] = ~same_chain | (faces[order[1:]] != faces[order[:-1]])
    turned = np.zeros(len(rounds), dtype=np.bool_)
    owner = sent.round[row[order[changes]]]
    turned[owner[owner >= 0]] = True
    return turned
