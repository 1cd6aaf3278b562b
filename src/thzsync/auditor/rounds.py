"""Wireless rounds and their transmissions against the channel and the clock."""

from __future__ import annotations

import numpy as np

from thzsync.arrays import FloatArray, IntArray, to_ps
from thzsync.auditor.book import Book
from thzsync.auditor.findings import TOLERANCE, Findings
from thzsync.auditor.steering import PINNED
from thzsync.auditor.tables import spread, sum_by


def gain(book: Book, findings: Findings) -> None:
    """The recorded gain is the channel's at the round's start."""
    sent = book.transmissions
    floor = book.scenario.floor
    inside = (sent.src >= 0) & (sent.src < floor.racks) & (sent.dst >= 0) & (sent.dst < floor.racks)
    inside &= (sent.subband >= 0) & (sent.subband < book.scenario.thz.subbands)
    row = np.flatnonzero(inside & (sent.src != sent.dst))
    expected = _channel_gain(book, row)
    found = sent.gain[row]
    findings.test(
        "gain",
        ~np.isclose(found, expected, rtol=TOLERANCE, atol=0),
        lambda k: sent.name(int(row[k])),
        lambda k: f"recorded gain {found[k]:.9g}, the channel had {expected[k]:.9g}",
    )


def _channel_gain(book: Book, row: IntArray) -> FloatArray:
    sent, channel = book.transmissions, book.channel
    order = row[np.argsort(sent.taken_ps[row], kind="stable")]
    instants, first = np.unique(sent.taken_ps[order], return_index=True)
    gains = np.empty(len(sent))
    bounds = np.append(first, len(order))
    for number, instant in enumerate(instants.tolist()):
        some = order[bounds[number] : bounds[number + 1]]
        table = channel.gains(sent.src[some], sent.dst[some], instant)
        gains[some] = table[np.arange(len(some)), sent.subband[some]]
    return gains[row]


def rate(book: Book, findings: Findings) -> None:
    """A transmission lasts long enough for its bytes at its power and gain (eq:thz_rate)."""
    sent = book.transmissions
    capacity = capacity_bits(book, np.arange(len(sent)))
    findings.test(
        "rate",
        ~(8.0 * sent.bytes <= capacity * (1 + TOLERANCE)),
        sent.name,
        lambda row: f"carries {8 * sent.bytes[row]} bit, its link only {capacity[row]:.1f} bit",
    )


def capacity_bits(book: Book, row: IntArray, shorten_ps: IntArray | int = 0) -> FloatArray:
    """What transmissions could have carried in their time, or in a little less (eq:thz_rate)."""
    sent, thz = book.transmissions, book.scenario.thz
    noise_w = 10 ** ((thz.noise_psd_dbm_per_hz + thz.noise_figure_db - 30) / 10) * thz.subband_hz
    noise_w += thz.interference_w
    received_w = np.maximum(sent.power_w[row] * sent.gain[row], 0) * 10 ** (
        thz.receive_gain_db / 10
    )
    spectral: FloatArray = thz.subband_hz * np.log1p(received_w / noise_w) / np.log(2)
    return spectral * (sent.end_ps[row] - sent.start_ps[row] - shorten_ps) * 1e-12


def transmission_bytes(book: Book, findings: Findings) -> None:
    """A transmission carries recorded chunks of its flow, from end to end of it."""
    sent, chunks, flows = book.transmissions, book.chunks, book.flows
    first_row, carried = sent.carried(chunks)
    findings.test(
        "transmission_bytes",
        (sent.flow >= 0) & (carried == 0),
        sent.name,
        lambda row: (
            f"carries {sent.chunks[row]} chunks from chunk {sent.first_chunk[row]}, "
            f"which its flow does not have"
        ),
    )
    owner, row = spread(first_row, carried)
    size = sum_by(owner, chunks.bytes[row], len(sent))
    whole = np.flatnonzero(carried)
    findings.test(
        "transmission_bytes",
        size[whole] != sent.bytes[whole],
        lambda k: sent.name(int(whole[k])),
        lambda k: f"recorded {sent.bytes[whole[k]]} bytes, its chunks have {size[whole[k]]}",
    )
    known = np.flatnonzero(sent.flow >= 0)
    flow = sent.flow[known]
    findings.test(
        "transmission_bytes",
        (sent.src[known] != flows.src[flow]) | (sent.dst[known] != flows.dst[flow]),
        lambda k: sent.name(int(known[k])),
        lambda k: f"its flow goes from rack {flows.src[flow[k]]} to {flows.dst[flow[k]]}",
    )


