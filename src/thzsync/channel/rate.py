"""Power to rate and back on one subband (eq:thz_rate), as scalar kernels.

``log1p`` and ``expm1`` keep full accuracy for weak links, where 1 + SNR would round to 1.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.elementary import log1p, log2
from thzsync.jit import bare
from thzsync.scenario import Thz
from thzsync.scenario.rates import fastest

_LN2 = math.log(2.0)
REACHED = 1.0 - 1e-12
"""Part of its ratio at which a step counts as reached, since rounding may have led there."""
_LARGEST_EXPONENT = 700.0  # exp() overflows a little above; no transmitter has that power


class Law(NamedTuple):
    """How the rate of a subband follows from its signal-to-noise ratio."""

    hz: float
    """Bandwidth of a subband [Hz]."""
    distortion: float = 0.0
    """Inverse of the ratio of signal to distortion, which no power exceeds; 0 for none."""
    step_snr: FloatArray = np.empty(0)
    """Least signal-to-noise ratio of every step, rising; no steps for Shannon's law."""
    step_bps: FloatArray = np.empty(0)
    """Net rate of every step [bit/s], rising."""


def law_of(thz: Thz) -> Law:
    """The rate law of a transceiver."""
    distortion = 0.0 if thz.rate.sndr_db is None else 10 ** (-thz.rate.sndr_db / 10)
    if not (steps := fastest(thz.rate.steps())):
        return Law(thz.subband_hz, distortion)
    effective = np.array([10 ** (step.snr_db / 10) for step in steps])
    with np.errstate(divide="ignore"):  # no power reaches a step beyond the distortion
        snr = effective / np.maximum(1 - effective * distortion, 0.0)
    step_bps = np.array([step.efficiency * thz.subband_hz for step in steps])
    return Law(thz.subband_hz, distortion, snr, step_bps)


def link_budget_per_w(thz: Thz) -> FloatArray:
    """G / (N_0 B_c + I), the signal-to-noise ratio per watt at unit channel gain, by subband [1/W].

    G is the gain of both antennas, as they point.
    """
    return np.array([10 ** (gain_db / 10) / thz.noise_w for gain_db in thz.antenna_gains_db])


def silent_budget_per_w(thz: Thz) -> FloatArray:
    """The same for a transmission that begins on a silent air, with its headroom [1/W].

    No transmission is promised more.
    """
    return link_budget_per_w(thz) / thz.headroom


@bare
def snr_per_watt(gain: float, receive_gain: float, noise_w: float) -> float:
    """Signal-to-noise ratio per transmitted watt [1/W] (eq:thz_rate)."""
    return receive_gain * gain / noise_w


@bare
def rate_bps(power_w: float, snr_per_w: float, law: Law) -> float:
    """Achievable rate [bit/s] at a transmit power [W] (eq:thz_rate); 0 below the first step."""
    snr = power_w * snr_per_w
    if len(law.step_snr) == 0:
        return law.hz * math.log1p(snr / (1.0 + snr * law.distortion)) / _LN2
    reached = 0
    while reached < len(law.step_snr) and snr >= law.step_snr[reached] * REACHED:
        reached += 1
    return float(law.step_bps[reached - 1]) if reached > 0 else 0.0


@bare
def required_power_w(size_bits: float, duration_s: float, snr_per_w: float, law: Law) -> float:
    """Least power [W] that sends ``size_bits`` in ``duration_s``; inf if no power does.

    eq:a2a_required_power.
    """
    if size_bits <= 0.0:
        return 0.0
    if duration_s <= 0.0 or snr_per_w <= 0.0:
        return math.inf
    if len(law.step_snr) > 0:
        for k in range(len(law.step_snr)):
            if law.step_bps[k] * duration_s >= size_bits * REACHED:
                return float(law.step_snr[k] / snr_per_w)
        return math.inf
    exponent = _LN2 * size_bits / (law.hz * duration_s)
    if exponent > _LARGEST_EXPONENT:
        return math.inf
    effective = math.expm1(exponent)
    room = 1.0 - effective * law.distortion
    return effective / room / snr_per_w if room > 0.0 else math.inf


@bare
def efficiency_at(snr: float, law: Law) -> float:
    """Bits per second and hertz at a signal-to-noise ratio."""
    if len(law.step_snr) > 0:
        return rate_bps(snr, 1.0, law) / law.hz
    return math.log2(1.0 + snr / (1.0 + snr * law.distortion))


@bare
def saving_power_w(power_w: float, snr_per_w: float, law: Law) -> float:
    """Least power [W] with the same rate: on steps, what a power above its step wastes is saved."""
    found_w = power_w if len(law.step_snr) == 0 else 0.0
    for snr in law.step_snr:
        if power_w * snr_per_w >= snr * REACHED:
            found_w = min(power_w, snr / snr_per_w)
    return found_w


def saving_powers_w(power_w: FloatArray, snr_per_w: FloatArray, law: Law) -> FloatArray:
    """The same for arrays."""
    if not len(law.step_snr):
        return power_w
    least_snr = np.append(law.step_snr, np.inf)[step_of(power_w * snr_per_w, law)]
    saved: FloatArray = np.minimum(power_w, least_snr / snr_per_w)
    return saved


def needed_snr(size_bits: float, duration_s: float, law: Law) -> float:
    """Signal-to-noise ratio that sends so much in this time, for comparison with what there is."""
    if len(law.step_snr):  # a hair more, so that the power of the step is within the power there is
        return required_power_w(size_bits, duration_s, 1.0, law) / REACHED
    exponent = size_bits / (duration_s * law.hz)
    effective = math.expm1(exponent * math.log(2)) if exponent < 1000 else math.inf
    room = 1.0 - effective * law.distortion if law.distortion else 1.0
    return effective / room if room > 0.0 else math.inf


def efficiency(snr: FloatArray, law: Law) -> FloatArray:
    """Bits per second and hertz by signal-to-noise ratio (eq:thz_rate)."""
    if len(law.step_snr):
        return step_rates_bps(snr, law) / law.hz
    return log2(1 + snr / (1 + snr * law.distortion))


def rates_bps(snr: FloatArray, law: Law) -> FloatArray:
    """Rates [bit/s] by signal-to-noise ratio, as exact for weak links as :func:`rate_bps`."""
    if len(law.step_snr):
        return step_rates_bps(snr, law)
    bps: FloatArray = law.hz / _LN2 * log1p(snr / (1 + snr * law.distortion))
    return bps


def step_rates_bps(snr: FloatArray, law: Law) -> FloatArray:
    """Rate of the fastest step that each ratio carries [bit/s], 0 below the first one."""
    return np.append(0.0, law.step_bps)[step_of(snr, law) + 1]


def step_of(snr: FloatArray, law: Law) -> IntArray:
    """Number of the fastest step that each ratio carries, -1 below the first one."""
    return np.searchsorted(law.step_snr * REACHED, snr, side="right") - 1
