"""What transceivers can do at once: half-duplex, RF chains, power; and what power is needed for."""

from __future__ import annotations

import numpy as np

from thzsync.arrays import BoolArray, FloatArray, IntArray
from thzsync.auditor.findings import TOLERANCE, Findings
from thzsync.auditor.record import Record
from thzsync.auditor.rounds import capacity_bits, heard_per_w, snr_of
from thzsync.auditor.tables import real_sum_by
from thzsync.carriers import THZ

_POWER_UNITS = 2**40
"""Power is summed in whole units of the maximum / 2^40, so that long sums stay exact."""


def half_duplex(record: Record, findings: Findings) -> None:
    """A rack takes part in one transmission per subband at a time (eq:rf_half_duplex)."""
    sent = record.transmissions
    for k in findings.broken((sent.subband < 0) | (sent.subband >= record.scenario.thz.subbands)):
        findings.add(sent.name(k), "there is no such subband")
    rack, row = _both_ends(record)
    start, end = sent.taken_ps[row], sent.end_ps[row]
    place = _sharing(record, rack, row)
    order = np.lexsort((start, sent.subband[row], place))
    # Sorted by start, any overlap shows between neighbours too.
    a, b = order[:-1], order[1:]
    same = (place[a] == place[b]) & (sent.subband[row[a]] == sent.subband[row[b]])
    for k in findings.broken(same & (start[b] < end[a])):
        other = sent.name(row[a[k]])
        findings.add(sent.name(row[b[k]]), f"begins {start[b[k]]} ps, {other} ends {end[a[k]]} ps")


def rf_chains(record: Record, findings: Findings) -> None:
    """A rack takes part in at most N_RF transmissions at a time (eq:a2a_rf_limit)."""
    sent, chains = record.transmissions, record.scenario.thz.chains
    rack, row = _both_ends(record)
    ones, place = np.ones(len(row), dtype=np.int64), _sharing(record, rack, row)
    over = _exceeds(place, sent.taken_ps[row], sent.end_ps[row], ones, chains * ones)
    for k in findings.broken(over):
        findings.add(sent.name(row[k]), f"rack {rack[k]} has more than {chains} at its start")


def power_cap(record: Record, findings: Findings) -> None:
    """Over all events that share it a rack sends with at most P^max (eq:power_constraint)."""
    sent, most = record.transmissions, record.scenario.thz.max_power_w
    for k in findings.broken(~(sent.power_w > 0) | ~np.isfinite(sent.power_w)):
        findings.add(sent.name(k), f"its power is {sent.power_w[k]:g} W")
    place, limit = _sharing(record, sent.src, np.arange(len(sent))), np.full(len(sent), most)
    for k in findings.broken(_exceeds_power(record, place, limit)):
        findings.add(sent.name(k), f"its rack sends over {most:g} W at {sent.start_ps[k]} ps")


def power_budget(record: Record, findings: Findings) -> None:
    """Within an event a rack keeps to its decided budget (eq:a2a_power_allocation).

    The decision knew nothing of chunks that came over from a dead fibre: a rack that carries such
    may use its maximum.
    """
    events, sent, chunks = record.events, record.transmissions, record.chunks
    most = record.scenario.thz.max_power_w
    share = events.power.copy()
    moved = chunks.thz & (chunks.decided != THZ)
    member = events.member(chunks.event[moved], record.flows.src[chunks.flow[moved]])
    share[member[member >= 0]] = 1.0
    place = events.member(sent.event, sent.src)
    limit = np.where(place >= 0, share[place], 0.0) * most if len(share) else np.zeros(len(sent))
    for k in findings.broken(_exceeds_power(record, place, limit)):
        findings.add(sent.name(k), f"its rack exceeds its {limit[k]:g} W at {sent.start_ps[k]} ps")


def _sharing(record: Record, rack: IntArray, row: IntArray) -> IntArray:
    """Who shares a transceiver: all transmissions of a rack, or those of one event."""
    if record.scenario.thz.sharing == "rack":
        return rack
    return rack + record.scenario.floor.racks * record.transmissions.event[row]


def _both_ends(record: Record) -> tuple[IntArray, IntArray]:
    """Sender and receiver of every transmission: the rack, and the transmission's row."""
    sent = record.transmissions
    row = np.tile(np.arange(len(sent), dtype=np.int64), 2)
    return np.concatenate((sent.src, sent.dst)), row


def _exceeds_power(record: Record, group: IntArray, limit_w: FloatArray) -> BoolArray:
    sent, most = record.transmissions, record.scenario.thz.max_power_w
    # A damaged record may hold anything: clip it far above every limit.
    share = np.clip(np.nan_to_num(sent.power_w / most), 0.0, 1000.0)
    units = np.rint(share * _POWER_UNITS).astype(np.int64)
    limit = np.floor(limit_w / most * (1 + TOLERANCE) * _POWER_UNITS).astype(np.int64) + 1
    return _exceeds(group, sent.start_ps, sent.end_ps, units, limit)


