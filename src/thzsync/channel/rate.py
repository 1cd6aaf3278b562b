"""Power to rate and back on one subband (eq:thz_rate), as scalar kernels.

``log1p`` and ``expm1`` keep full accuracy for weak links, where 1 + SNR would round to 1.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from thzsync.arrays import FloatArray
from thzsync.jit import bare
from thzsync.scenario import Thz

_LN2 = math.log(2.0)
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
    return Law(thz.subband_hz)


def link_budget_per_w(thz: Thz) -> FloatArray:
    """G / (N_0 B_c + I), the signal-to-noise ratio per watt at unit channel gain, by subband [1/W].

    G is the gain of both antennas, as they point.
    """
    return np.array([10 ** (gain_db / 10) / thz.noise_w for gain_db in thz.antenna_gains_db])


@bare
def snr_per_watt(gain: float, receive_gain: float, noise_w: float) -> float:
    """Signal-to-noise ratio per transmitted watt [1/W] (eq:thz_rate)."""
    return receive_gain * gain / noise_w


@bare
def rate_bps(power_w: float, snr_per_w: float, law: Law) -> float:
    """Achievable rate [bit/s] at a transmit power [W] (eq:thz_rate)."""
    snr = power_w * snr_per_w
    return law.hz * math.log1p(snr / (1.0 + snr * law.distortion)) / _LN2


@bare
def required_power_w(size_bits: float, duration_s: float, snr_per_w: float, law: Law) -> float:
    """Least power [W] that sends ``size_bits`` in ``duration_s``; inf if no power does.

    eq:a2a_required_power.
    """
    if size_bits <= 0.0:
        return 0.0
    if duration_s <= 0.0 or snr_per_w <= 0.0:
        return math.inf
    exponent = _LN2 * size_bits / (law.hz * duration_s)
    if exponent > _LARGEST_EXPONENT:
        return math.inf
    effective = math.expm1(exponent)
    room = 1.0 - effective * law.distortion
    return effective / room / snr_per_w if room > 0.0 else math.inf
