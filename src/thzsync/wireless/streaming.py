"""P2P: every flow sends chunk after chunk on its best free subband, without rounds."""

from __future__ import annotations

import math

import numpy as np

from thzsync.arrays import FloatArray, IntArray, kernel
from thzsync.channel.rate import rate_bps
from thzsync.wireless.bookkeeping import Sent, begin, next_run, note_blocked, startable
from thzsync.wireless.state import WORTHWHILE, Air, Frontier, Radio, Web

_PS = 1e12


@kernel
def stream(air: Air, radio: Radio, web: Web, frontier: Frontier, stage: int, now_ps: int) -> Sent:
    """Start the next transmission of every idle flow that finds a subband and power."""
    left = startable(frontier, stage)
    note_blocked(radio, web, frontier, left, now_ps)
    share_w = _shares_w(web, frontier, left)
    n, flows = 0, len(left)
    flow, row = np.empty(flows, dtype=np.int64), np.empty(flows, dtype=np.int64)
    chunks, subband = np.empty(flows, dtype=np.int64), np.empty(flows, dtype=np.int64)
    power_w, lasting_ps = np.empty(flows), np.empty(flows, dtype=np.int64)
    for f in np.argsort(frontier.sent, kind="mergesort"):  # least served first
        if left[f] == 0 or frontier.flying[f] > 0:
            continue
        cap_w = _cap_w(air, radio, web, frontier, share_w, f)
        best = _best_subband(air, web, frontier, cap_w, f)
        if best < 0:
            continue
        row[n], chunks[n], bits = next_run(frontier, f, frontier.lowest[f])
        rate = rate_bps(cap_w, frontier.snr_per_w[f, best], radio.subband_hz)
        flow[n], subband[n], power_w[n] = f, best, cap_w
        lasting_ps[n] = math.ceil(bits / rate * _PS * (1.0 + 1e-15))
        begin(air, web, frontier, f, row[n], chunks[n], best, cap_w)
        n += 1
    return flow[:n], row[:n], chunks[:n], subband[:n], power_w[:n], lasting_ps[:n]


@kernel
def _shares_w(web: Web, frontier: Frontier, left: IntArray) -> FloatArray:
    """A rack's budget [W] over its flows that have something to send or are sending."""
    active = np.zeros(len(frontier.racks), dtype=np.int64)
    for f in range(len(left)):
        if left[f] > 0 or frontier.flying[f] > 0:
            active[web.sender[f]] += 1
    return frontier.budget_w / np.maximum(active, 1)


@kernel
def _cap_w(
    air: Air, radio: Radio, web: Web, frontier: Frontier, share_w: FloatArray, flow: int
) -> float:
    u = web.sender[flow]
    left_w = min(
        frontier.budget_w[u] - frontier.drawn_w[u],
        radio.max_power_w - air.power_w[frontier.racks[u]],
    )
    return min(left_w, share_w[u]) if left_w >= WORTHWHILE * share_w[u] else 0.0


@kernel
def _best_subband(air: Air, web: Web, frontier: Frontier, cap_w: float, flow: int) -> int:
    src, dst = frontier.racks[web.sender[flow]], frontier.racks[web.receiver[flow]]
    best, strongest = -1, 0.0
    if air.chains[src] == 0 or air.chains[dst] == 0:
        return best
    for c in range(frontier.snr_per_w.shape[1]):
        snr = frontier.snr_per_w[flow, c]
        free = not (air.busy[src, c] or air.busy[dst, c])
        if free and snr > strongest and snr * cap_w >= frontier.needed_snr:
            best, strongest = c, snr
    return best
