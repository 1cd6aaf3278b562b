"""Energy of events and iterations: sent, at the wall plug, and drawn in any case."""

from __future__ import annotations

from typing import Final

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.auditor.fibre import crossed_links, hops
from thzsync.auditor.findings import TOLERANCE, Findings
from thzsync.auditor.record import Record
from thzsync.auditor.rounds import snr_of
from thzsync.auditor.rows import Transmissions
from thzsync.auditor.tables import Table, real_sum_by, sum_by
from thzsync.carriers import THZ

STATIC: Final = ("fibre_static_j", "thz_static_j", "further_static_j", "rack_static_j")
"""Columns of an iteration whose sum is its static energy."""


def energy(record: Record, findings: Findings) -> None:
    """Energy and bytes of an event on every carrier (eq:thz_energy, eq:optical_energy)."""
    events, chunks, given = record.events, record.chunks, record.scenario.energy
    valid, count = chunks.event >= 0, len(events)
    rows = {
        "wired_bytes": np.flatnonzero(valid & chunks.wired),
        "thz_bytes": np.flatnonzero(valid & chunks.thz),
        "further_bytes": np.flatnonzero(valid & (chunks.carrier > THZ)),
    }
    size = {name: sum_by(chunks.event[row], chunks.bytes[row], count) for name, row in rows.items()}
    for column, carried in size.items():
        findings.compare(events, column, carried.astype(np.float64))

    sent = record.transmissions
    known = np.flatnonzero(sent.event >= 0)
    joule = sent.power_w * (sent.end_ps - sent.start_ps) * 1e-12
    thz_j = real_sum_by(sent.event[known], joule[known], count)
    findings.compare(events, "thz_energy_j", thz_j)
    electronics_w = given.thz.front_end_w * _in_use_s(sent, count)
    sent_bits = 8.0 * size["thz_bytes"] + _sent_again_bits(record)
    digital_j = given.thz.baseband_j_per_bit * sent_bits
    findings.compare(
        events, "thz_wall_j", electronics_w + digital_j + thz_j / given.thz.amplifier_efficiency
    )
    wired = rows["wired_bytes"]
    crossed = hops(record, chunks.flow[wired])
    byte_hops = sum_by(chunks.event[wired], chunks.bytes[wired] * crossed, count)
    optical_j, optical_wall_j = fibre_j(record, 8 * byte_hops, 8 * size["wired_bytes"])
    findings.compare(events, "optical_energy_j", optical_j)
    findings.compare(events, "optical_wall_j", optical_wall_j)

    others = record.sendings
    known = np.flatnonzero(others.event >= 0)
    further_j = real_sum_by(others.event[known], others.energy_j[known], count)
    findings.compare(events, "further_energy_j", further_j)
    wall_j = others.energy_j.copy()
    for number, name in enumerate(record.scenario.carriers[1:], THZ + 1):
        told = record.run.carriers.get(name)
        if told is not None and told.wall_j_per_bit is not None:
            own = others.carrier == number
            wall_j[own] = 8.0 * told.wall_j_per_bit * others.bytes[own]
    further_wall_j = real_sum_by(others.event[known], wall_j[known], count)
    findings.compare(events, "further_wall_j", further_wall_j)


def fibre_j(record: Record, bit_hops: IntArray, bits: IntArray) -> tuple[FloatArray, FloatArray]:
    """Transmission and wall-plug energy of bits that cross links, and one switch fewer."""
    fibre, per_hop_j = record.scenario.energy.fibre, record.scenario.optical.energy_j_per_bit_hop
    link_j = per_hop_j if fibre.link_j_per_bit is None else fibre.link_j_per_bit
    crossed, passed = bit_hops.astype(np.float64), (bit_hops - bits).astype(np.float64)
    return per_hop_j * crossed, link_j * crossed + fibre.switch_j_per_bit * passed


def _sent_again_bits(record: Record) -> FloatArray:
    """Per event what its transmissions sent beyond what they delivered."""
    sent, steps = record.transmissions, record.rates.steps
    known = np.flatnonzero(sent.event >= 0)
    lost = np.array([*(step.error_rate for step in steps), 0.0])
    part = lost[record.rates.step(snr_of(record, known))]
    again = 8.0 * sent.bytes[known] * part / (1 - part)
    return real_sum_by(sent.event[known], again, len(record.events))


def _in_use_s(sent: Transmissions, events: int) -> FloatArray:
    """Per event the sum of its transmissions' times, guard times included [s]."""
    known = np.flatnonzero(sent.event >= 0)
    in_use_ps = sum_by(sent.event[known], (sent.end_ps - sent.taken_ps)[known], events)
    return in_use_ps.astype(np.float64) * 1e-12