def round_span(book: Book, findings: Findings) -> None:
    """A round is its overhead, then transmissions that start together and fit into it.

    Where a discipline has no rounds, each transmission is recorded as one.
    """
    rounds, sent = book.rounds, book.transmissions
    guard_ps = to_ps(book.scenario.thz.round_overhead_s)
    owed = np.array([_owes_guard(name) for name in rounds.discipline.tolist()], dtype=np.int64)
    wrong = np.where(
        owed == _UNKNOWN,
        ~np.isin(rounds.overhead_ps, (0, guard_ps)),
        rounds.overhead_ps != np.where(owed == 1, guard_ps, 0),
    )
    findings.test(
        "round_span",
        wrong | (rounds.end_ps < rounds.start_ps + rounds.overhead_ps),
        rounds.name,
        lambda row: (
            f"lasts from {rounds.start_ps[row]} to {rounds.end_ps[row]} ps with an overhead of "
            f"{rounds.overhead_ps[row]} ps; its discipline is {rounds.discipline[row]}"
        ),
    )
    known = np.flatnonzero(sent.round >= 0)
    owner = sent.round[known]
    begins, ends = sent.start_ps[known], sent.end_ps[known]
    findings.test(
        "round_span",
        (begins != rounds.start_ps[owner] + rounds.overhead_ps[owner])
        | (ends < begins)
        | (ends > rounds.end_ps[owner]),
        lambda k: sent.name(int(known[k])),
        lambda k: (
            f"sends from {begins[k]} to {ends[k]} ps in a round from {rounds.start_ps[owner[k]]} "
            f"to {rounds.end_ps[owner[k]]} ps"
        ),
    )
    last = rounds.start_ps.copy()
    np.maximum.at(last, owner, ends)
    findings.test(
        "round_span",
        rounds.end_ps > last,
        rounds.name,
        lambda row: f"ends at {rounds.end_ps[row]} ps, its last transmission at {last[row]} ps",
    )
    found = np.bincount(owner, minlength=len(rounds))
    findings.test(
        "round_span",
        (rounds.transmissions != found) | (found == 0),
        rounds.name,
        lambda row: f"counts {rounds.transmissions[row]} transmissions, recorded are {found[row]}",
    )


def round_order(book: Book, findings: Findings) -> None:
    """Declared common rounds of an event and discipline follow each other, and end together."""
    rounds, sent = book.rounds, book.transmissions
    declared = np.array([_is_common(name) for name in rounds.discipline.tolist()], dtype=np.int64)
    findings.test(
        "round_order",
        (declared != _UNKNOWN) & (rounds.common != (declared == 1)),
        rounds.name,
        lambda row: f"says that its rounds are {'' if rounds.common[row] else 'not '}common",
    )
    row = np.flatnonzero(rounds.common)
    _, kind = np.unique(rounds.discipline[row].astype(str), return_inverse=True)
    order = np.lexsort((rounds.start_ps[row], kind, rounds.number[row]))
    row, kind = row[order], kind[order]
    a, b = row[:-1], row[1:]
    same = (rounds.number[a] == rounds.number[b]) & (kind[:-1] == kind[1:])
    findings.test(
        "round_order",
        same & (rounds.start_ps[b] < rounds.end_ps[a]),
        lambda k: rounds.name(int(b[k])),
        lambda k: f"starts before round {rounds.round[a[k]]} of the same event has ended",
    )
    known = np.flatnonzero(sent.round >= 0)
    known = known[rounds.common[sent.round[known]]]
    owner = sent.round[known]
    findings.test(
        "round_order",
        sent.end_ps[known] != rounds.end_ps[owner],
        lambda k: sent.name(int(known[k])),
        lambda k: f"ends at {sent.end_ps[known[k]]} ps, its round at {rounds.end_ps[owner[k]]} ps",
    )


def discipline(book: Book, findings: Findings) -> None:
    """A transmission follows the discipline that its flow declares."""
    sent, rounds, flows = book.transmissions, book.rounds, book.flows
    row = np.flatnonzero((sent.round >= 0) & (sent.flow >= 0))
    used, declared = rounds.discipline[sent.round[row]], flows.discipline[sent.flow[row]]
    findings.test(
        "discipline",
        used != declared,
        lambda k: sent.name(int(row[k])),
        lambda k: f"sent by {used[k]}, its flow declares {declared[k]}",
    )


_UNKNOWN = -1
_FAMILIES = ("matching", "assignment", "streaming", "striping", *PINNED)


def _family(name: str) -> str | None:
    """The kind of discipline behind a built-in name; None for one from elsewhere."""
    family = name.split("-", maxsplit=1)[0]
    return family if family in _FAMILIES else None


def _is_common(name: str) -> int:
    family = _family(name)
    return _UNKNOWN if family is None else int(family in ("matching", "assignment", "pipeline"))


def _owes_guard(name: str) -> int:
    if _family(name) in (None, *PINNED):  # see ``steering``
        return _UNKNOWN
    return _is_common(name)  # of the others, exactly those with rounds steer at each start
