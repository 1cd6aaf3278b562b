"""Interference: which beams are on the air, and what each of them was promised.

Every transmission is promised a level of noise and interference, fixed at its start: what its
receiver hears then, times a headroom. Its rate and power are computed for that level, so they never
change under way. A beam may begin only if it and all others on its subband, of whatever event, keep
their promise. Who is refused waits until some beam ends. A beam alone on its subband is never
refused, so what is possible at all is done some time.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from thzsync.arrays import BoolArray, FloatArray, IntArray
from thzsync.channel.interference import Coupling, coupled_gain
from thzsync.jit import inner, inner_bare
from thzsync.scenario import Thz

ROUNDING: Final = 1.0 + 1e-12
"""Sums of interference may be so much above a promise."""
SHARED_ROWS: Final = 64
"""Where events do not share transceivers, so many of them may use a rack's subband at once."""


class Beams(NamedTuple):
    """All beams on the air, in a list by subband. They are of all events."""

    coupled: bool
    """Whether beams disturb each other; otherwise nothing is listed here."""
    noise_w: float
    """Noise of a subband without beams [W]."""
    headroom: float
    """How far above what is heard at the start a promise is."""
    coupling: Coupling
    active: IntArray
    """How many by subband; by (subband, place) are their source, destination, number, power [W],
    promised level [W] and the interference that they hear now [W]."""
    src: IntArray
    dst: IntArray
    number: IntArray
    power_w: FloatArray
    promised_w: FloatArray
    heard_w: FloatArray
    next_number: IntArray
    """One number: of the next beam."""
    refused: BoolArray
    """By subband: whether something waits for the end of others' beams there."""


def no_beams(thz: Thz, racks: int, coupling: Coupling) -> Beams:
    """A silent air."""
    coupled = thz.interference == "beams"
    rows = (racks // 2) * (1 if thz.sharing == "rack" else SHARED_ROWS) if coupled else 0
    shape = thz.subbands, rows
    src, dst, number = np.zeros((3, *shape), dtype=np.int64)
    power_w, promised_w, heard_w = np.zeros((3, *shape))
    return Beams(
        coupled, thz.noise_w, thz.headroom, coupling, np.zeros(thz.subbands, dtype=np.int64),
        src, dst, number, power_w, promised_w, heard_w,
        np.zeros(1, dtype=np.int64), np.zeros(thz.subbands, dtype=np.bool_),
    )  # fmt: skip


@inner_bare
def level_w(beams: Beams, subband: int, i: int, j: int) -> float:
    """What a beam i -> j that begins now is promised [W]."""
    return beams.headroom * (beams.noise_w + _heard_w(beams, subband, i, j))


@inner_bare
def _heard_w(beams: Beams, c: int, i: int, j: int) -> float:
    total_w = 0.0
    for b in range(beams.active[c]):
        gain = coupled_gain(beams.coupling, c, beams.src[c, b], beams.dst[c, b], i, j)
        total_w += beams.power_w[c, b] * gain
    return total_w


@inner_bare
def admits(beams: Beams, c: int, i: int, j: int, power_w: float, promised_w: float) -> bool:
    """Whether a beam and all others on its subband would keep their promise; notes if not."""
    if not beams.coupled:
        return True
    fits = beams.noise_w + _heard_w(beams, c, i, j) <= promised_w * ROUNDING
    fits = fits and beams.active[c] < beams.src.shape[1]
    b = 0
    while fits and b < beams.active[c]:
        gain = coupled_gain(beams.coupling, c, i, j, beams.src[c, b], beams.dst[c, b])
        level = beams.noise_w + beams.heard_w[c, b] + power_w * gain
        fits = level <= beams.promised_w[c, b] * ROUNDING
        b += 1
    if not fits:
        beams.refused[c] = True
    return fits


@inner_bare
def enter(beams: Beams, c: int, i: int, j: int, power_w: float, promised_w: float) -> bool:
    """List a beam that begins, if it is admitted."""
    if not beams.coupled:
        return True
    if not admits(beams, c, i, j, power_w, promised_w):
        return False
    last = beams.active[c]
    beams.heard_w[c, last] = _heard_w(beams, c, i, j)
    _change(beams, c, i, j, power_w)
    beams.src[c, last], beams.dst[c, last] = i, j
    beams.number[c, last] = beams.next_number[0]
    beams.power_w[c, last], beams.promised_w[c, last] = power_w, promised_w
    beams.next_number[0] += 1
    beams.active[c] += 1
    return True


@inner_bare
def leave(beams: Beams, c: int, number: int) -> None:
    """Forget a beam that has ended."""
    last, gone = beams.active[c] - 1, 0
    while beams.number[c, gone] != number:
        gone += 1
    i, j, power_w = beams.src[c, gone], beams.dst[c, gone], beams.power_w[c, gone]
    beams.src[c, gone], beams.dst[c, gone] = beams.src[c, last], beams.dst[c, last]
    beams.number[c, gone], beams.power_w[c, gone] = beams.number[c, last], beams.power_w[c, last]
    beams.promised_w[c, gone] = beams.promised_w[c, last]
    beams.heard_w[c, gone] = beams.heard_w[c, last]
    beams.active[c] = last
    _change(beams, c, i, j, -power_w)


@inner_bare
def _change(beams: Beams, c: int, i: int, j: int, power_w: float) -> None:
    """Add to what listed beams hear; take away, where the power is negative."""
    for b in range(beams.active[c]):
        gain = coupled_gain(beams.coupling, c, i, j, beams.src[c, b], beams.dst[c, b])
        beams.heard_w[c, b] = max(beams.heard_w[c, b] + power_w * gain, 0.0)


@inner_bare
def number_of(beams: Beams, c: int, i: int, j: int) -> int:
    """The number of the latest beam i -> j."""
    b = beams.active[c] - 1
    while beams.src[c, b] != i or beams.dst[c, b] != j:
        b -= 1
    return int(beams.number[c, b])


@inner
def enter_together(
    beams: Beams, c: IntArray, i: IntArray, j: IntArray, power_w: FloatArray, promised_w: FloatArray
) -> BoolArray:
    """List beams that begin together, one after the other, if all are admitted; which are."""
    admitted = np.ones(len(c), dtype=np.bool_)
    count = beams.active.copy()
    heard_w = beams.heard_w[:, : count.max()].copy()
    for a in range(len(c)):
        admitted[a] = enter(beams, c[a], i[a], j[a], power_w[a], promised_w[a])
    if not admitted.all():
        beams.active[:] = count
        beams.heard_w[:, : count.max()] = heard_w
    return admitted
