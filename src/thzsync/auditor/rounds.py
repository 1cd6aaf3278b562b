"""Wireless rounds and their transmissions against the channel and the clock."""

from __future__ import annotations

import numpy as np

from thzsync.arrays import BoolArray, FloatArray, IntArray, to_ps
from thzsync.auditor.findings import TOLERANCE, Findings
from thzsync.auditor.record import Record
from thzsync.auditor.tables import spread, sum_by


def gain(record: Record, findings: Findings) -> None:
    """The recorded gain is the channel's at the round's start."""
    sent = record.transmissions
    inside = record.on_floor(sent.src, sent.dst) & (sent.src != sent.dst)
    inside &= (sent.subband >= 0) & (sent.subband < record.scenario.thz.subbands)
    row = np.flatnonzero(inside)
    expected = _channel_gain(record, row)
    found = sent.gain[row]
    for k in findings.broken(~np.isclose(found, expected, rtol=TOLERANCE, atol=0)):
        findings.add(sent.name(row[k]), f"gain {found[k]:.9g}, the channel had {expected[k]:.9g}")


def _channel_gain(record: Record, row: IntArray) -> FloatArray:
    """What the channel gives for these transmissions, asked once per instant."""
    sent, gains = record.transmissions, np.empty(len(row))
    instants, count = np.unique(sent.taken_ps[row], return_counts=True)
    order = np.split(np.argsort(sent.taken_ps[row], kind="stable"), np.cumsum(count)[:-1])
    for instant, some in zip(instants.tolist(), order, strict=bool(len(row))):
        table = record.channel.gains(sent.src[row[some]], sent.dst[row[some]], instant)
        gains[some] = table[np.arange(len(some)), sent.subband[row[some]]]
    return gains


def rate(record: Record, findings: Findings) -> None:
    """A transmission lasts long enough for its bytes at its power and gain (eq:thz_rate)."""
    sent = record.transmissions
    capacity = capacity_bits(record, np.arange(len(sent)))
    for k in findings.broken(~(8.0 * sent.bytes <= capacity * (1 + TOLERANCE))):
        findings.add(sent.name(k), f"carries {8 * sent.bytes[k]} of {capacity[k]:.1f} bit")


def capacity_bits(record: Record, row: IntArray, shorten_ps: IntArray | int = 0) -> FloatArray:
    """What transmissions could have carried in their time, or in a little less (eq:thz_rate)."""
    sent, per_hz = record.transmissions, record.rates.efficiency(snr_of(record, row))
    bps = record.scenario.thz.subband_hz * per_hz
    return bps * (sent.end_ps[row] - sent.start_ps[row] - shorten_ps) * 1e-12


def snr_of(record: Record, row: IntArray) -> FloatArray:
    """Signal-to-noise ratio of transmissions at their recorded power and gain."""
    sent = record.transmissions
    snr: FloatArray = np.maximum(sent.power_w[row] * sent.gain[row], 0) * heard_per_w(record, row)
    return snr


def steps(record: Record, findings: Findings) -> None:
    """The recorded step is the fastest one of the rate law that the power carries, if any."""
    sent, steps = record.transmissions, record.rates.steps
    used = record.rates.step(snr_of(record, np.arange(len(sent))))
    names = np.array([*(step.name for step in steps), ""], dtype=object)[used]
    losses = np.array([*(step.error_rate for step in steps), 0.0])[used]
    wrong = (sent.step != names) | ~np.isclose(sent.error_rate, losses, rtol=TOLERANCE, atol=0)
    for k in findings.broken(wrong):
        told = f"{sent.step[k]!r} with {sent.error_rate[k]:g} lost"
        findings.add(sent.name(k), f"step {told}, its power carries {names[k]!r}, {losses[k]:g}")


def snr_per_w(record: Record) -> FloatArray:
    """Signal-to-noise ratio per watt that a channel of gain 1 can have, by subband [1/W].

    Between beams that disturb each other it is less by the headroom, even on a silent air.
    """
    thz = record.scenario.thz
    headroom_db = thz.interference_headroom_db if thz.interference == "beams" else 0.0
    return antenna_gain(record) / noise_w(record) / 10 ** (headroom_db / 10)


def heard_per_w(record: Record, row: IntArray) -> FloatArray:
    """The same at the level that transmissions were promised."""
    sent, thz = record.transmissions, record.scenario.thz
    # a damaged record may hold anything
    promised_w = sent.noise_w[row] if thz.interference == "beams" else noise_w(record)
    subband = np.clip(sent.subband[row], 0, thz.subbands - 1)
    found: FloatArray = antenna_gain(record)[subband] / np.maximum(promised_w, 1e-300)
    return found


