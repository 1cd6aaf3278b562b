"""What beams promise each other: every level, and every sum of interference, worked out anew."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.auditor.findings import TOLERANCE, Findings
from thzsync.auditor.record import Record
from thzsync.auditor.rounds import noise_w
from thzsync.auditor.tables import real_sum_by, spread

MOST_PAIRS: Final = 1 << 20
"""So many pairs of beams are looked at together, about."""


def interference(record: Record, findings: Findings) -> None:
    """A transmission was promised what its start implies, and never hears more.

    Without interference between beams that is the constant noise.
    """
    sent = record.transmissions
    if record.scenario.thz.interference == "constant":
        constant = np.isclose(sent.noise_w, noise_w(record), rtol=TOLERANCE, atol=0)
        for k in findings.broken(~constant):
            findings.add(sent.name(k), f"its noise is {sent.noise_w[k]:.9g} W, not the constant")
        return
    sound = record.on_floor(sent.src, sent.dst) & (sent.src != sent.dst)
    sound &= np.isfinite(sent.power_w) & (sent.end_ps > sent.taken_ps)
    air = _Air(record)
    for subband in range(record.scenario.thz.subbands):
        row = np.flatnonzero(sound & (sent.subband == subband))
        row = row[np.argsort(sent.taken_ps[row], kind="stable")]
        for part in _parts(sent.taken_ps[row], sent.end_ps[row]):
            _check(record, findings, air, row, part)


class _Pairs(NamedTuple):
    """Who is on the air with whom, by place in the order of starts: targets of one part."""

    first: int
    end: int
    who: IntArray
    """The beam that disturbs."""
    whom: IntArray


def _parts(start_ps: IntArray, end_ps: IntArray) -> Iterator[_Pairs]:
    """All pairs of beams that overlap, both ways round; ``start_ps`` rises.

    The later one of a pair starts while the earlier one lasts, so those of one beam are a run.
    """
    place = np.arange(len(start_ps), dtype=np.int64)
    until = np.maximum(np.searchsorted(start_ps, end_ps, side="left"), place + 1)
    most = np.cumsum(until - place)
    cuts = np.searchsorted(most, np.arange(0, most[-1] if len(most) else 0, MOST_PAIRS))
    bounds = [*np.unique(cuts).tolist(), len(place)]
    for first, end in pairwise(bounds):
        target, later = spread(place[first:end] + 1, (until - place - 1)[first:end])
        begin, stop = np.maximum(place + 1, first), np.minimum(until, end)
        earlier, reached = spread(begin, np.maximum(stop - begin, 0))
        who, whom = np.concatenate((later, earlier)), np.concatenate((target + first, reached))
        yield _Pairs(first, end, who, whom)


def _check(record: Record, findings: Findings, air: _Air, row: IntArray, pairs: _Pairs) -> None:
    sent, thz = record.transmissions, record.scenario.thz
    k, own = row[pairs.who], pairs.whom - pairs.first
    target = row[pairs.first : pairs.end]
    hears_w = sent.power_w[k] * air.coupling(k, row[pairs.whom])
    begins_ps = sent.taken_ps[target]
    before = sent.taken_ps[k] < begins_ps[own]
    at_once = sent.taken_ps[k] == begins_ps[own]
    headroom, told_w = 10 ** (thz.interference_headroom_db / 10), sent.noise_w[target]
    least_w = noise_w(record) + real_sum_by(own, np.where(before, hears_w, 0.0), len(target))
    most_w = least_w + real_sum_by(own, np.where(at_once, hears_w, 0.0), len(target))
    wrong = told_w < least_w * headroom * (1 - TOLERANCE)
    # what unfinished iterations sent is not recorded, but was heard
    wrong |= (told_w > most_w * headroom * (1 + TOLERANCE)) & (not record.many_jobs)
    for n in findings.broken(wrong | ~np.isfinite(told_w)):
        low, high = least_w[n] * headroom, most_w[n] * headroom
        message = f"was promised {told_w[n]:.9g} W, its start implies {low:.9g} to {high:.9g} W"
        findings.add(sent.name(target[n]), message)
    loudest_w = _loudest_w(
        own, np.maximum(sent.taken_ps[k], begins_ps[own]), sent.end_ps[k], hears_w, len(target)
    )
    level_w = noise_w(record) + loudest_w
    for n in findings.broken(level_w > told_w * (1 + TOLERANCE)):
        findings.add(
            sent.name(target[n]), f"hears {level_w[n]:.9g} W, was promised {told_w[n]:.9g} W"
        )


def _loudest_w(
    target: IntArray, begin_ps: IntArray, end_ps: IntArray, power_w: FloatArray, targets: int
) -> FloatArray:
    """The largest sum of interference at any instant, by target [W]."""
    count = len(target)
    member = np.tile(np.arange(count, dtype=np.int64), 2)
    begins = np.repeat(np.array([True, False]), count)
    order = np.lexsort((begins, np.concatenate((begin_ps, end_ps)), target[member]))
    member, begins = member[order], begins[order]
    # every target's sum returns to nothing, so one running sum serves them all
    running = np.cumsum(np.where(begins, power_w[member], -power_w[member]))
    loudest = np.zeros(targets)
    np.maximum.at(loudest, target[member], running)
    return loudest


class _Air:
    """Positions and patterns as the scenario has them."""

    def __init__(self, record: Record) -> None:
        thz = record.scenario.thz
        self._record, self._place_m = record, np.array(record.scenario.floor.places_m)
        self._angle_deg = np.arange(18_001) / 100  # patterns are given at these angles
        self._sends, self._hears = (
            10 ** (-thz.antenna.loss_db(self._angle_deg, gain_dbi) / 10)
            for gain_dbi in (thz.transmit_gain_db, thz.receive_gain_db)
        )
        self._antennas = 10 ** (thz.transmit_gain_db / 10) * 10 ** (thz.receive_gain_db / 10)

    def coupling(self, who: IntArray, whom: IntArray) -> FloatArray:
        """Share of a transmission's power that another one's receiver gets, by rows of both."""
        sent = self._record.transmissions
        k, to, i, j = sent.src[who], sent.dst[who], sent.src[whom], sent.dst[whom]
        gain = np.zeros(len(who))
        for subband in np.unique(sent.subband[who]).tolist():
            of = sent.subband[who] == subband
            gain[of] = self._record.channel.base_gain(k[of], j[of])[:, subband]
        away = np.interp(self._angle(k, to, j), self._angle_deg, self._sends)
        aside = np.interp(self._angle(j, i, k), self._angle_deg, self._hears)
        return self._antennas * gain * away * aside

    def _angle(self, at: IntArray, one: IntArray, other: IntArray) -> FloatArray:
        """Angle under which a rack sees two others [degrees]; any for a rack and itself."""
        to_one, to_other = (self._place_m[rack] - self._place_m[at] for rack in (one, other))
        cross = to_one[:, 0] * to_other[:, 1] - to_one[:, 1] * to_other[:, 0]
        angle: FloatArray = np.degrees(np.arctan2(np.abs(cross), (to_one * to_other).sum(axis=1)))
        return angle
