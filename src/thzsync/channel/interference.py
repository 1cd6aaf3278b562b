"""What a beam sends into the receiver of another one: positions, patterns, mean path gains.

A beam k -> l reaches the receiver j of a beam i -> j with its power times the mean gain from k to
j, the gains of both antennas, and how far both point elsewhere: k's pattern at the angle between l
and j, and j's at the angle between i and k. Fluctuation, blockage and mispointing are left out: the
gain is known before anybody sends, and it is the same both ways. A rack does not hear itself.

Patterns are sampled at every hundredth of a degree; in between, powers follow straight lines.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.channel.model import ChannelModel
from thzsync.elementary import ten_to
from thzsync.jit import bare, inner_bare
from thzsync.scenario import Thz

STEPS: Final = 18_000
"""Steps of a pattern between 0 and 180 degrees."""


class Coupling(NamedTuple):
    """Geometry and patterns, by rack; rows of racks that never sent or received are empty."""

    bearing: FloatArray
    """Direction from a rack to another one, by (rack, rack) [steps]."""
    reach: FloatArray
    """Mean gain between two racks that point at each other, both antennas included, by (rack, rack,
    subband)."""
    sends: FloatArray
    """Relative power that an antenna sends at every step off its axis."""
    hears: FloatArray
    """The same of a receiving one."""

    @staticmethod
    def of(thz: Thz, racks: int) -> Coupling:
        """Nothing is known of any rack yet. Memory is taken when it is."""
        angle_deg = np.arange(STEPS + 2) * (180 / STEPS)
        sends, hears = (
            ten_to(-thz.antenna.loss_db(np.minimum(angle_deg, 180.0), gain_dbi) / 10)
            for gain_dbi in (thz.transmit_gain_db, thz.receive_gain_db)
        )
        reach = np.zeros((racks, racks, thz.subbands))
        return Coupling(np.zeros((racks, racks)), reach, sends, hears)

    def fill(self, thz: Thz, channel: ChannelModel, places_m: FloatArray, racks: IntArray) -> None:
        """Look at all others from these racks."""
        everybody = np.arange(len(places_m))
        antennas = 10 ** ((thz.transmit_gain_db + thz.receive_gain_db) / 10)
        for rack in racks.tolist():
            take_bearings(places_m, rack, self.bearing)
            gain = channel.base_gain(np.full_like(everybody, rack), everybody)
            self.reach[rack] = gain * antennas


@bare
def take_bearings(places_m: FloatArray, rack: int, bearing: FloatArray) -> None:
    """Directions from one rack to all others [steps]."""
    for other in range(len(places_m)):
        x_m = places_m[other, 0] - places_m[rack, 0]
        y_m = places_m[other, 1] - places_m[rack, 1]
        bearing[rack, other] = math.atan2(y_m, x_m) * (STEPS / math.pi)


@inner_bare
def _aside(pattern: FloatArray, apart: float) -> float:
    """Relative power at an angle between two bearings [steps]."""
    off = abs(apart)
    off = 2.0 * STEPS - off if off > STEPS else off
    step = int(off)
    return float(pattern[step] + (pattern[step + 1] - pattern[step]) * (off - step))


@inner_bare
def coupled_gain(at: Coupling, subband: int, k: int, to: int, i: int, j: int) -> float:
    """How much of the power of a beam k -> to reaches the receiver of a beam i -> j."""
    away = _aside(at.sends, at.bearing[k, to] - at.bearing[k, j])
    aside = _aside(at.hears, at.bearing[j, i] - at.bearing[j, k])
    return float(at.reach[k, j, subband] * away * aside)
