"""Disciplines with rounds: transmissions that start and end together, one round at a time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import permutations
from typing import Final

import numpy as np

from thzsync.arrays import BoolArray, IntArray
from thzsync.wireless.bookkeeping import Started
from thzsync.wireless.forming import form_round
from thzsync.wireless.party import Party
from thzsync.wireless.pipelining import form_pinned, look_at_links, pin


@dataclass(frozen=True)
class Matching:
    """As many transmissions as possible: greedy b-matching, then augmented (eq:a2a_matching)."""

    name: str
    channel_aware: bool = True
    """Whether gains guide the choice of transmissions and subbands."""
    optimal_power: bool = True
    """Minimum common duration at minimum power, or each budget split equally."""
    common: bool = True
    guarded: bool = True
    steers: bool = False
    in_turn: bool = True

    def tune(self, party: Party) -> None:
        """Try the strongest links first, or take them as they come."""
        if self.channel_aware:
            web, snr_per_w = party.web, party.frontier.snr_per_w
            web.order[:] = np.argsort(-snr_per_w, axis=None, kind="stable")
            web.rank[web.order] = np.arange(len(web.order))

    def start(self, party: Party, now_ps: int) -> Started:
        """The next round."""
        how = self.channel_aware, self.optimal_power
        return form_round(party.seat, party.stage, True, *how, now_ps)


@dataclass(frozen=True)
class Assignment:
    """Every ready transmission takes one subband (eq:ar_round_problem)."""

    name: str
    channel_aware: bool = True
    optimal_power: bool = True
    one_subband: bool = False
    """Whether the event keeps to one subband, the one whose weakest link is best."""
    common: bool = True
    guarded: bool = True
    steers: bool = False
    in_turn: bool = True

    def tune(self, party: Party) -> None:
        """Leave all subbands but one out, where the event keeps to one."""
        snr_per_w = party.frontier.snr_per_w
        if self.one_subband and len(snr_per_w):
            common = int(np.argmax(snr_per_w.min(axis=0)))
            snr_per_w[:, np.arange(snr_per_w.shape[1]) != common] = 0.0

    def start(self, party: Party, now_ps: int) -> Started:
        """The next round."""
        how = self.channel_aware, self.optimal_power
        return form_round(party.seat, party.stage, False, *how, now_ps)


@dataclass(frozen=True)
class Pipelined:
    """Rounds on pinned links: every chunk goes on as soon as it has arrived, all links at once.

    Links stay pointed, so a guard time is owed only in rounds in which a chain turns.
    """

    name: str
    common: bool = True
    guarded: bool = False
    steers: bool = True
    in_turn: bool = True

    def tune(self, party: Party) -> None:
        """Forget the pins: other subbands may be better now."""
        party.pins = None

    def start(self, party: Party, now_ps: int) -> Started:
        """The next round; subbands are dealt anew when a link begins, or has nothing left to send.

        Where there are too few for all links, they take turns: those that are ready share them.
        """
        links = party.links
        changed = look_at_links(party.seat, links.of_flow, links.active)
        if party.pins is None or changed:
            pins = _deal(party, links.active)
            party.pins = pins[links.of_flow]
            party.short = bool((links.active & ~pins.any(axis=1)).any())
        kept = party.pins
        if party.short:
            kept = _deal(party, links.any_of(party.frontier.ready > 0))[links.of_flow]
        return form_pinned(party.seat, kept, party.stage, now_ps)


def _deal(party: Party, active: BoolArray) -> BoolArray:
    """Subbands by (link, subband)."""
    frontier, links = party.frontier, party.links
    cap_w = np.minimum(frontier.budget_w, party.radio.max_power_w)
    snr_per_w = frontier.snr_per_w[links.first]
    orders = _orders(snr_per_w.shape[1])
    return pin(
        links.sender, links.receiver, snr_per_w, active, cap_w, frontier.needed_snr, orders,
        party.chains,
    )  # fmt: skip


@cache
def _orders(subbands: int) -> IntArray:
    """Orders in which subbands are dealt: all of a few, rotations of many."""
    if subbands <= MOST_PERMUTED:
        return np.array(list(permutations(range(subbands))), dtype=np.int64)
    first = np.arange(subbands, dtype=np.int64)
    return np.array([np.roll(first, k) for k in range(subbands)])


MOST_PERMUTED: Final = 4
"""Subbands up to which every order is tried."""

ROUNDS: Final = (
    Matching("matching"),
    Matching("matching-blind", channel_aware=False),
    Matching("matching-equal", optimal_power=False),
    Assignment("assignment"),
    Assignment("assignment-blind", channel_aware=False),
    Assignment("assignment-equal", optimal_power=False),
    Assignment("assignment-one", one_subband=True),
    Pipelined("pipeline"),
)
