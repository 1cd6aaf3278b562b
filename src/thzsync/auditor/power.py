"""Power is what the bytes needed, and a budget is what was used of it."""

from __future__ import annotations

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.auditor.findings import TOLERANCE, Findings
from thzsync.auditor.record import Record
from thzsync.auditor.rounds import capacity_bits
from thzsync.auditor.tables import real_sum_by

_ROUNDING_PS = 8
"""By so much a round may be longer than the shortest possible one."""


def power_needed(record: Record, findings: Findings) -> None:
    """No transmission is louder than its bytes, gain and duration ask for (eq:ar_optimal_power)."""
    sent, rounds = record.transmissions, record.rounds
    row = np.flatnonzero((sent.round >= 0) & (sent.chunks > 0) & (sent.bytes > 0))
    declared = rounds.discipline[sent.round[row]]
    # Each chunk's duration was rounded up to a picosecond.
    least = capacity_bits(record, row, shorten_ps=sent.chunks[row] + 1) / (8.0 * sent.bytes[row])
    slowest = np.full(len(rounds), np.inf)
    np.minimum.at(slowest, sent.round[row], least)
    exact = record.declares(declared, lambda told: told.power == "least")
    exact &= record.scenario.thz.radiation == "needed"
    bounded = record.declares(declared, lambda told: told.power != "budget")
    excess = np.where(exact, least, slowest[sent.round[row]])
    findings.test(
        bounded & (excess > 1 + TOLERANCE),
        sent.at(row),
        lambda k: f"its power could carry {excess[k]:.9g} times its bytes in its time",
    )


def budget_used(record: Record, findings: Findings) -> None:
    """Where it is declared, the sender that sets a round's length uses all the power it may.

    That is its budget, or what other events leave of the rack's maximum.
    """
    events, sent, rounds = record.events, record.transmissions, record.rounds
    most = record.scenario.thz.max_power_w
    member = events.member(sent.event, sent.src)
    row = np.flatnonzero((sent.round >= 0) & (member >= 0))
    pair, group = np.unique(np.stack((sent.round[row], sent.src[row])), axis=1, return_inverse=True)
    own_w = real_sum_by(group.ravel(), sent.power_w[row], pair.shape[1])
    alone = record.scenario.thz.sharing == "event"
    left_w = most - (0.0 if alone else _others_w(record, pair, own_w))
    first = np.zeros(pair.shape[1], dtype=np.int64)
    first[group.ravel()] = row
    allowed_w = np.minimum(events.power[member[first]] * most, left_w)
    share = own_w / np.maximum(allowed_w, 1e-300)
    best = np.zeros(len(rounds))
    np.maximum.at(best, pair[0], share)
    known = record.declares(rounds.discipline, lambda told: told.uses_budget) & (rounds.event >= 0)
    known[known] &= ~record.survey.moved[rounds.event[known]]
    findings.test(
        known & (best < 1 - _unused(record)) & (best > 0),
        rounds.name,
        lambda k: f"no sender uses more than {best[k]:.9g} of the power it may",
    )


def _unused(record: Record) -> FloatArray:
    """Share of the power that whole picoseconds leave unused; it is large in a short round.

    A transmission of b bits in T needs power in proportion to exp(x) - 1, x = ln2 b / (B T).
    """
    sent, rounds = record.transmissions, record.rounds
    lasts_ps = np.maximum(rounds.end_ps - rounds.start_ps - rounds.overhead_ps, 1)
    steepest = np.zeros(len(rounds))
    row = np.flatnonzero(sent.round >= 0)
    bits_per_hz = np.log(2) * 8e12 * sent.bytes[row] / record.scenario.thz.subband_hz
    np.maximum.at(steepest, sent.round[row], bits_per_hz / lasts_ps[sent.round[row]])
    share: FloatArray = 1e-6 + _ROUNDING_PS * (1 + steepest) / lasts_ps
    return share


def _others_w(record: Record, pair: IntArray, own_w: FloatArray) -> FloatArray:
    """Power that a rack spends on other events when a round of one begins [W]."""
    sent, rounds = record.transmissions, record.rounds
    others = np.zeros(pair.shape[1])
    order = np.argsort(sent.src, kind="stable")
    bounds = np.searchsorted(sent.src[order], (pair[1], pair[1] + 1))
    for k in range(pair.shape[1]):
        of_rack = order[bounds[0, k] : bounds[1, k]]
        at = rounds.start_ps[pair[0, k]]
        open_then = (sent.taken_ps[of_rack] <= at) & (sent.end_ps[of_rack] > at)
        others[k] = sent.power_w[of_rack[open_then]].sum() - own_w[k]
    return others
