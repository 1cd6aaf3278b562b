"""Mean gains that follow from where racks stand: path loss and absorption."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.channel.atmosphere import attenuation_db_per_km
from thzsync.elementary import ten_to
from thzsync.errors import ThzSyncError
from thzsync.scenario import Channel, Pairs, Thz
from thzsync.topology import Topology


@dataclass(frozen=True, eq=False)
class MeanGains:
    """Mean gains of a scenario.

    Where frequency counts as (f / f0)^-2 alone, it is a factor per subband. Absorption depends on
    frequency and distance, so with it there is a gain per subband instead.
    """

    channel: Channel
    thz: Thz
    topology: Topology

    @property
    def alike(self) -> int:
        """Consecutive racks whose gains are those of one of them, turned."""
        return 1 if self.channel.path_loss.by_position else self.topology.alike

    @property
    def absorbs(self) -> bool:
        """Whether the air absorbs."""
        return self.channel.absorption != "none"

    @property
    def bands(self) -> int:
        """Gains per pair: one, or one per subband."""
        return self.thz.subbands if self.absorbs else 1

    @property
    def subband_factor(self) -> FloatArray:
        """What gains are still multiplied by in every subband."""
        if self.absorbs:
            return np.ones(self.thz.subbands)
        ratios = [centre_hz / self.channel.reference_hz for centre_hz in self.thz.centres_hz]
        return np.array([ratio**-2.0 for ratio in ratios])

    def between(self, a: IntArray, b: IntArray) -> FloatArray:
        """Gains of pairs of racks, with an axis of ``bands``; 0 of a rack to itself."""
        a, b = np.broadcast_arrays(a, b)
        distance_m, channel = self.topology.distance_m(a, b), self.channel
        apart, place_m = distance_m > 0, self.topology.position_m
        pairs = Pairs(
            np.where(apart, distance_m, 1.0), place_m[a], place_m[b],
            channel.reference_hz, channel.nlos_paths,
        )  # fmt: skip
        gain = np.asarray(channel.path_loss.gain(pairs), dtype=np.float64)
        _refuse_unphysical(channel.path_loss.kind, gain, pairs.distance_m)
        gain = np.where(apart, gain, 0.0)[..., None]
        if not self.absorbs:
            return gain
        frequency_hz = np.array(self.thz.centres_hz)
        loss_db = attenuation_db_per_km(frequency_hz) * distance_m[..., None] / 1000
        return gain * (channel.reference_hz / frequency_hz) ** 2 * ten_to(-loss_db / 10)


def _refuse_unphysical(kind: str, gain: FloatArray, distance_m: FloatArray) -> None:
    if gain.shape != distance_m.shape:
        raise ThzSyncError(
            f"channel.path_loss: kind {kind!r} gives {gain.shape} gains for {distance_m.shape} "
            "pairs; give one gain per pair"
        )
    bad = ~((gain >= 0) & (gain <= 1))
    if bad.any():
        raise ThzSyncError(
            f"channel.path_loss: kind {kind!r} gives a gain of {gain[bad][0]:.4g} over "
            f"{distance_m[bad][0]:.4g} m; a channel cannot amplify: correct its keys"
        )


def validity_notes(channel: Channel, thz: Thz) -> tuple[str, ...]:
    """Warning for a band that extends outside the measured one; empty if it does not."""
    if channel.path_loss.band_hz is None:
        return ()
    low, high = thz.band_start_hz, thz.band_start_hz + thz.subbands * thz.subband_hz
    lowest, highest = channel.path_loss.band_hz
    if low >= lowest and high <= highest:
        return ()
    return (
        f"thz: the band {low / 1e9:g}-{high / 1e9:g} GHz reaches outside "
        f"{lowest / 1e9:g}-{highest / 1e9:g} GHz, where the path-loss laws were "
        f"measured; gains there are extrapolated",
    )
