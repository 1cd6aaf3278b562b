"""Gains from the propagation model: mean gain times fluctuation times blockage."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from thzsync.arrays import NEVER_PS, FloatArray, IntArray, to_ps
from thzsync.channel.fading import Fading, fill_gains
from thzsync.channel.pathloss import MeanGains
from thzsync.errors import ThzSyncError
from thzsync.jit.held import hold
from thzsync.scenario import Blockage, Channel, Thz
from thzsync.streams import Streams
from thzsync.topology import Topology

SLOTS_PER_COHERENCE: Final = 4
_CACHE_ENTRIES: Final = 1 << 16
_KEPT_PAIRS: Final = 1 << 15
"""Pairs whose innovations are kept: about 1 kB each."""
_SMALLEST_WEIGHT: Final = 1e-4


@dataclass(frozen=True)
class FluctuationGrid:
    """The log-normal fluctuation on its slots (one endless slot if constant in time)."""

    sigma_db: float
    slot_ps: int
    """Length of a slot [ps]; 0 when the fluctuation is constant."""
    decay: float
    """Correlation between neighbouring slots."""
    terms: int
    """Innovations that reach into one slot."""

    @staticmethod
    def of(channel: Channel) -> FluctuationGrid:
        """The grid of a scenario's channel."""
        if channel.coherence_s is None or channel.fluctuation_db == 0:
            return FluctuationGrid(channel.fluctuation_db, 0, 0.0, 1)
        slot_ps = to_ps(channel.coherence_s / SLOTS_PER_COHERENCE)
        decay = math.exp(-1 / SLOTS_PER_COHERENCE)
        terms = math.ceil(math.log(_SMALLEST_WEIGHT) / math.log(decay))
        return FluctuationGrid(channel.fluctuation_db, slot_ps, decay, terms)


@dataclass(frozen=True)
class BlockageGrid:
    """The two-state blockage chain on its slots."""

    loss_db: float
    slot_ps: int
    """Length of a slot [ps]; 0 when nothing is ever blocked."""
    p_block: float
    """Probability per slot that a clear pair becomes blocked."""
    p_clear: float
    """Probability per slot that a blocked pair becomes clear."""

    @staticmethod
    def of(blockage: Blockage) -> BlockageGrid:
        """The grid whose blocked share and mean blocked time are exactly the scenario's.

        A slot is a quarter of the shorter of the mean blocked and the mean clear time. A geometric
        number of slots with p = slot / mean then lasts the mean exactly, and p_block + p_clear is
        between 1/4 and 1/2, as coupling from the past needs.
        """
        share = blockage.share
        if share == 0 or blockage.loss_db == 0:
            return BlockageGrid(blockage.loss_db, 0, 0.0, 1.0)
        blocked_s = blockage.mean_duration_s
        slot_ps = to_ps(min(blocked_s, blocked_s * (1 - share) / share) / SLOTS_PER_COHERENCE)
        p_clear = slot_ps / to_ps(blocked_s)
        return BlockageGrid(blockage.loss_db, slot_ps, p_clear * share / (1 - share), p_clear)


