"""The channel: gains of any links at any time, from the model or a file."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.channel.components import Antennas
from thzsync.channel.pathloss import MeanGains, validity_notes
from thzsync.channel.propagation import PropagationGains
from thzsync.scenario import Channel, Thz
from thzsync.streams import Streams
from thzsync.topology import Topology


class GainSource(Protocol):
    """Where gains come from: the propagation model or a file of measurements."""

    def gains(self, src: IntArray, dst: IntArray, time_ps: int) -> FloatArray:
        """Linear power gains at an instant [ps], by (link, subband)."""

    def base_gain(self, src: IntArray, dst: IntArray) -> FloatArray:
        """Linear power gains without fluctuation and blockage, by (link, subband)."""

    def next_change_ps(self, time_ps: int) -> int:
        """First instant after ``time_ps`` at which a gain may change [ps]."""


@dataclass(frozen=True, eq=False)
class VariedGains:
    """Mean gains that fluctuate and are blocked."""

    mean: GainSource
    variation: GainSource
    """Factors, 1 without fluctuation and blockage."""

    def gains(self, src: IntArray, dst: IntArray, time_ps: int) -> FloatArray:
        """Gains at an instant [ps], by (link, subband)."""
        return self.mean.gains(src, dst, time_ps) * self.variation.gains(src, dst, time_ps)

    def base_gain(self, src: IntArray, dst: IntArray) -> FloatArray:
        """Mean gains at time 0, by (link, subband)."""
        return self.mean.base_gain(src, dst)

    def next_change_ps(self, time_ps: int) -> int:
        """First change of either [ps]."""
        return min(source.next_change_ps(time_ps) for source in (self.mean, self.variation))


@dataclass(frozen=True, eq=False)
class ChannelModel:
    """Linear power gains g_ij^c(t) between racks: reciprocal, piecewise constant in time.

    They depend only on the scenario, the seed and the time, never on earlier queries. A file of
    multipath components gives the two directions of a link different gains if the antennas that
    send and receive differ.
    """

    source: GainSource
    racks: int
    subbands: int
    notes: tuple[str, ...] = ()
    """Remarks for the user, such as a band outside the measured one."""

    @staticmethod
    def build(channel: Channel, thz: Thz, topology: Topology, streams: Streams) -> ChannelModel:
        """The channel of a scenario and seed."""
        if channel.gains_file is not None:
            from thzsync.channel.file import load_gains

            path, antennas = Path(channel.gains_file), Antennas.of(thz)
            source: GainSource = load_gains(path, topology.racks, thz.subbands, antennas)
            if channel.vary_gains_file:
                variation = PropagationGains(channel, thz, topology, streams, None)
                source = VariedGains(source, variation)
            return ChannelModel(source, topology.racks, thz.subbands)
        notes = validity_notes(channel, thz)
        for note in notes:
            warnings.warn(note, stacklevel=2)
        mean = MeanGains(channel, thz, topology)
        model = PropagationGains(channel, thz, topology, streams, mean)
        return ChannelModel(model, topology.racks, thz.subbands, notes)

    def gains(self, src: IntArray, dst: IntArray, time_ps: int) -> FloatArray:
        """Gains of the links src[n] -> dst[n] at an instant [ps], linear, shape (n, N_c)."""
        return self.source.gains(src, dst, int(time_ps))

    def base_gain(self, src: IntArray, dst: IntArray) -> FloatArray:
        """The same without fluctuation and blockage (eq:composite_channel_gain)."""
        return self.source.base_gain(src, dst)

    def gain_matrix(self, racks: IntArray, time_ps: int) -> FloatArray:
        """Gains among some racks at an instant [ps], shape (n, n, N_c); the diagonal is 0."""
        n = len(racks)
        src, dst = np.repeat(racks, n), np.tile(racks, n)
        return self.gains(src, dst, time_ps).reshape(n, n, self.subbands)

    def next_change_ps(self, time_ps: int) -> int:
        """First instant after ``time_ps`` at which gains may change (``NEVER_PS`` if never)."""
        return self.source.next_change_ps(int(time_ps))
