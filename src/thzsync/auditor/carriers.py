"""Carriers after THz: what they sent, and whether they keep to what they declare."""

from __future__ import annotations

import numpy as np

from thzsync.arrays import IntArray
from thzsync.auditor.findings import TOLERANCE, Findings
from thzsync.auditor.record import Record
from thzsync.auditor.rows import Sendings
from thzsync.auditor.tables import spread, sum_by
from thzsync.carriers import FIBRE, THZ


def sendings(record: Record, findings: Findings) -> None:
    """A chunk of a further carrier is in one sending, from when it is ready to its arrival."""
    chunks, sent, most = record.chunks, record.sendings, len(record.scenario.carriers)
    both = np.minimum(chunks.carrier, chunks.decided), np.maximum(chunks.carrier, chunks.decided)
    for k in findings.broken((both[0] < FIBRE) | (both[1] > most)):
        findings.add(chunks.name(k), "was decided for or came by a carrier that does not exist")
    if most == THZ:
        return
    owner, row = spread(*sent.carried(chunks))
    times = np.bincount(row, minlength=len(chunks))
    own = np.where(chunks.carrier > THZ, 1, 0)
    # the first chunks of a flow are decided for THz, the next for carrier 2, and so on, then fibre
    turn = np.where(chunks.decided == FIBRE, most + 1, chunks.decided)
    falls = (np.diff(turn) < 0) & (np.diff(chunks.flow) == 0)
    for k in findings.broken(falls):
        findings.add(chunks.name(k + 1), "was decided for a carrier out of turn")
    findings.equal(times, own, chunks.name, "count of sendings of further carriers")
    findings.equal(chunks.carrier[row], sent.carrier[owner], chunks.at(row), "carrier")
    findings.equal(chunks.end_ps[row], sent.end_ps[owner], chunks.at(row), "arrival [ps]")
    ready_ps = chunks.ready_ps[row]
    findings.not_before(sent.start_ps[owner], ready_ps, chunks.at(row), "it is sent", "ready")
    size_bytes = sum_by(owner, chunks.bytes[row], len(sent))
    findings.equal(sent.bytes, size_bytes, sent.name, "sum of the chunks' bytes")


def carriers(record: Record, findings: Findings) -> None:
    """Every further carrier is declared, and keeps to one sender, its rate and its energy."""
    sent, names = record.sendings, record.scenario.carriers
    for k in findings.broken((sent.carrier <= THZ) | (sent.carrier > len(names))):
        findings.add(sent.name(k), "there is no such carrier")
    for number, name in enumerate(names[1:], THZ + 1):
        told, own = record.run.carriers.get(name), np.flatnonzero(sent.carrier == number)
        findings.require(told is not None, f"run.json, carriers, {name}", "is not declared")
        if told is None:
            continue
        if told.rate_bps is not None:
            needed_ps = [told.duration_ps(size) for size in sent.bytes[own].tolist()]
            lasts_ps = (sent.end_ps - sent.start_ps)[own].tolist()
            for k in findings.broken([a != b for a, b in zip(lasts_ps, needed_ps, strict=True)]):
                findings.add(sent.name(own[k]), f"takes {lasts_ps[k]} ps, not {needed_ps[k]}")
        if told.energy_j_per_bit is not None:
            expected_j, found_j = told.energy_j(1) * sent.bytes[own], sent.energy_j[own]
            wrong = ~(np.abs(found_j - expected_j) <= TOLERANCE * expected_j)
            for k in findings.broken(wrong):
                findings.add(sent.name(own[k]), f"takes {found_j[k]:g} J, not {expected_j[k]:g}")
        if told.one_at_a_time:
            _one_at_a_time(sent, own, findings)


def _one_at_a_time(sent: Sendings, own: IntArray, findings: Findings) -> None:
    order = own[np.lexsort((sent.end_ps[own], sent.start_ps[own]))]
    before, after = order[:-1], order[1:]
    for k in findings.broken(sent.start_ps[after] < sent.end_ps[before]):
        findings.add(sent.name(after[k]), f"begins before {sent.name(before[k])} ends")
