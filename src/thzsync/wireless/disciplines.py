"""The disciplines that come with the package: with rounds, and without.

In a round, transmissions start and end together, one round of an event at a time. Without rounds
every flow sends chunk after chunk, whatever the others do.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import permutations
from typing import Final

import numpy as np

from thzsync.arrays import BoolArray, IntArray
from thzsync.wireless.bookkeeping import Started
from thzsync.wireless.forming import form_round
from thzsync.wireless.group import FlowGroup
from thzsync.wireless.pipelining import form_pinned, look_at_links, pin
from thzsync.wireless.streaming import stream
from thzsync.wireless.sustaining import sustain

NO_LEAD: Final = np.ones(0)
"""Where nothing is passed on, nobody waits for a flow."""
MOST_PERMUTED: Final = 4
"""Subbands up to which every order is tried."""


@dataclass(frozen=True)
class Rounds:
    """Rounds of as many transmissions as possible, or of one for everybody who is ready."""

    name: str
    matching: bool = False
    """Greedy b-matching, then augmented (eq:a2a_matching); otherwise every ready transmission
    takes one subband (eq:ar_round_problem)."""
    channel_aware: bool = True
    """Whether gains guide the choice of transmissions and subbands."""
    optimal_power: bool = True
    """Minimum common duration at minimum power, or each budget split equally."""
    one_subband: bool = False
    """Whether the event keeps to one subband, the one whose weakest link is best."""
    common: bool = True
    guarded: bool = True
    steers: bool = False
    in_turn: bool = True
    uses_budget: bool = True

    @property
    def work_conserving(self) -> bool:
        """An event that keeps to one subband leaves the others empty."""
        return not self.one_subband

    @property
    def power(self) -> str:
        """An equal share of the budget is more than the faster transmissions of a round need."""
        return "least" if self.optimal_power else "slowest"

    def tune(self, group: FlowGroup) -> None:
        """Leave all subbands but one out, and try the strongest links first, where asked to."""
        links, snr_per_w = group.links, group.queue.snr_per_w
        if self.one_subband and len(snr_per_w):
            common = int(np.argmax(snr_per_w.min(axis=0)))
            snr_per_w[:, np.arange(snr_per_w.shape[1]) != common] = 0.0
        if self.matching and self.channel_aware:
            links.order[:] = np.argsort(-snr_per_w, axis=None, kind="stable")
            links.rank[links.order] = np.arange(len(links.order))

    def start(self, group: FlowGroup, now_ps: int) -> Started:
        """The next round."""
        how = self.matching, self.channel_aware, self.optimal_power
        return form_round(group.view, group.stage, *how, now_ps)


@dataclass(frozen=True)
class Pipelined:
    """Rounds on pinned links: every chunk goes on as soon as it has arrived, all links at once.

    Links stay pointed, so a guard time occurs only in rounds in which a chain turns.
    """

    name: str
    common: bool = True
    guarded: bool = False
    steers: bool = True
    in_turn: bool = True
    work_conserving: bool = True

    def tune(self, group: FlowGroup) -> None:
        """Forget the pins: other subbands may be better now."""
        group.pins = None

    def start(self, group: FlowGroup, now_ps: int) -> Started:
        """The next round; subbands are dealt anew when a link begins, or has nothing left to send.

        Where there are too few for all links, they take turns: those that can send share them.
        """
        links = group.directed_links
        changed = look_at_links(group.view, links.of_flow, links.active)
        if group.pins is None or changed:
            pins = _deal(group, links.active)
            group.pins = pins[links.of_flow]
            group.short = bool((links.active & ~pins.any(axis=1)).any())
        kept = group.pins
        if group.short:
            queue = group.queue
            able = (queue.ready > 0) & (queue.stage <= group.stage)
            able &= ~queue.bundled | (queue.ready == queue.owned)
            kept = _deal(group, links.any_of(able))[links.of_flow]
        return form_pinned(group.view, kept, group.stage, now_ps)


def _deal(group: FlowGroup, active: BoolArray) -> BoolArray:
    """Subbands by (link, subband)."""
    queue, links = group.queue, group.directed_links
    cap_w = np.minimum(queue.budget_w, group.radio.max_power_w)
    snr_per_w = queue.clear_snr_per_w[links.first]  # pins outlast the beams of this instant
    orders = _orders(snr_per_w.shape[1])
    return pin(
        links.sender, links.receiver, snr_per_w, active, cap_w, queue.needed_snr, orders,
        group.chains, group.radio.law,
    )  # fmt: skip


@cache
def _orders(subbands: int) -> IntArray:
    """Orders in which subbands are dealt: all of a few, rotations of many."""
    if subbands <= MOST_PERMUTED:
        return np.array(list(permutations(range(subbands))), dtype=np.int64)
    first = np.arange(subbands, dtype=np.int64)
    return np.array([np.roll(first, k) for k in range(subbands)])


@dataclass(frozen=True)
class Streaming:
    """Every flow on its best free subband, at an equal share of its sender's budget."""

    name: str
    flights: int = 1
    """Transmissions that a flow may have in the air at once, each on a subband of its own."""
    common: bool = False
    guarded: bool = False
    steers: bool = False
    work_conserving: bool = True

    @property
    def in_turn(self) -> bool:
        """One transmission of a flow at a time, where it may have no more."""
        return self.flights == 1

    @property
    def power(self) -> str:
        """A single transmission lasts no longer than it needs; several at once may last longer."""
        return "slowest" if self.flights == 1 else "budget"

    def tune(self, group: FlowGroup) -> None:
        """Nothing to prepare: each transmission looks at the gains itself."""

    def start(self, group: FlowGroup, now_ps: int) -> Started:
        """The next transmission of every flow that may send."""
        far = group.lookahead and self.in_turn
        return stream(group.view, group.stage, self.flights, far, now_ps)


@dataclass(frozen=True)
class Sustained:
    """Links of the busiest racks, kept for a while; every link sends what its rate allows."""

    name: str
    hold_s: float = 1e-4
    """How long a link is kept [s]; for a chunk at least."""
    relayed: bool = False
    """Whether chunks are passed on: power is then spread evenly, and nobody may lag behind."""
    common: bool = False
    guarded: bool = False
    steers: bool = True
    in_turn: bool = False
    work_conserving: bool = True

    def tune(self, group: FlowGroup) -> None:
        """Nothing to prepare: rates are looked at in every round."""

    def start(self, group: FlowGroup, now_ps: int) -> Started:
        """The next transmissions."""
        lead = group.lead if self.relayed else NO_LEAD
        return sustain(group.view, group.stage, self.hold_s, self.relayed, lead, now_ps)


BUILT_IN: Final = (
    Rounds("matching", matching=True),
    Rounds("matching-blind", matching=True, channel_aware=False),
    Rounds("matching-equal", matching=True, optimal_power=False),
    Rounds("assignment"),
    Rounds("assignment-blind", channel_aware=False),
    Rounds("assignment-equal", optimal_power=False),
    Rounds("assignment-one", one_subband=True),
    Pipelined("pipeline"),
    Streaming("streaming"),
    Streaming("striping", flights=64),
    Sustained("sustained"),
    Sustained("sustained-chunk", hold_s=0.0, relayed=True),
)
