"""Which steps of the rate law transmissions used, and what they sent again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.channel import law_of, link_budget_per_w, step_of
from thzsync.scenario import Thz
from thzsync.scenario.rates import fastest
from thzsync.wireless import Round


class StepsUsed(NamedTuple):
    """Columns of the table of transmissions."""

    step: list[str]
    error_rate: FloatArray


def steps_used(
    thz: Thz, subband: IntArray, power_w: FloatArray, gain: FloatArray, noise_w: FloatArray
) -> StepsUsed:
    """The fastest step that every transmission's power carries, and its error rate."""
    if not (steps := fastest(thz.rate.steps())):
        return StepsUsed([""] * len(subband), np.zeros(len(subband)))
    snr = power_w * gain * link_budget_per_w(thz)[subband] * (thz.noise_w / noise_w)
    used = step_of(snr, law_of(thz)).tolist()
    losses = np.array([steps[k].error_rate for k in used])
    return StepsUsed([steps[k].name for k in used], losses)


def sent_again_bits(thz: Thz, rounds: Iterable[Round]) -> float:
    """Bits that transmissions sent beyond what they delivered."""
    if not any(step.error_rate for step in thz.rate.steps()):
        return 0.0
    again = 0.0
    for r in rounds:
        lost = steps_used(thz, r.subband, r.power_w, r.gain, r.noise_w).error_rate
        again += float((8.0 * r.size_bytes * lost / (1.0 - lost)).sum())
    return again