def static(record: Record, findings: Findings) -> None:
    """Static energy: watts of every device times time, less what sleep saves while not in use.

    An event pays for its racks while it lasts, an iteration for all racks of its job.
    """
    events, table, owner = record.events, record.iterations, record.event_owner
    link_s = _link_s(record)
    in_use_s = _in_use_s(record.transmissions, len(events))
    lasts_s = (events.end_ps - events.release_ps) * 1e-12
    parts = _parts(record, events.racks.lengths, lasts_s, link_s, in_use_s)
    _within(events, "static_j", sum(parts, np.zeros(len(events))), findings)

    mine = owner >= 0

    def total(values: FloatArray) -> FloatArray:
        return real_sum_by(owner[mine], values[mine], len(table))

    racks = np.array([_racks(record, job) for job in table.jobs], dtype=np.int64)[table.job]
    lasts_s, link_s = (table.end_ps - table.start_ps) * 1e-12, np.stack(list(map(total, link_s)))
    parts = _parts(record, racks, lasts_s, link_s, total(in_use_s))
    for name, part in zip(STATIC, parts, strict=True):
        _within(table, name, part, findings)


def _parts(
    record: Record, racks: IntArray, lasts_s: FloatArray, link_s: FloatArray, in_use_s: FloatArray
) -> list[FloatArray]:
    """Energy of fibre, THz, further carriers and racks; of fibre at least and at most."""
    given, network, share = record.scenario.energy, record.paths.network, racks / record.racks
    fibre, thz = given.fibre, given.thz
    chains = racks * record.scenario.thz.chains
    told = record.run.carriers
    names = [name for name in record.scenario.carriers if name in told]
    modules_w = fibre.idle_w_per_port * len(record.paths.real) * share
    modules_j = (1 - fibre.sleep_share) * modules_w * lasts_s
    modules_j = modules_j + fibre.sleep_share * fibre.idle_w_per_port * link_s
    both_ends_s = 2 * in_use_s
    chains_j = (1 - thz.sleep_share) * chains * lasts_s + thz.sleep_share * both_ends_s
    return [
        modules_j + fibre.idle_w_per_switch * network.switches * share * lasts_s,
        thz.idle_w * chains_j,
        sum(told[name].idle_w for name in names) * share * lasts_s,
        given.racks.idle_w * racks * lasts_s,
    ]


def _link_s(record: Record) -> FloatArray:
    """Per event the time that links took to send its bytes, at least and at most [s].

    Where a hash picks one of several links, their rates may differ.
    """
    flows, found = record.flows, np.zeros((2, len(record.events)))
    if not record.scenario.energy.fibre.sleep_share:
        return found
    link, flow, surely = crossed_links(record, np.arange(len(flows)))
    per_bit_s = 1 / np.maximum(record.paths.rate_bps[link], 1)
    sure_s = np.bincount(flow[surely], per_bit_s[surely], len(flows))
    choices = hops(record, np.arange(len(flows))) - np.bincount(flow[surely], minlength=len(flows))
    known, bits = flows.event >= 0, (8 * record.survey.wired_bytes).astype(np.float64)
    for bound, (extreme, start) in enumerate(((np.minimum, np.inf), (np.maximum, 0.0))):
        one_s = np.full(len(flows), start)
        extreme.at(one_s, flow[~surely], per_bit_s[~surely])
        path_s = bits * (sure_s + np.where(choices > 0, choices * one_s, 0.0))
        found[bound] = real_sum_by(flows.event[known], path_s[known], len(record.events))
    return found


def _within(rows: Table, column: str, bounds: FloatArray, findings: Findings) -> None:
    """Count one fact per number of a column: it lies between two bounds but for rounding."""
    told: FloatArray = getattr(rows, column)
    low, high = np.broadcast_to(bounds, (2, len(told)))
    slack = TOLERANCE * np.abs(high) + 1e-12
    for k in findings.broken(~((told >= low - slack) & (told <= high + slack))):
        findings.add(
            rows.name(k), f"{column} is {told[k]:.9g}, should be {low[k]:.9g} to {high[k]:.9g}"
        )


def _racks(record: Record, name: str) -> int:
    """How many racks a job owns."""
    floor = record.scenario.floor
    for job in record.scenario.jobs:
        if job.name == name:
            if job.stages is not None:
                return sum(map(len, job.stages))
            groups = job.rings or floor.groups - job.first_ring
            return groups * (job.lanes or floor.lanes - job.first_lane)
    return 0