def noise_w(record: Record) -> float:
    """Thermal noise and constant interference in a subband [W]."""
    thz = record.scenario.thz
    thermal_dbm = thz.noise_psd_dbm_per_hz + thz.noise_figure_db
    return float(10 ** ((thermal_dbm - 30) / 10) * thz.subband_hz + thz.interference_w)


def antenna_gain(record: Record) -> FloatArray:
    """Gain of both antennas of a link, less what mispointing loses, by subband."""
    thz, antenna = record.scenario.thz, record.scenario.thz.antenna
    above_hz = thz.subband_hz * (np.arange(thz.subbands) + 0.5)
    half_hz = thz.subband_hz * thz.subbands / 2
    squint = np.abs(above_hz - half_hz) / (thz.band_start_hz + half_hz)
    turned_rad = np.tan(antenna.scan_angle_deg * np.pi / 180) * squint
    off_deg = np.minimum(antenna.pointing_error_deg + turned_rad * 180 / np.pi, 180.0)
    both = np.zeros(thz.subbands)
    for gain_dbi in (thz.transmit_gain_db, thz.receive_gain_db):
        both += gain_dbi - np.where(off_deg > 0, antenna.loss_db(off_deg, gain_dbi), 0.0)
    return 10 ** (both / 10)


def _guard_s(record: Record) -> float:
    """Time for guard and turning at the start of a round [s]."""
    thz = record.scenario.thz
    return thz.round_overhead_s + thz.antenna.steering_s


def transmission_bytes(record: Record, findings: Findings) -> None:
    """A transmission carries recorded chunks of its flow, from end to end of it."""
    sent, chunks, flows = record.transmissions, record.chunks, record.flows
    first_row, carried = sent.carried(chunks)
    for k in findings.broken((sent.flow >= 0) & (carried == 0)):
        told = f"{sent.chunks[k]} chunks from {sent.first_chunk[k]} on"
        findings.add(sent.name(k), f"its flow lacks some of {told}")
    owner, row = spread(first_row, carried)
    size = sum_by(owner, chunks.bytes[row], len(sent))
    whole = np.flatnonzero(carried)
    findings.equal(sent.bytes[whole], size[whole], sent.at(whole), "sum of the chunks' bytes")
    known = np.flatnonzero(sent.flow >= 0)
    flow = sent.flow[known]
    wrong = (sent.src[known] != flows.src[flow]) | (sent.dst[known] != flows.dst[flow])
    for k in findings.broken(wrong):
        findings.add(sent.name(known[k]), f"its flow: {flows.src[flow[k]]} -> {flows.dst[flow[k]]}")


def round_span(record: Record, findings: Findings) -> None:
    """A round is its overhead, then transmissions that start together and fit into it.

    Where a discipline has no rounds, each transmission is recorded as one.
    """
    _overhead(record, findings)
    rounds, sent = record.rounds, record.transmissions
    known = np.flatnonzero(sent.round >= 0)
    owner = sent.round[known]
    begins, ends = sent.start_ps[known], sent.end_ps[known]
    wrong = begins != rounds.start_ps[owner] + rounds.overhead_ps[owner]
    wrong |= (ends < begins) | (ends > rounds.end_ps[owner])
    for k in findings.broken(wrong):
        findings.add(sent.name(known[k]), f"from {begins[k]} to {ends[k]} ps, outside its round")
    last = rounds.start_ps.copy()
    np.maximum.at(last, owner, ends)
    findings.not_before(last, rounds.end_ps, rounds.name, "last transmission ends", "round")
    found = np.bincount(owner, minlength=len(rounds))
    for k in findings.broken((rounds.transmissions != found) | (found == 0)):
        findings.add(rounds.name(k), f"counts {rounds.transmissions[k]}, recorded are {found[k]}")


def _overhead(record: Record, findings: Findings) -> None:
    """The overhead of a round is the guard time or 0, as its discipline declares."""
    rounds, overhead_ps = record.rounds, record.rounds.overhead_ps
    guard_ps = to_ps(_guard_s(record))
    always = record.declares(rounds.discipline, lambda told: told.guarded)
    never = record.declares(rounds.discipline, lambda told: not (told.guarded or told.steers))
    wrong = ~np.isin(overhead_ps, (0, guard_ps))
    wrong |= (always & (overhead_ps != guard_ps)) | (never & (overhead_ps != 0))
    for k in findings.broken(wrong | (rounds.end_ps < rounds.start_ps + overhead_ps)):
        findings.add(rounds.name(k), f"overhead {overhead_ps[k]} ps, unlike {rounds.discipline[k]}")


