"""The rules of the air: half duplex, RF chains, power and enough time for the bytes."""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from thzsync.arrays import PS_PER_S, FloatArray, IntArray
from thzsync.errors import ThzSyncError
from thzsync.scenario import Thz
from thzsync.transfers.schedule import Schedule

_TOLERANCE = 1e-9
"""Relative slack for sums of floats; nothing physical hides in it."""


def check_airtime(schedule: Schedule, thz: Thz, budget_w: FloatArray | None = None) -> None:
    """Refuse a schedule that a transceiver with these properties could not have played.

    A transmission occupies its racks' subband over [start, end) and sends, after the guard time,
    over [start + overhead, end).
    """
    subband = schedule.subband
    for n in np.flatnonzero((subband < 0) | (subband >= thz.subbands))[:1]:
        refuse(schedule, n, f"uses subband {subband[n]}; there are 0..{thz.subbands - 1}")
    _check_bytes(schedule, thz)
    _check_half_duplex(schedule, thz)
    _check_chains(schedule, thz)
    _check_power(schedule, thz, budget_w)


def describe(schedule: Schedule, n: int) -> str:
    """One transmission in words: who sends what to whom, where and when."""
    plan, f = schedule.plan, schedule.flow[n]
    return (
        f"transmission {n} ({plan.src[f]}->{plan.dst[f]}, flow {f}, subband {schedule.subband[n]}, "
        f"round {schedule.round[n]}, {schedule.start_ps[n]}-{schedule.end_ps[n]} ps)"
    )


def refuse(schedule: Schedule, n: int, what: str) -> NoReturn:
    """Raise with the transmission and what is wrong with it."""
    raise ThzSyncError(f"{schedule.plan.kind} schedule: {describe(schedule, n)} {what}")


def _check_bytes(schedule: Schedule, thz: Thz) -> None:
    """rate * airtime >= bytes (eq:thz_rate) at the recorded gain."""
    from thzsync.channel import law_of, rates_bps  # compiled: not for who only asks names

    plan = schedule.plan
    for name in ("power_w", "gain", "noise_w"):
        column = getattr(schedule, name)
        for n in np.flatnonzero(~(np.isfinite(column) & (column >= 0)))[:1]:
            refuse(schedule, n, f"has {name} {column[n]:g}; it must be finite and not negative")
    airtime_s = (schedule.end_ps - schedule.start_ps - schedule.overhead_ps) / PS_PER_S
    for n in np.flatnonzero(airtime_s <= 0)[:1]:
        refuse(
            schedule, n, f"has no time left after the guard time of {schedule.overhead_ps[n]} ps"
        )
    antenna_gain = 10 ** (np.array(thz.antenna_gains_db)[schedule.subband] / 10)
    snr = schedule.power_w * antenna_gain * schedule.gain / schedule.noise_w
    sent_bits = rates_bps(snr, law_of(thz)) * airtime_s
    first = plan.first_chunk[schedule.flow] + schedule.first_chunk
    offset = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(plan.chunk_sizes)))
    size_bits = 8 * (offset[first + schedule.chunks] - offset[first])
    for n in np.flatnonzero(sent_bits < size_bits * (1 - _TOLERANCE))[:1]:
        refuse(schedule, n, f"carries {sent_bits[n]:.6g} bits in its time, not {size_bits[n]}")


def _check_half_duplex(schedule: Schedule, thz: Thz) -> None:
    """A rack does one thing at a time on a subband (eq:half_duplex_constraint)."""
    plan, rows = schedule.plan, len(schedule.flow)
    rack = np.concatenate((plan.src[schedule.flow], plan.dst[schedule.flow]))
    place = rack * thz.subbands + np.tile(schedule.subband, 2)
    start_ps, end_ps = np.tile(schedule.start_ps, 2), np.tile(schedule.end_ps, 2)
    order = np.lexsort((start_ps, place))
    same = place[order[1:]] == place[order[:-1]]
    for m in np.flatnonzero(same & (start_ps[order[1:]] < end_ps[order[:-1]]))[:1]:
        n, other = order[m + 1] % rows, order[m] % rows
        refuse(
            schedule,
            n,
            f"begins while rack {rack[order[m]]} is busy on that subband with "
            f"{describe(schedule, other)}",
        )


def _check_chains(schedule: Schedule, thz: Thz) -> None:
    """A rack takes part in at most N_RF transmissions at once (eq:a2a_rf_limit)."""
    plan, rows = schedule.plan, len(schedule.flow)
    rack = np.concatenate((plan.src[schedule.flow], plan.dst[schedule.flow]))
    one = np.ones(2 * rows)
    row, busy = _sweep(rack, np.tile(schedule.start_ps, 2), np.tile(schedule.end_ps, 2), one)
    for m in np.flatnonzero(busy > thz.chains + 0.5)[:1]:
        refuse(
            schedule,
            row[m] % rows,
            f"makes rack {rack[row[m]]} need more than its {thz.chains} RF chains",
        )


def _check_power(schedule: Schedule, thz: Thz, budget_w: FloatArray | None) -> None:
    """A sender's power over all its transmissions stays within its limit (eq:power_constraint)."""
    plan = schedule.plan
    rack = plan.src[schedule.flow]
    limit_w = np.full(len(plan.racks), thz.max_power_w)
    if budget_w is not None:
        limit_w = np.minimum(limit_w, budget_w)
    begin_ps = schedule.start_ps + schedule.overhead_ps
    row, total_w = _sweep(rack, begin_ps, schedule.end_ps, schedule.power_w)
    allowed_w = limit_w[np.searchsorted(plan.racks, rack[row])]
    for m in np.flatnonzero(total_w > allowed_w + _TOLERANCE * thz.max_power_w)[:1]:
        refuse(
            schedule,
            row[m],
            f"raises the power of rack {rack[row[m]]} to {total_w[m]:.6g} W, "
            f"above {allowed_w[m]:.6g} W",
        )


def _sweep(
    rack: IntArray, begin_ps: IntArray, end_ps: IntArray, weight: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Weight in use at a rack after each begin: (row, total). Ends come before begins at ties."""
    rows = len(rack)
    is_begin = np.repeat(np.array([True, False]), rows)
    time_ps = np.concatenate((begin_ps, end_ps))
    order = np.lexsort((is_begin, time_ps, np.tile(rack, 2)))
    running = np.cumsum(np.concatenate((weight, -weight))[order])
    begins = is_begin[order]
    return order[begins] % max(rows, 1), running[begins]