class PropagationGains:
    """Mean gains of racks, with fluctuation and blockage of the queried pairs.

    Not safe for several threads at once, since they would share the cache.
    """

    def __init__(
        self,
        channel: Channel,
        thz: Thz,
        topology: Topology,
        streams: Streams,
        mean: MeanGains | None,
    ) -> None:
        """Without mean gains, fluctuation and blockage alone: all of them are 1."""
        self.fluctuation = FluctuationGrid.of(channel)
        self.blockage = BlockageGrid.of(channel.blockage)
        self._mean = mean
        # Racks that see the floor alike, as those of a ring do, share a row: gain by (row, row,
        # distance in lanes, band). Pages of fresh zeros take no memory, and values are computed at
        # the first query of their rows.
        self._lanes = lanes = topology.racks if mean is None else mean.alike
        rows, bands = topology.racks // lanes, 1 if mean is None else mean.bands
        self._reference_gain = np.zeros((rows, rows, lanes, bands))
        self._known = np.zeros((rows, rows), dtype=np.bool_)
        self._all_known = mean is None
        if mean is None:
            self._reference_gain[:], self._known[:] = 1.0, True
        self._subband_factor = np.ones(thz.subbands) if mean is None else mean.subband_factor
        entries = min(topology.racks**2, _CACHE_ENTRIES)
        # Slots share most innovations with earlier ones; unused pages take no memory.
        kept = min(entries, _KEPT_PAIRS)
        self._fading = hold(
            Fading(
                lanes=lanes,
                reference_gain=self._reference_gain,
                subband_factor=self._subband_factor,
                sigma_db=self.fluctuation.sigma_db,
                decay=self.fluctuation.decay,
                fluctuation_key=np.uint64(streams.key("channel")),
                blocked_factor=10 ** (-self.blockage.loss_db / 10),
                p_block=self.blockage.p_block,
                p_clear=self.blockage.p_clear,
                blockage_key=np.uint64(streams.key("blockage")),
                cached_pair=np.full(entries, -1, dtype=np.int64),
                cached_slots=np.zeros((entries, 2), dtype=np.int64),
                cached_gain=np.zeros((entries, thz.subbands)),
                drawn_pair=np.full(kept, -1, dtype=np.int64),
                drawn_slot=np.zeros(kept, dtype=np.int64),
                drawn=np.zeros((kept, thz.subbands, self.fluctuation.terms)),
            )
        )

    def base_gain(self, src: IntArray, dst: IntArray) -> FloatArray:
        """Gains without fluctuation and blockage, by (link, subband)."""
        s, t = self._know_rows(src, dst)
        lane = np.abs(src % self._lanes - dst % self._lanes)
        gain: FloatArray = self._reference_gain[s, t, lane] * self._subband_factor
        return gain

    def gains(self, src: IntArray, dst: IntArray, time_ps: int) -> FloatArray:
        """Gains at one instant [ps], by (link, subband)."""
        if not self._all_known:
            self._know_rows(src, dst)
        out = np.empty((len(src), len(self._subband_factor)))
        slot = _slot(time_ps, self.fluctuation.slot_ps)
        blockage_slot = _slot(time_ps, self.blockage.slot_ps)
        if not fill_gains(self._fading, src, dst, slot, blockage_slot, out):
            raise self._no_such_rack()
        return out

    def _know_rows(self, src: IntArray, dst: IntArray) -> tuple[IntArray, IntArray]:
        """Rows of links; computes gains between rows at their first query."""
        s, t = src // self._lanes, dst // self._lanes
        try:
            known = self._known[s, t]
        except IndexError:
            raise self._no_such_rack() from None
        if not known.all():
            new = np.unique(np.stack((s, t))[:, ~known], axis=1)
            if new.min() < 0:
                raise self._no_such_rack()
            a, b = np.concatenate((new, new[::-1]), axis=1)
            assert self._mean is not None  # without, all rows are known
            racks = b[:, None] * self._lanes + np.arange(self._lanes)
            self._reference_gain[a, b] = self._mean.between(a[:, None] * self._lanes, racks)
            self._known[a, b] = True
            self._all_known = bool(self._known.all())
        return s, t

    def _no_such_rack(self) -> ThzSyncError:
        last = len(self._known) * self._lanes - 1
        return ThzSyncError(f"gains: some rack does not exist; use 0..{last}")

    def next_change_ps(self, time_ps: int) -> int:
        """First slot boundary after an instant [ps]."""
        slots = (self.fluctuation.slot_ps, self.blockage.slot_ps)
        return min(((time_ps // slot + 1) * slot for slot in slots if slot), default=NEVER_PS)


def _slot(time_ps: int, slot_ps: int) -> int:
    """The slot of an instant; a constant process has one slot."""
    return time_ps // slot_ps if slot_ps else 0