def round_order(record: Record, findings: Findings) -> None:
    """Common rounds of an event and discipline do not overlap; each ends as a whole."""
    rounds, sent = record.rounds, record.transmissions
    common = record.declares(rounds.discipline, lambda told: told.common)
    single = record.declares(rounds.discipline, lambda told: not told.common)
    for k in findings.broken(np.where(rounds.common, single, common)):
        findings.add(rounds.name(k), f"its rounds are {'' if rounds.common[k] else 'not '}common")
    row = np.flatnonzero(rounds.common)
    _, kind = np.unique(rounds.discipline[row].astype(str), return_inverse=True)
    order = np.lexsort((rounds.start_ps[row], kind, rounds.number[row]))
    row, kind = row[order], kind[order]
    a, b = row[:-1], row[1:]
    same = (rounds.number[a] == rounds.number[b]) & (kind[:-1] == kind[1:])
    for k in findings.broken(same & (rounds.start_ps[b] < rounds.end_ps[a])):
        findings.add(rounds.name(b[k]), f"starts before round {rounds.round[a[k]]} has ended")
    known = np.flatnonzero(sent.round >= 0)
    known = known[rounds.common[sent.round[known]]]
    owner = sent.round[known]
    findings.equal(sent.end_ps[known], rounds.end_ps[owner], sent.at(known), "its end [ps]")


def discipline(record: Record, findings: Findings) -> None:
    """A transmission follows the discipline that its flow declares."""
    sent, rounds, flows = record.transmissions, record.rounds, record.flows
    row = np.flatnonzero((sent.round >= 0) & (sent.flow >= 0))
    used, declared = rounds.discipline[sent.round[row]], flows.discipline[sent.flow[row]]
    for k in findings.broken(used != declared):
        findings.add(sent.name(row[k]), f"sent by {used[k]}, its flow declares {declared[k]}")


def in_turn(record: Record, findings: Findings) -> None:
    """Where it is declared, a flow begins nothing while something of it is in the air."""
    sent, flows = record.transmissions, record.flows
    row = np.flatnonzero(sent.flow >= 0)
    row = row[record.declares(flows.discipline[sent.flow[row]], lambda told: told.in_turn)]
    row = row[np.lexsort((sent.end_ps[row], sent.taken_ps[row], sent.flow[row]))]
    a, b = row[:-1], row[1:]
    begins = (sent.flow[a] == sent.flow[b]) & (sent.taken_ps[a] != sent.taken_ps[b])
    for k in findings.broken(begins & (sent.taken_ps[b] < sent.end_ps[a])):
        findings.add(sent.name(b[k]), f"begins while its flow sends until {sent.end_ps[a[k]]} ps")


def steering(record: Record, findings: Findings) -> None:
    """A discipline that steers has the guard time exactly where an RF chain turns to another rack.

    Other disciplines have it always or never, which ``round_span`` checks.
    """
    rounds = record.rounds
    row = np.flatnonzero(record.declares(rounds.discipline, lambda told: told.steers))
    turned = _turned(record)[row]
    expected_ps = np.where(turned, to_ps(_guard_s(record)), 0)
    findings.equal(rounds.overhead_ps[row], expected_ps, rounds.at(row), "guard time [ps]")


def _turned(record: Record) -> BoolArray:
    """Whether an RF chain of a round points at another rack than it did last.

    Events share the chains of a rack, or each has chains of its own.
    """
    sent, rounds = record.transmissions, record.rounds
    # Every transmission twice: as its sender's chain sees it, and as its receiver's does.
    row = np.tile(np.arange(len(sent)), 2)
    rack, faces = np.concatenate((sent.src, sent.dst)), np.concatenate((sent.dst, sent.src))
    chain = rack * record.scenario.thz.subbands + sent.subband[row]
    if record.scenario.thz.sharing == "event":
        chain += record.racks * record.scenario.thz.subbands * sent.event[row]
    order = np.lexsort((sent.taken_ps[row], chain))
    changes = np.ones(len(order), dtype=np.bool_)
    same_chain = chain[order[1:]] == chain[order[:-1]]
    changes[1:] = ~same_chain | (faces[order[1:]] != faces[order[:-1]])
    turned = np.zeros(len(rounds), dtype=np.bool_)
    owner = sent.round[row[order[changes]]]
    turned[owner[owner >= 0]] = True
    return turned
