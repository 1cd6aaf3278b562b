"""The estimated cost of an action, without simulation: bytes over rates on both carriers.

Every unit keeps fibres and transceivers busy for its bytes over their rates. An event lasts as long
as its busiest resource; fibre and THz work in parallel. The estimate ignores queues, dependencies
and guard times; model_based.py measures their effect as a factor per carrier. The estimate also
proposes actions: the same transceiver time for every rack, given to the units that use it best.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from thzsync.arrays import BoolArray, FloatArray, IntArray
from thzsync.channel import efficiency, law_of, saving_powers_w
from thzsync.coordinator.interface import Action, Situation, Terms
from thzsync.elementary import product, ten_to
from thzsync.energy import marginal_fibre_j, marginal_thz_j
from thzsync.errors import ThzSyncError
from thzsync.jit import kernel
from thzsync.synthesis import Offer

SLOWEST: Final = 1e-3
"""Spectral efficiency assumed for a dead link [bit/s/Hz]."""


class Candidates(NamedTuple):
    """Actions in rows, and the estimated cost of each."""

    counts: IntArray
    """THz chunks by (candidate, unit)."""
    level: IntArray
    """Index of the power level of all senders."""
    fibre_s: FloatArray
    """Time of the busiest fibre [s]."""
    air_s: FloatArray
    """Time of the busiest transceiver [s]."""
    energy_j: FloatArray
    """Energy on both carriers, of the kind that the reward counts [J]."""

    def take(self, places: IntArray) -> Candidates:
        """Some of them, in this order."""
        return Candidates._make(column[places] for column in self)

    def even(self, chunks: IntArray) -> BoolArray:
        """Whether all units give the same share, as near as whole chunks can."""
        share = self.counts.sum(axis=1, keepdims=True) / chunks.sum()
        near: BoolArray = (np.abs(self.counts - share * chunks) < 1.0).all(axis=1)
        return near

    def action(self, situation: Situation, candidate: int) -> Action:
        """One of them."""
        power = float(situation.power_levels[self.level[candidate]])
        budgets = np.full(len(situation.offer.racks), power)
        return Action.of(situation.offer, self.counts[candidate], budgets)


@dataclass(frozen=True, eq=False)
class Estimate:
    """One event's units in seconds and joules."""

    chunks: IntArray
    fibre_s: FloatArray
    """Time that a wholly wired unit keeps a fibre busy, by (unit, fibre) [s]."""
    air_s: FloatArray
    """Time that a unit on THz keeps a rack's transceiver busy, by (level, unit, rack) [s]."""
    fibre_j: FloatArray
    """Energy of a wholly wired unit [J]."""
    air_j: FloatArray
    """Energy of a unit on THz, by (level, unit) [J]."""

    def candidate(self, counts: IntArray, level: IntArray) -> Candidates:
        """Actions in rows with their cost."""
        share = counts / self.chunks
        fibre = product(1 - share, self.fibre_s).max(axis=1, initial=0.0)
        air = np.empty(len(counts))
        energy = product(1 - share, self.fibre_j)
        for k in np.unique(level):
            at = level == k
            air[at] = product(share[at], self.air_s[k]).max(axis=1, initial=0.0)
            energy[at] += product(share[at], self.air_j[k])
        return Candidates(counts, level, fibre, air, energy)

    def candidates(self, budgets: int, even_too: bool = False) -> Candidates:
        """Every power level with ``budgets`` transceiver times, from none to all that is needed.

        ``even_too`` adds twice as many even splits, in which all units have the same THz share.
        """
        levels = len(self.air_s)
        rows = [np.zeros((1, len(self.chunks)))]
        level = [np.array([levels - 1])]
        for k in range(levels):
            most_s = float(self.air_s[k].sum(axis=0).max(initial=0.0))
            steps = most_s * np.arange(1, budgets) / (budgets - 1)
            best_first = np.argsort(self.air_s[k].max(axis=1) / self.chunks, kind="stable")
            rows.append(_fill(self.air_s[k], best_first, steps))
            level.append(np.full(budgets - 1, k))
            if even_too:
                shares = np.arange(1, 2 * budgets - 1) / (2 * budgets - 2)
                rows.append(np.repeat(shares[:, None], len(self.chunks), axis=1))
                level.append(np.full(len(shares), k))
        counts = np.rint(np.concatenate(rows) * self.chunks).astype(np.int64)
        return self.candidate(counts, np.concatenate(level))


@kernel
def _fill(air_s: FloatArray, order: IntArray, budget_s: FloatArray) -> FloatArray:
    """Shares by (budget, unit): units in this order, while both their ends have time left."""
    units, racks = air_s.shape
    share = np.zeros((len(budget_s), units))
    left_s = np.empty(racks)
    for b in range(len(budget_s)):
        left_s[:] = budget_s[b]
        for u in order:
            most = 1.0
            for r in range(racks):
                if air_s[u, r] > 0.0:
                    most = min(most, left_s[r] / air_s[u, r])
            most = max(most, 0.0)
            share[b, u] = most
            for r in range(racks):
                left_s[r] -= most * air_s[u, r]
    return share


