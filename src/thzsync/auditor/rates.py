"""The rate law of a scenario, worked out from its steps once more."""

from __future__ import annotations

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.scenario import Thz

SLACK = 1e-12
"""Part of a ratio or a rate by which rounding may miss a step."""


class Rates:
    """How many bits per second and hertz each signal-to-noise ratio carries, and back."""

    def __init__(self, thz: Thz) -> None:
        self.steps = thz.rate.steps()
        """In the scenario's order, slow ones beside fast ones."""
        self._least = np.array([10 ** (step.snr_db / 10) for step in self.steps])
        self._net = np.array([step.efficiency for step in self.steps])
        self.sndr = np.inf if thz.rate.sndr_db is None else 10 ** (thz.rate.sndr_db / 10)
        """Ratio of signal to distortion."""

    def step(self, snr: FloatArray) -> IntArray:
        """The fastest step of every ratio, -1 where none is reached."""
        found = np.full(len(snr), -1)
        for k in np.argsort(self._net, kind="stable"):
            found[self._effective(snr) >= self._least[k] * (1 - SLACK)] = k
        return found

    def efficiency(self, snr: FloatArray) -> FloatArray:
        """Bits per second and hertz of every ratio (eq:thz_rate)."""
        if not self.steps:
            shannon: FloatArray = np.log1p(self._effective(snr)) / np.log(2)
            return shannon
        return np.append(self._net, 0.0)[self.step(snr)]

    def needed(self, efficiency: FloatArray) -> FloatArray:
        """Least ratio for so many bits per second and hertz; inf if there is none."""
        if not self.steps:
            effective = np.expm1(np.minimum(efficiency * np.log(2), 700.0))
        else:
            enough = self._net[:, None] >= efficiency * (1 - SLACK)
            effective = np.where(enough, self._least[:, None], np.inf).min(axis=0)
        below = effective < self.sndr
        ratio: FloatArray = np.full(len(effective), np.inf)
        ratio[below] = effective[below] / (1 - effective[below] / self.sndr)
        return ratio

    def _effective(self, snr: FloatArray) -> FloatArray:
        """With what transmitter and receiver distort."""
        effective: FloatArray = snr / (1 + snr / self.sndr)
        return effective
