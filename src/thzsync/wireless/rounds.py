"""Disciplines with rounds: transmissions that start and end together, one round at a time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import permutations
from typing import Final

import numpy as np

from thzsync.arrays import BoolArray, IntArray
from thzsync.wireless.bookkeeping import Sent
from thzsync.wireless.forming import form_round
from thzsync.wireless.party import Party
from thzsync.wireless.pipelining import form_pinned, look_at_links, pin
from thzsync.wireless.state import Air, Radio


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

    def start(self, air: Air, radio: Radio, party: Party, now_ps: int, until_ps: IntArray) -> Sent:
        """The next round."""
        return form_round(
            air, radio, party.web, party.frontier, party.stage, True, self.channel_aware,
            self.optimal_power, now_ps,
        )  # fmt: skip


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

    def start(self, air: Air, radio: Radio, party: Party, now_ps: int, until_ps: IntArray) -> Sent:
        """The next round."""
        return form_round(
            air, radio, party.web, party.frontier, party.stage, False, self.channel_aware,
            self.optimal_power, now_ps,
        )  # fmt: skip


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

    def start(self, air: Air, radio: Radio, party: Party, now_ps: int, until_ps: IntArray) -> Sent:
        """The next round; subbands are dealt anew when a link begins, or has nothing left to send.

        Where there are too few for all links, they take turns: those that are ready share them.
        """
        frontier, links = party.frontier, party.links
        changed = look_at_links(
            frontier.owned, frontier.ready, frontier.sent, links.of_flow, links.active
        )
        if party.pins is None or changed:
            pins = _deal(party, radio, links.active)
            party.pins = pins[links.of_flow]
            party.short = bool((links.active & ~pins.any(axis=1)).any())
        kept = party.pins
        if party.short:
            kept = _deal(party, radio, links.any_of(frontier.ready > 0))[links.of_flow]
        return form_pinned(air, radio, party.web, frontier, kept, party.stage, now_ps)


def _deal(party: Party, radio: Radio, active: BoolArray) -> BoolArray:
    """Subbands by (link, subband)."""
    frontier, links = party.frontier, party.links
    cap_w = np.minimum(frontier.budget_w, radio.max_power_w)
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