_estimates: WeakKeyDictionary[Situation, Estimate] = WeakKeyDictionary()
"""Estimates of live situations: the decision and the outcome use the same one."""


def estimate(situation: Situation) -> Estimate:
    """The estimate of an event, made once."""
    known = _estimates.get(situation)
    if known is None:
        if situation.terms is None:
            raise ThzSyncError("estimate: the situation has no terms (capacities and prices)")
        wired, aired = _loads(situation.offer)
        fibre_s, fibre_j = _on_fibre(situation.terms, wired, situation.units)
        air_s, air_j = _on_air(situation, situation.terms, aired)
        known = Estimate(situation.offer.chunks, fibre_s, air_s, fibre_j, air_j)
        _estimates[situation] = known
    return known


def _on_fibre(terms: Terms, loads: _Loads, units: int) -> tuple[FloatArray, FloatArray]:
    """Times by (unit, fibre) and energies by unit; background lowers rates by its mean load."""
    network, load = terms.network, terms.scenario.optical.background.load
    bits: FloatArray = 8.0 * loads.size_bytes.astype(np.float64)
    link, flow, share = network.shares(loads.src, loads.dst)
    busy_s = bits[flow] * share / network.rate_bps[link] / (1.0 - load)
    used, place = np.unique(link, return_inverse=True)
    time_s, energy_j = np.zeros((units, len(used))), np.zeros(units)
    np.add.at(time_s, (loads.unit[flow], place), busy_s)
    spent_j = network.energies_j(loads.src, loads.dst, bits)
    if terms.scenario.reward.energy != "transmission":
        bit_hops = bits * network.hops(loads.src, loads.dst)
        link_s = bits * np.bincount(flow, share / network.rate_bps[link], len(bits))
        spent_j = marginal_fibre_j(terms.scenario, spent_j, bit_hops, bits, link_s)
    np.add.at(energy_j, loads.unit, spent_j)
    return time_s, energy_j


def _on_air(situation: Situation, terms: Terms, loads: _Loads) -> tuple[FloatArray, FloatArray]:
    """Times by (level, unit, rack) and energies by (level, unit)."""
    thz, racks, bits = terms.scenario.thz, situation.offer.racks, 8.0 * loads.size_bytes
    out, into = np.zeros((2, situation.units, len(racks)))
    np.add.at(out, (loads.unit, np.searchsorted(racks, loads.src)), bits)
    np.add.at(into, (loads.unit, np.searchsorted(racks, loads.dst)), bits)
    # A rack that sends and receives gives each its part of the subbands.
    sending = out.sum(axis=0) / np.maximum(out.sum(axis=0) + into.sum(axis=0), 1.0)
    sent = out.sum(axis=1)
    subbands = np.maximum(thz.subbands * product(out, sending) / np.maximum(sent, 1.0), 1.0)
    power_w = situation.power_levels[:, None] * thz.max_power_w
    snr_per_w, law = ten_to(situation.snr_db_per_w / 10) / thz.headroom, law_of(thz)
    each_w = (power_w / subbands)[:, :, None]
    per_hz = efficiency(snr_per_w * each_w, law).mean(axis=2)
    bps = thz.subband_hz * np.maximum(per_hz, SLOWEST)
    energy_j = power_w * sent / (subbands * bps)
    if len(law.step_snr) and thz.radiation == "needed":
        energy_j *= (saving_powers_w(each_w, snr_per_w, law) / each_w).mean(axis=2)
    if terms.scenario.reward.energy != "transmission":
        energy_j = marginal_thz_j(terms.scenario, sent / bps, energy_j, sent)
    return (out + into) / (thz.subbands * bps[:, :, None]), energy_j


class _Loads(NamedTuple):
    """Bytes that units send, with source and destination."""

    unit: IntArray
    src: IntArray
    dst: IntArray
    size_bytes: IntArray

    @classmethod
    def of(cls, parts: list[tuple[int, IntArray, IntArray, IntArray]]) -> _Loads:
        """Loads of unit after unit, joined."""
        units = [np.full(len(src), unit) for unit, src, _, _ in parts]
        columns = list(zip(*parts, strict=True))[1:]
        return cls(*map(np.concatenate, (units, *columns)))


def _loads(offer: Offer) -> tuple[_Loads, _Loads]:
    """The loads of every unit if it is wholly wired, and if it is wholly on THz."""
    nothing = np.zeros(offer.units, dtype=np.int64)
    none = offer.lower(nothing)
    if offer.per_unit:  # the same flows on either carrier
        same = _Loads(np.arange(offer.units), none.src, none.dst, none.flow_bytes)
        return same, same
    wired, aired = [], []
    for unit in range(offer.units):
        alone = nothing.copy()
        alone[unit] = offer.chunks[unit]
        graph = offer.lower(alone)
        thz = graph.thz_chunks > 0
        aired.append((unit, graph.src[thz], graph.dst[thz], graph.flow_bytes[thz]))
        wired.append((unit, none.src, none.dst, none.flow_bytes))
        wired.append((unit, graph.src[~thz], graph.dst[~thz], -graph.flow_bytes[~thz]))
    return _Loads.of(wired), _Loads.of(aired)
