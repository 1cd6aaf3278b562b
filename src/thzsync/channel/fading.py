"""Fluctuation and blockage as pure functions of (key, pair, subband, slot).

Every draw is a hash of its place and time. So a query for any time and pair, in any order, gives
the same result. The hash is splitmix64 read as a counter-based generator: draw number n of a stream
is the finaliser of ``start + n * golden``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from thzsync import hashing
from thzsync.arrays import FloatArray, IntArray
from thzsync.hashing import GOLDEN as _GOLDEN
from thzsync.jit import bare

_S32, _S11 = np.uint64(32), np.uint64(11)
_LOW32 = np.uint64(0xFFFFFFFF)
_ONE = np.uint64(1)
_ORIGIN = 1 << 40  # queries include slots before time 0: shift them above 0


mix64: Callable[[np.uint64], np.uint64] = bare(hashing.mix64)


@bare
def stream_start(key: np.uint64, pair: int, subband: int) -> np.uint64:
    """Where the stream of one pair and subband begins."""
    start = mix64(key + _GOLDEN * (np.uint64(pair) + _ONE))
    return mix64(start + _GOLDEN * (np.uint64(subband) + _ONE))


@bare
def draw64(start: np.uint64, slot: int) -> np.uint64:
    """64 random bits that belong to one slot of a stream."""
    return mix64(start + _GOLDEN * np.uint64(slot + _ORIGIN))


@bare
def normal(bits: np.uint64) -> float:
    """A standard normal value from 64 bits (Box-Muller on its two halves)."""
    radius = (float(bits >> _S32) + 0.5) / 4294967296.0
    angle = float(bits & _LOW32) / 4294967296.0
    return math.sqrt(-2.0 * math.log(radius)) * math.cos(2.0 * math.pi * angle)


@bare
def fluctuation(
    innovation: FloatArray, known: int, start: np.uint64, slot: int, decay: float
) -> float:
    """First-order autoregressive process of unit variance at one slot.

    The moving-average form of x_k = a x_{k-1} + sqrt(1 - a^2) w_k, cut after some innovations and
    scaled back to unit variance: random access instead of recursion. Neighbouring slots share most
    innovations. ``innovation`` is a ring buffer: slot k is at k modulo its length. The oldest
    ``known`` innovations of this slot are already in it.
    """
    terms = len(innovation)
    for j in range(terms - known):
        innovation[(slot - j) % terms] = normal(draw64(start, slot - j))
    total, weight, power = 0.0, 1.0, 0.0
    place = slot % terms
    for _ in range(terms):
        total += weight * innovation[place]
        power += weight * weight
        weight *= decay
        place = place - 1 if place > 0 else terms - 1
    return total / math.sqrt(power)


@bare
def blocked(start: np.uint64, slot: int, p_block: float, p_clear: float) -> bool:
    """State of a two-state (Gilbert-Elliott) Markov chain at one slot, exactly stationary.

    Coupling from the past: one uniform per slot drives both states. Below p_block both become
    blocked, at or above 1 - p_clear both become clear, in between each keeps its state. So the
    latest slot that forces a state decides (needs p_block + p_clear <= 1).
    """
    while True:
        uniform = float(draw64(start, slot) >> _S11) / 9007199254740992.0
        if uniform < p_block:
            return True
        if uniform >= 1.0 - p_clear:
            return False
        slot -= 1


class Fading(NamedTuple):
    """The data from which gains follow, and the caches of earlier results."""

    lanes: int
    """Racks per ring."""
    reference_gain: FloatArray
    """By (ring, ring, distance in lanes, subband); one for all subbands if they are alike."""
    subband_factor: FloatArray
    sigma_db: float
    decay: float
    fluctuation_key: np.uint64
    blocked_factor: float
    p_block: float
    p_clear: float
    blockage_key: np.uint64
    cached_pair: IntArray
    cached_slots: IntArray
    """Slots of fluctuation and blockage."""
    cached_gain: FloatArray
    """By (entry, subband)."""
    drawn_pair: IntArray
    drawn_slot: IntArray
    drawn: FloatArray
    """Innovations by (entry, subband, term)."""


@bare
def fill_gains(
    fading: Fading, src: IntArray, dst: IntArray, fluctuation_slot: int, blockage_slot: int,
    out: FloatArray,
) -> bool:  # fmt: skip
    """Write the gains of some links to ``out``; False if a rack does not exist.

    Both caches are direct-mapped. An entry of the first names its pair and both slots. One of the
    second keeps the innovations of its pair up to a slot. A hit equals what a miss would compute,
    so results do not depend on earlier queries.
    """
    cached_pair, cached_slots, cached_gain = (
        fading.cached_pair, fading.cached_slots, fading.cached_gain,
    )  # fmt: skip
    drawn_pair, drawn_slot, drawn = fading.drawn_pair, fading.drawn_slot, fading.drawn
    lanes, reference_gain, sigma_db = fading.lanes, fading.reference_gain, fading.sigma_db
    rings, subbands, terms = reference_gain.shape[0], out.shape[1], drawn.shape[2]
    bands = reference_gain.shape[3]
    for n in range(len(src)):
        low, high = min(src[n], dst[n]), max(src[n], dst[n])
        if low < 0 or high >= rings * lanes:
            return False
        pair = low * rings * lanes + high
        entry = pair % len(cached_pair)
        if (
            cached_pair[entry] != pair
            or cached_slots[entry, 0] != fluctuation_slot
            or cached_slots[entry, 1] != blockage_slot
        ):
            a, b, apart = low // lanes, high // lanes, abs(low % lanes - high % lanes)
            dark = fading.p_block > 0.0 and blocked(
                stream_start(fading.blockage_key, pair, 0), blockage_slot, fading.p_block,
                fading.p_clear,
            )  # fmt: skip
            row = pair % len(drawn_pair)
            passed = fluctuation_slot - drawn_slot[row]
            known = terms - passed if drawn_pair[row] == pair and 0 <= passed < terms else 0
            drawn_pair[row], drawn_slot[row] = pair, fluctuation_slot
            for c in range(subbands):
                factor = fading.subband_factor[c]
                if sigma_db > 0.0:
                    start = stream_start(fading.fluctuation_key, pair, c)
                    level = fluctuation(drawn[row, c], known, start, fluctuation_slot, fading.decay)
                    factor *= 10.0 ** (sigma_db * level / 10.0)
                gain = reference_gain[a, b, apart, c if bands > 1 else 0]
                if dark:
                    gain *= fading.blocked_factor
                cached_gain[entry, c] = gain * factor
            cached_pair[entry] = pair
            cached_slots[entry, 0] = fluctuation_slot
            cached_slots[entry, 1] = blockage_slot
        for c in range(subbands):
            out[n, c] = cached_gain[entry, c]
    return True
