"""A slow, readable twin of the wireless kernels: sets of edges and plain bisection."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

Edge = tuple[int, int]
"""(flow, subband)"""


@dataclass
class Round:
    """What may be sent now. Racks are positions 0, 1, ..."""

    flows: Sequence[tuple[int, int]]
    """(sender, receiver) of every flow."""
    ready: Sequence[int]
    """Chunks that each flow could send."""
    snr_per_w: Sequence[Sequence[float]]
    cap_w: Sequence[float]
    needed_snr: float
    chains: Sequence[int]
    busy: set[tuple[int, int]] = field(default_factory=set)
    """(rack, subband) in use by others."""

    @property
    def edges(self) -> list[Edge]:
        subbands = range(len(self.snr_per_w[0])) if self.snr_per_w else ()
        return [(f, c) for f in range(len(self.flows)) for c in subbands]

    def strongest_first(self) -> list[Edge]:
        return sorted(self.edges, key=lambda e: -self.snr_per_w[e[0]][e[1]])

    def usable(self, edge: Edge) -> bool:
        f, c = edge
        return self.snr_per_w[f][c] * self.cap_w[self.flows[f][0]] >= self.needed_snr

    def allowed(self, chosen: Iterable[Edge]) -> bool:
        """eq:a2a_matching, constraint by constraint."""
        chosen = list(chosen)
        if len(set(chosen)) < len(chosen) or not all(map(self.usable, chosen)):
            return False
        for f, ready in enumerate(self.ready):
            if sum(flow == f for flow, _ in chosen) > ready:
                return False
        for rack, chains in enumerate(self.chains):
            here = [c for f, c in chosen if rack in self.flows[f]]
            if len(set(here)) < len(here) or len(here) > chains:
                return False
            if any((rack, c) in self.busy for c in here):
                return False
        return True


def match(round: Round, order: Sequence[Edge]) -> set[Edge]:
    """Greedy in ``order``, then one edge for two until none helps."""
    chosen: list[Edge] = []
    for edge in order:
        if round.allowed([*chosen, edge]):
            chosen.append(edge)
    improved = True
    while improved:
        improved = False
        for edge in reversed(order):
            if edge not in chosen:
                continue
            rest = [e for e in chosen if e != edge]
            others = [e for e in order if e != edge and round.allowed([*rest, e])]
            for pair in combinations(others, 2):
                if round.allowed([*rest, *pair]):
                    chosen = [*rest, *pair]
                    improved = True
                    break
    return set(chosen)


def assign(round: Round) -> set[Edge]:
    """Fewest usable subbands first, then the weakest channel; each to its best free subband."""
    chosen: list[Edge] = []
    waiting = [f for f, ready in enumerate(round.ready) if ready]
    while waiting:
        options = {}
        for f in waiting:
            fitting = [e for e in round.edges if e[0] == f and round.allowed([*chosen, e])]
            if fitting:
                options[f] = fitting
        if not options:
            break

        def strength(edge: Edge) -> float:
            return round.snr_per_w[edge[0]][edge[1]]

        first = min(options, key=lambda f: (len(options[f]), max(map(strength, options[f])), f))
        chosen.append(max(options[first], key=strength))
        waiting.remove(first)
    return set(chosen)


def shortest_duration_s(
    senders: Sequence[int],
    bits: Sequence[float],
    snr_per_w: Sequence[float],
    cap_w: Sequence[float],
    hz: float,
    distortion: float = 0.0,
) -> float:
    """eq:a2a_power_allocation as the paper solves it: expand, then bisect."""

    def feasible(duration_s: float) -> bool:
        need_w = [0.0] * len(cap_w)
        for v, b, s in zip(senders, bits, snr_per_w, strict=True):
            exponent = math.log(2) * b / (hz * duration_s)
            ratio = math.inf if exponent > 700 else math.expm1(exponent)
            room = 1 - ratio * distortion if distortion else 1.0
            need_w[v] += ratio / room / s if room > 0 else math.inf
        return all(need <= cap for need, cap in zip(need_w, cap_w, strict=True))

    high = 1e-9
    while not feasible(high):
        high *= 2
    low = high / 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if feasible(middle) else (middle, high)
    return high
