"""The two measured path-loss laws and the composite gain, without fluctuation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from thzsync.arrays import FloatArray
from thzsync.elementary import log10, ten_to
from thzsync.scenario import Thz


@dataclass(frozen=True)
class PathLossLaw:
    """PL = slope log10(d / 1 m) + intercept + 20 log10(f / f0) in dB (eq:measured_path_loss)."""

    name: str
    slope_db: float
    """Loss per decade of distance [dB]."""
    intercept_db: float
    """Loss at 1 m and the reference frequency [dB]."""
    lowest_hz: float
    """Lower end of the measured band [Hz]."""
    highest_hz: float
    """Upper end of the measured band [Hz]."""

    def loss_db(self, distance_m: FloatArray, ratio: float | FloatArray = 1.0) -> FloatArray:
        """Path loss [dB] at a distance [m] and at ``ratio`` = f / f0."""
        loss: FloatArray = self.slope_db * log10(distance_m) + self.intercept_db + 20 * log10(ratio)
        return loss


LOS: Final = PathLossLaw("LoS", 18.8, 82.69, 290e9, 310e9)
NLOS: Final = PathLossLaw("NLoS", 7.6, 106.6, 290e9, 310e9)


def composite_gain(
    distance_m: FloatArray, nlos_paths: int, ratio: float | FloatArray = 1.0
) -> FloatArray:
    """Linear power gain of the direct path and of equal indirect ones (eq:composite_channel_gain).

    A rack has no link to itself: the gain at 0 m is 0.
    """
    apart = np.asarray(distance_m, dtype=np.float64) > 0
    distance_m = np.where(apart, distance_m, 1.0)
    direct = ten_to(-LOS.loss_db(distance_m, ratio) / 10)
    indirect = nlos_paths * ten_to(-NLOS.loss_db(distance_m, ratio) / 10)
    gain: FloatArray = np.where(apart, direct + indirect, 0.0)
    return gain


def validity_notes(thz: Thz) -> tuple[str, ...]:
    """Warning for a band that extends outside the measured one; empty if it does not."""
    low, high = thz.band_start_hz, thz.band_start_hz + thz.subbands * thz.subband_hz
    if low >= LOS.lowest_hz and high <= LOS.highest_hz:
        return ()
    return (
        f"thz: the band {low / 1e9:g}-{high / 1e9:g} GHz reaches outside "
        f"{LOS.lowest_hz / 1e9:g}-{LOS.highest_hz / 1e9:g} GHz, where the path-loss laws were "
        f"measured; gains there are extrapolated",
    )
