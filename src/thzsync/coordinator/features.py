"""The situation as numbers: one normalised row per unit (eq:bandit_flow_context).

All flow slots share their first-layer weights and are pooled under a mask. So the paper's padded
vector may grow without retraining, and empty slots change nothing.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.channel import Law, efficiency, law_of
from thzsync.coordinator.interface import Situation
from thzsync.elementary import log2, ten_to

FEATURE_VERSION: Final = 1
"""Increases whenever a column changes its meaning; saved policies contain theirs."""

QUEUE_BYTES: Final = 8 * 2**20
"""Queued bytes that count as 1: two default output queues."""
GAIN_CENTRE_DB: Final = 25.0
GAIN_SPREAD_DB: Final = 10.0
"""Gains over noise lie between about 5 dB (blocked) and 45 dB on a floor of tens of metres."""
GAIN_LIMIT: Final = 4.0
"""Dead links (-inf dB) are clipped here, in units of the spread."""
LOG_COUNT: Final = 8.0
"""log2 of the chunk or flow count that counts as 1."""

REFERENCE_EFFICIENCY: Final = 6.0
"""Spectral efficiency at which a whole flow's air time counts as 1 [bit/s/Hz]."""
FULL_POWER_DB: Final = -10.0
"""A rack's full power of 0.1 W, over one watt [dB]."""
SHANNON: Final = Law(1.0)
"""The rate law where none is given; its bandwidth does not count."""
LONGEST_AIR: Final = 8.0
"""Air times of links that are nearly dead are clipped here."""

FIXED_COLUMNS: Final = 7
ACTION_COLUMNS: Final = 3
"""Inputs of the pooled encoder: share, air time and radiated energy of a flow.

Share and power determine all three; unlike the bare power they become zero with the last THz chunk.
"""
FLAT_ACTION_COLUMNS: Final = 2
"""Inputs of the flat encoder: a flow's share and a sender's power."""
MASK: Final = FIXED_COLUMNS - 1
"""Column that is 1 in every slot of the paper's vector that has a flow."""


class Features(NamedTuple):
    """One event, ready for the encoder."""

    rows: FloatArray
    """Normalised situation per flow, without action columns."""
    group: IntArray
    """Position of every flow's source among the senders."""
    chunks: IntArray
    """K_f of every flow."""
    air: FloatArray
    """Air time of the whole flow at every power level (flow, level)."""

    @property
    def senders(self) -> int:
        """Number of senders."""
        return int(self.group.max(initial=-1)) + 1


class Events(NamedTuple):
    """The features of many events in padded arrays, the event first."""

    rows: FloatArray
    """Columns of the situation, possibly followed by those of actions."""
    group: IntArray
    """Sender of every flow; -1 marks an empty slot, behind all flows."""
    chunks: IntArray
    air: FloatArray
    contexts: int
    """Columns of the situation."""


def alone(features: Features) -> Events:
    """One event by itself."""
    rows, group, chunks, air = features
    return Events(rows[None], group[None], chunks[None], air[None], rows.shape[1])


def columns(subbands: int, actions: int = ACTION_COLUMNS) -> int:
    """Inputs of the first layer per flow: the situation's columns, then the action's."""
    return FIXED_COLUMNS + subbands + actions


def featurise(situation: Situation, best_gain_first: bool = True) -> Features:
    """Rows of eq:bandit_flow_context, normalised with fixed constants.

    Gains are sorted, best first, or ordered by subband as in the paper.
    """
    offer = situation.offer
    flows, subbands = situation.snr_db_per_w.shape
    rows = np.empty((flows, FIXED_COLUMNS + subbands))
    rows[:, 0] = offer.src
    rows[:, 1] = offer.dst
    rows[:, :2] /= situation.racks
    rows[:, 2] = log2(offer.chunks) / LOG_COUNT
    rows[:, 3] = situation.straggler
    rows[:, 4] = situation.queued_bytes / QUEUE_BYTES
    rows[:, 5] = situation.shared_occupancy
    rows[:, 6] = math.log2(max(flows, 1)) / LOG_COUNT
    gains = situation.snr_db_per_w
    if best_gain_first:  # the executor takes the best free subband, whichever it is
        gains = -np.sort(-gains, axis=1)
    scaled = (gains - GAIN_CENTRE_DB) / GAIN_SPREAD_DB
    rows[:, FIXED_COLUMNS:] = np.clip(scaled, -GAIN_LIMIT, GAIN_LIMIT)
    law = SHANNON if situation.terms is None else law_of(situation.terms.scenario.thz)
    return group_flows(rows, offer.group, offer.chunks, situation.power_levels, law)


def group_flows(
    rows: FloatArray, group: IntArray, chunks: IntArray, levels: FloatArray, law: Law = SHANNON
) -> Features:
    """Features from rows and the sender position of every flow."""
    return Features(rows, group, chunks, air_time(rows, levels, law))


def air_time(rows: FloatArray, power: FloatArray, law: Law = SHANNON) -> FloatArray:
    """Relative time that a whole flow would take on its best subband (eq:thz_rate).

    A THz completion time follows from products of share and air time, which a network of
    rectifiers would need many samples to learn.
    """
    best = rows[:, FIXED_COLUMNS:].max(axis=1)
    gain_db = GAIN_CENTRE_DB + GAIN_SPREAD_DB * best[:, None]
    snr = power * ten_to((gain_db + FULL_POWER_DB) / 10)
    shortest = REFERENCE_EFFICIENCY / LONGEST_AIR
    return REFERENCE_EFFICIENCY / np.maximum(efficiency(snr, law), shortest)
