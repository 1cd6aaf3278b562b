"""Minimum common duration and powers of one round (eq:a2a_power_allocation, eq:ar_optimal_power).

With the rate 1/duration as the unknown, the power a sender needs is a convex rising function.
The rate that its weakest link could have alone bounds the answer from above, and from there
Newton's steps fall monotonically onto it, so every step is a valid bracket: the same result as
expanding and bisecting, in four or five steps instead of forty.

Where a law has steps, a sender's shortest duration is that of one of its transmissions at one of
the steps: a little less time changes nothing else. So the shortest of those that fit is the answer.
"""

from __future__ import annotations

import math

import numpy as np

from thzsync.arrays import BoolArray, FloatArray, IntArray
from thzsync.channel.rate import Law, rate_bps, required_power_w
from thzsync.jit import inner, inner_bare, kernel

TOLERANCE = 1e-13
"""Relative step at which Newton stops; durations are then rounded up to whole picoseconds."""
NUDGE = 1.0 + 1e-12
"""Lifts powers above the rounding of expm1 and log1p, so that every chunk is really served."""
_STEPS = 100
_LEAST_ROOM = 1e-15  # rounding may put a rate on its ceiling, where power is infinite
_LN2 = math.log(2.0)
_PS = 1e12


@inner_bare
def needed_w(bits: float, span_s: float, snr_per_w: float, law: Law) -> float:
    """Least power [W] of one transmission, above rounding; steps are compared with slack."""
    nudge = NUDGE if len(law.step_snr) == 0 else 1.0
    return nudge * required_power_w(bits, span_s, snr_per_w, law)


@inner_bare
def sender_power_w(
    who: int, sender: IntArray, keep: BoolArray, bits: FloatArray, snr: FloatArray, span_s: float,
    law: Law,
) -> float:  # fmt: skip
    """Power [W] that one sender needs to finish its transmissions in ``span_s`` [s]."""
    total = 0.0
    for a in range(len(sender)):
        if keep[a] and sender[a] == who:
            total += needed_w(bits[a], span_s, snr[a], law)
    return total


@inner_bare
def fastest_rate(
    who: int, sender: IntArray, keep: BoolArray, bits: FloatArray, snr: FloatArray, cap_w: float,
    law: Law,
) -> float:  # fmt: skip
    """Largest 1 / duration [1/s] within one sender's power cap [W]."""
    if len(law.step_snr) > 0:
        return fastest_step_rate(who, sender, keep, bits, snr, cap_w, law)
    x = math.inf
    for a in range(len(sender)):
        if keep[a] and sender[a] == who:
            x = min(x, rate_bps(cap_w, snr[a], law) / bits[a])
    for _ in range(_STEPS):
        excess, slope = -cap_w, 0.0
        for a in range(len(sender)):
            if keep[a] and sender[a] == who:
                exponent = _LN2 * bits[a] / law.hz
                grown = math.expm1(exponent * x)
                room = max(1.0 - grown * law.distortion, _LEAST_ROOM)
                excess += grown / room / snr[a]
                slope += exponent * (grown + 1.0) / (room * room) / snr[a]
        step = excess / slope
        if step <= TOLERANCE * x:
            break
        x -= step
    return x


@inner_bare
def fastest_step_rate(
    who: int, sender: IntArray, keep: BoolArray, bits: FloatArray, snr: FloatArray, cap_w: float,
    law: Law,
) -> float:  # fmt: skip
    """The same on steps: every rate of every transmission is tried that may still be the one."""
    fits, fails = 0.0, math.inf
    for a in range(len(sender)):
        if keep[a] and sender[a] == who:
            for bps in law.step_bps:
                x = bps / bits[a]
                if fits < x < fails:
                    if sender_power_w(who, sender, keep, bits, snr, 1.0 / x, law) <= cap_w:
                        fits = x
                    else:
                        fails = x
    return fits


@inner_bare
def trim(
    sender: IntArray, keep: BoolArray, bits: FloatArray, snr: FloatArray, cap_w: FloatArray,
    law: Law, limit_s: float,
) -> None:  # fmt: skip
    """Leave out a sender's neediest transmissions until the others fit into the longest round."""
    for who in range(len(cap_w)):
        while sender_power_w(who, sender, keep, bits, snr, limit_s, law) > cap_w[who]:
            worst, most_w, count = -1, -1.0, 0
            for a in range(len(sender)):
                if keep[a] and sender[a] == who:
                    count += 1
                    need_w = required_power_w(bits[a], limit_s, snr[a], law)
                    if need_w > most_w:
                        worst, most_w = a, need_w
            if count == 1 and len(law.step_snr) == 0:  # alone it fits, but for rounding
                break
            keep[worst] = False


