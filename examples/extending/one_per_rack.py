"""A discipline: a rack has one transmission at a time, at full power on its best free subband."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thzsync.channel.rate import rate_bps
from thzsync.jit import kernel
from thzsync.synthesis import FlowMethod
from thzsync.synthesis.exchanges import FreeTransfers
from thzsync.wireless import register_discipline
from thzsync.wireless.bookkeeping import begin, next_run, note_blocked, startable, write_down
from thzsync.wireless.group import FlowGroup
from thzsync.wireless.state import GroupView


@kernel
def begin_one_per_rack(view: GroupView, stage: int, now_ps: int) -> tuple[int, int, bool]:
    air, radio, links, queue = view.air, view.radio, view.links, view.queue
    left = startable(queue, stage)
    note_blocked(radio, links, queue, left, now_ps)
    flow, row, chunks, subband, lasting_ps = np.zeros((5, len(left)), dtype=np.int64)
    power_w, n = np.zeros(len(left)), 0
    for f in np.flatnonzero(left):
        u, src, dst = links.sender[f], view.src[f], view.dst[f]
        usable = air.sending[src] == 0 and air.chains[src] > 0 and air.chains[dst] > 0
        watts, best, snr = queue.budget_w[u], -1, 0.0
        for c in range(queue.snr_per_w.shape[1]):
            busy = air.busy[src, c] or air.busy[dst, c]
            if usable and not busy and queue.snr_per_w[f, c] > snr:
                best, snr = c, queue.snr_per_w[f, c]
        if best >= 0 and snr * watts >= queue.needed_snr:
            first, count, bits = next_run(queue, f, queue.lowest[f])
            flow[n], row[n], chunks[n], subband[n], power_w[n] = f, first, count, best, watts
            lasting_ps[n] = np.ceil(bits / rate_bps(watts, snr, radio.law) * 1e12)
            n += begin(air, links, queue, f, first, count, best, watts)
    sent = flow[:n], row[:n], chunks[:n], subband[:n], power_w[:n], lasting_ps[:n]
    return write_down(view, sent, now_ps)


@dataclass(frozen=True)
class OnePerRack:
    name: str = "one-per-rack"
    common: bool = False  # every transmission ends by itself
    guarded: bool = False  # no guard time at every start,
    steers: bool = True  # but where a chain turns to another rack
    in_turn: bool = True  # a flow has one transmission in the air at a time
    work_conserving: bool = True  # an event with something to send is never idle
    power: str = "least"  # no transmission has more power than its bytes need in its time
    uses_budget: bool = True  # and that is all the power it may have

    def tune(self, group: FlowGroup) -> None: ...

    def start(self, group: FlowGroup, now_ps: int) -> tuple[int, int, bool]:
        return begin_one_per_rack(group.view, group.stage, now_ps)


DISCIPLINE = register_discipline(OnePerRack())
METHOD = FlowMethod(
    "a2a", "one-per-rack", FreeTransfers("a2a"), "one-per-rack", "one transmission per rack"
)
