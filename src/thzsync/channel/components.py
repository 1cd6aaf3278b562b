"""Rows of a gains file that belong to one link: multipath components, weighted by antennas."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from thzsync.arrays import BoolArray, FloatArray, IntArray
from thzsync.elementary import ten_to
from thzsync.scenario import Thz


class Pattern(Protocol):
    """How an antenna's gain falls beside its main lobe."""

    def loss_db(self, angle_deg: FloatArray, gain_dbi: float) -> FloatArray:
        """Loss at angles off the main lobe of an antenna of some gain; 0 in its direction [dB]."""


class Antennas(NamedTuple):
    """The two antennas of every rack."""

    pattern: Pattern
    transmit_dbi: float
    receive_dbi: float

    @staticmethod
    def of(thz: Thz) -> Antennas:
        """Those of a scenario."""
        return Antennas(thz.antenna, thz.transmit_gain_db, thz.receive_gain_db)


class Rows(NamedTuple):
    """Rows of a gains file, sorted by all columns but the gain."""

    link: IntArray
    time_ps: IntArray
    at_low: FloatArray
    """Beam or angle at the rack of the lower number; 0 where the file has neither."""
    at_high: FloatArray
    gain_db: FloatArray

    def taken(self, which: IntArray | BoolArray) -> Rows:
        """Some of the rows."""
        at = self.at_low[which], self.at_high[which]
        return Rows(self.link[which], self.time_ps[which], *at, self.gain_db[which])

    def repeats(self, ends: bool) -> BoolArray:
        """Rows with the link and time, perhaps also with the ends, of the row before."""
        columns = self[:4] if ends else self[:2]
        same = np.ones(len(self.link), dtype=np.bool_)
        same[:1] = False
        for column in columns:
            same[1:] &= column[1:] == column[:-1]
        return same


def combined(
    rows: Rows, begins: IntArray, antennas: Antennas | None
) -> tuple[FloatArray, FloatArray]:
    """Power over all components of every link and time, from the lower rack and to it.

    Both antennas point at the strongest component. Powers add up: phases are taken as random.
    """
    group = np.repeat(np.arange(len(begins)), np.diff(begins, append=len(rows.link)))
    strongest = np.lexsort((-rows.gain_db, group))[begins]
    off_low, off_high = (
        np.abs((angle_deg - angle_deg[strongest][group] + 180) % 360 - 180)
        for angle_deg in (rows.at_low, rows.at_high)
    )

    def received(off_src_deg: FloatArray, off_dst_deg: FloatArray) -> FloatArray:
        gain_db = rows.gain_db
        if antennas is not None:
            pattern, transmit_dbi, receive_dbi = antennas
            gain_db = gain_db - pattern.loss_db(off_src_deg, transmit_dbi)
            gain_db = gain_db - pattern.loss_db(off_dst_deg, receive_dbi)
        power = np.zeros(len(begins))
        np.add.at(power, group, ten_to(gain_db / 10))
        return power

    return received(off_low, off_high), received(off_high, off_low)


def both_directions(
    rows: Rows, gains: tuple[FloatArray, FloatArray], racks: int, subbands: int
) -> tuple[Rows, FloatArray]:
    """Rows and gains of pairs in both directions: from the lower rack, and to it."""
    pair, subband = np.divmod(rows.link, subbands)
    low, high = np.divmod(pair, racks)
    backward = rows._replace(link=(high * racks + low) * subbands + subband)
    order = np.lexsort((np.tile(rows.time_ps, 2), np.concatenate((rows.link, backward.link))))
    both = (np.concatenate(columns) for columns in zip(rows, backward, strict=True))
    return Rows(*both).taken(order), np.concatenate(gains)[order]