@inner
def optimal_duration_ps(
    sender: IntArray, keep: BoolArray, bits: FloatArray, snr: FloatArray, cap_w: FloatArray,
    law: Law,
) -> int:  # fmt: skip
    """Shortest common duration in whole picoseconds under every power cap."""
    slowest = math.inf  # of the senders' fastest rates
    seen = np.zeros(len(cap_w), dtype=np.bool_)
    for a in range(len(sender)):
        who = sender[a]
        if not keep[a] or seen[who]:
            continue
        seen[who] = True
        fits = slowest < math.inf and (
            sender_power_w(who, sender, keep, bits, snr, 1.0 / slowest, law) <= cap_w[who]
        )
        if not fits:
            slowest = min(slowest, fastest_rate(who, sender, keep, bits, snr, cap_w[who], law))
    duration_ps = math.ceil(_PS / slowest)
    longer = 1
    for who in range(len(cap_w)):  # rounding may ask for a picosecond more
        while seen[who] and (
            sender_power_w(who, sender, keep, bits, snr, duration_ps / _PS, law) > cap_w[who]
        ):
            duration_ps += longer
            longer *= 2
    return duration_ps


@inner
def equal_powers_w(
    sender: IntArray, keep: BoolArray, snr: FloatArray, cap_w: FloatArray, law: Law
) -> FloatArray:
    """Every sender's cap [W], split equally over its transmissions.

    One that its share would not bring to the first step is left out, the weakest first.
    """
    while True:
        count = np.zeros(len(cap_w), dtype=np.int64)
        for a in range(len(sender)):
            count[sender[a]] += keep[a]
        # A hair below, so that the sum stays within the cap.
        share_w = cap_w / np.maximum(count, 1) * (1.0 - 1e-12)
        power_w = np.where(keep, share_w[sender], 0.0)
        weakest = -1
        for a in range(len(sender)):
            silent = keep[a] and rate_bps(power_w[a], snr[a], law) == 0.0
            if silent and (weakest < 0 or snr[a] < snr[weakest]):
                weakest = a
        if weakest < 0:
            return power_w
        keep[weakest] = False


@inner_bare
def equal_duration_ps(
    sender: IntArray, keep: BoolArray, bits: FloatArray, snr: FloatArray, power_w: FloatArray,
    law: Law,
) -> int:  # fmt: skip
    """Duration of the slowest transmission at the given powers, in whole picoseconds."""
    longest_s = 0.0
    for a in range(len(sender)):
        if keep[a]:
            longest_s = max(longest_s, bits[a] / rate_bps(power_w[a], snr[a], law))
    return math.ceil(longest_s * _PS * (1.0 + 1e-15))


@kernel
def allocate(
    sender: IntArray, bits: FloatArray, snr: FloatArray, cap_w: FloatArray, law: Law,
    limit_s: float, optimal: bool,
) -> tuple[BoolArray, FloatArray, int]:  # fmt: skip
    """Which transmissions stay in the round, their powers [W] and the common duration [ps]."""
    keep = np.ones(len(sender), dtype=np.bool_)
    trim(sender, keep, bits, snr, cap_w, law, limit_s)
    if not optimal:
        power_w = equal_powers_w(sender, keep, snr, cap_w, law)
        return keep, power_w, equal_duration_ps(sender, keep, bits, snr, power_w, law)
    duration_ps = optimal_duration_ps(sender, keep, bits, snr, cap_w, law)
    power_w = np.zeros(len(sender))
    for a in range(len(sender)):
        if keep[a]:
            power_w[a] = needed_w(bits[a], duration_ps / _PS, snr[a], law)
    return keep, power_w, duration_ps


@kernel
def radiate_all(sender: IntArray, keep: BoolArray, cap_w: FloatArray, power_w: FloatArray) -> None:
    """Raise every sender's powers in proportion, until their sum is its cap; in place."""
    total_w = np.zeros(len(cap_w))
    for a in range(len(sender)):
        if keep[a]:
            total_w[sender[a]] += power_w[a]
    for a in range(len(sender)):
        who = sender[a]
        if keep[a] and total_w[who] < cap_w[who]:
            # A hair below, so that the sum stays within the cap.
            power_w[a] = max(power_w[a], power_w[a] * (cap_w[who] / total_w[who]) * (1.0 - 1e-12))