def _exceeds(
    group: IntArray, start: IntArray, end: IntArray, weight: IntArray, limit: IntArray
) -> BoolArray:
    """Intervals at whose start the weights of all open intervals of their group are too much."""
    count = len(group)
    member = np.tile(np.arange(count, dtype=np.int64), 2)
    opens = np.repeat(np.array([False, True]), count)
    order = np.lexsort((opens, np.concatenate((end, start)), group[member]))
    member, opens = member[order], opens[order]
    # Every group's weights cancel out in the end, so one running sum serves them all.
    level = np.cumsum(np.where(opens, weight[member], -weight[member]))
    broken = np.zeros(count, dtype=np.bool_)
    broken[member[opens & (level > limit[member])]] = True
    return broken


_ROUNDING_PS = 8
"""By so much a round may be longer than the shortest possible one."""


def power_needed(record: Record, findings: Findings) -> None:
    """No transmission has more power than it needs for its bytes (eq:ar_optimal_power)."""
    sent, rounds = record.transmissions, record.rounds
    row = np.flatnonzero((sent.round >= 0) & (sent.chunks > 0) & (sent.bytes > 0))
    declared = rounds.discipline[sent.round[row]]
    # Each chunk's duration was rounded up to a picosecond.
    least = capacity_bits(record, row, shorten_ps=sent.chunks[row] + 1) / (8.0 * sent.bytes[row])
    slowest = np.full(len(rounds), np.inf)
    np.minimum.at(slowest, sent.round[row], least)
    if record.rates.steps:  # the power of the lowest step that is fast enough
        least = snr_of(record, row) / _needed_snr(record, row, 0)
    exact = record.declares(declared, lambda told: told.power == "least")
    exact &= record.scenario.thz.radiation == "needed"
    bounded = record.declares(declared, lambda told: told.power != "budget")
    excess = np.where(exact, least, slowest[sent.round[row]])
    for k in findings.broken(bounded & (excess > 1 + TOLERANCE)):
        findings.add(sent.name(row[k]), f"its power is for {excess[k]:.9g} times its bytes")


def _needed_snr(record: Record, row: IntArray, shorten_ps: int) -> FloatArray:
    """Signal-to-noise ratio that transmissions need, or would need in a little less time."""
    sent, hz = record.transmissions, record.scenario.thz.subband_hz
    lasts_ps = np.maximum(sent.end_ps[row] - sent.start_ps[row] - shorten_ps, 1)
    return record.rates.needed(8e12 * sent.bytes[row] / (hz * lasts_ps))


def budget_used(record: Record, findings: Findings) -> None:
    """Where it is declared, the sender that sets a round's length uses all the power it may.

    That is its budget, or what other events leave of the rack's maximum. On steps, it uses so much
    that a shorter round would need more than this.
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
    if record.rates.steps:
        per_w = sent.gain[row] * heard_per_w(record, row)
        shorter_w = _needed_snr(record, row, _ROUNDING_PS) / per_w
        own_w = np.maximum(own_w, real_sum_by(group.ravel(), shorter_w, pair.shape[1]))
    share = own_w / np.maximum(allowed_w, 1e-300)
    best = np.zeros(len(rounds))
    np.maximum.at(best, pair[0], share)
    known = record.declares(rounds.discipline, lambda told: told.uses_budget) & (rounds.event >= 0)
    known[known] &= ~record.survey.moved[rounds.event[known]]
    for k in findings.broken(known & (best < 1 - _unused(record)) & (best > 0)):
        findings.add(rounds.name(k), f"no sender uses more than {best[k]:.9g} of the power it may")


def _unused(record: Record) -> FloatArray:
    """Share of the power that whole picoseconds leave unused; it is large in a short round.

    A transmission of b bits in T needs power in proportion to exp(x) - 1, x = ln2 b / (B T), and
    near the ratio of signal to distortion still more.
    """
    sent, rounds = record.transmissions, record.rounds
    lasts_ps = np.maximum(rounds.end_ps - rounds.start_ps - rounds.overhead_ps, 1)
    steepest = np.zeros(len(rounds))
    row = np.flatnonzero(sent.round >= 0)
    bits_per_hz = np.log(2) * 8e12 * sent.bytes[row] / record.scenario.thz.subband_hz
    steep = 1 + bits_per_hz / lasts_ps[sent.round[row]]
    np.maximum.at(steepest, sent.round[row], steep * (1 + snr_of(record, row) / record.rates.sndr))
    share: FloatArray = 1e-6 + _ROUNDING_PS * steepest / lasts_ps
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
