"""Trains are a short cut: whoever asks again after every chunk ends at the same instants."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.wireless.worlds import CHUNK, channel_of, gains_for_snr, method_of
from thzsync.arrays import FloatArray
from thzsync.collectives import Transfer
from thzsync.scenario import Thz
from thzsync.synthesis import Setting
from thzsync.wireless import Overlay, Round

NOTHING = {"rack": None, "subband": None, "pair": None}
LEVELS = np.array([3.0, 20.0, 100.0, 400.0])
"""Few signal-to-noise ratios, so that some subbands are equally good."""


@dataclass(frozen=True)
class Lanes:
    """An event between racks: when it comes, what it sends, and how much of it comes later."""

    at_ps: int
    demand: Transfer
    discipline: str
    budget: float
    rank: int
    late_ps: int
    late_flows: int


@dataclass(frozen=True)
class Floor:
    """Events that meet, on a channel that changes, among faults."""

    racks: int
    thz: Thz
    gains: dict[int, FloatArray]
    events: Sequence[Lanes]
    faults: Sequence[tuple[int, int, dict[str, Any]]]


@st.composite
def floors(draw: st.DrawFn, disciplines: Sequence[str], ranks: int = 1) -> Floor:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    racks, subbands = int(rng.integers(2, 6)), int(rng.integers(1, 5))
    thz = Thz(subbands=subbands, sharing=draw(st.sampled_from(["rack", "event"])))
    even = draw(st.booleans())
    gains = {}
    for at_ps in (0, *sorted(rng.integers(10**8, 4 * 10**9, int(rng.integers(0, 3))).tolist())):
        shape = (racks, racks, subbands)
        snr = rng.choice(LEVELS, shape) if even else 10 ** rng.uniform(0.3, 2.6, shape)
        gains[at_ps] = gains_for_snr(thz, snr, racks)
    events = [_lanes(rng, racks, disciplines, ranks) for _ in range(int(rng.integers(2, 6)))]
    faults = [_fault(rng, racks, subbands) for _ in range(draw(st.integers(0, 2)))]
    return Floor(racks, thz, gains, sorted(events, key=lambda e: e.at_ps), faults)


def _lanes(rng: np.random.Generator, racks: int, disciplines: Sequence[str], ranks: int) -> Lanes:
    pairs = [(i, j) for i in range(racks) for j in range(racks) if i != j]
    chosen = rng.permutation(len(pairs))[: int(rng.integers(1, 4))].tolist()
    src, dst = zip(*(pairs[k] for k in chosen), strict=True)
    return Lanes(
        at_ps=int(rng.choice([0, rng.integers(0, 2 * 10**9)])),
        demand=Transfer.of(src, dst, rng.integers(1, 30 * CHUNK, len(src))),
        discipline=str(rng.choice(disciplines)),
        budget=float(rng.choice([1.0, 0.75, 0.5, rng.uniform(0.1, 1.0)])),
        rank=int(rng.integers(0, ranks)),
        late_ps=int(rng.choice([0, rng.integers(1, 10**9)])),
        late_flows=int(rng.integers(0, len(src) + 1)),
    )


def _fault(rng: np.random.Generator, racks: int, subbands: int) -> tuple[int, int, dict[str, Any]]:
    start_ps = int(rng.integers(0, 3 * 10**9))
    rack = int(rng.integers(0, racks))
    part = ({"rack": rack}, {"subband": int(rng.integers(0, subbands))})[int(rng.integers(0, 2))]
    if rng.random() < 0.3:
        part = {"pair": (rack, (rack + 1) % racks)}
    return start_ps, start_ps + int(rng.integers(10**8, 2 * 10**9)), NOTHING | part


def ends_of(floor: Floor, **manner: bool) -> tuple[dict[int, int], list[Round]]:
    """When every event ends [ps], and all rounds."""
    channel = channel_of(*floor.gains.values(), at_ps=tuple(floor.gains))
    on = Overlay(floor.thz, channel, floor.racks, **manner)
    agenda: list[tuple[int, int, str, Any]] = []
    serial = count()

    def put(at_ps: int, what: str, about: Any) -> None:
        heapq.heappush(agenda, (at_ps, next(serial), what, about))

    for start_ps, end_ps, part in floor.faults:
        on.expect((start_ps, end_ps))
        put(start_ps, "disable", part)
        put(end_ps, "enable", part)
    for at_ps in floor.gains:
        put(at_ps, "look", None)
    for number, event in enumerate(floor.events):
        put(event.at_ps, "admit", number)
    left: dict[int, int] = {}
    ends: dict[int, int] = {}
    rounds: list[Round] = []
    while agenda:
        now_ps = agenda[0][0]
        while agenda and agenda[0][0] == now_ps:
            _, _, what, about = heapq.heappop(agenda)
            if what == "end":
                on.finish(about)
                left[about.number] -= about.delivers
                if not left[about.number]:
                    ends[about.number] = now_ps
                    on.retire(about.number)
            elif what == "admit":
                left[about] = _admit(on, floor, about, put)
            elif what == "ready":
                on.ready(*about)
            elif what in ("disable", "enable"):
                getattr(on, what)(**about)
        for started in on.dispatch(now_ps):
            rounds.append(started)
            put(started.end_ps, "end", started)
    return ends, rounds


def _admit(on: Overlay, floor: Floor, number: int, put: Any) -> int:
    """Put an event on the overlay, the chunks of some flows ready now; how many it has."""
    event, racks, thz = floor.events[number], np.arange(floor.racks), floor.thz
    method = replace(method_of("p2p"), discipline=event.discipline)
    offer = method.offer(event.demand, racks, CHUNK, Setting.flat(len(racks), thz))
    graph = offer.lower(offer.chunks)
    on.admit(number, graph, np.full(len(racks), event.budget * thz.max_power_w), event.rank)
    rows = np.arange(len(graph.chunk_flow))
    later = (graph.chunk_flow < event.late_flows) & (event.late_ps > 0)
    on.ready(number, rows[~later])
    if later.any():
        put(event.at_ps + event.late_ps, "ready", (number, rows[later]))
    return len(rows)


MIXED = ("streaming", "striping", "sustained", "matching", "assignment")


@pytest.mark.parametrize("disciplines", [("streaming",), ("striping",), MIXED])
@settings(max_examples=100)
@given(data=st.data())
def test_whoever_asks_after_every_chunk_ends_at_the_same_instants(
    disciplines: Sequence[str], data: st.DataObject
) -> None:
    floor = data.draw(floors(disciplines))
    single, one_by_one = ends_of(floor, trains=False)
    for manner in ({}, {"lookahead": True}):
        ends, rounds = ends_of(floor, **manner)
        assert ends == single
        assert len(rounds) <= len(one_by_one)


@settings(max_examples=100)
@given(data=st.data())
def test_trains_of_events_that_may_be_overtaken_change_nothing(data: st.DataObject) -> None:
    floor = data.draw(floors(("streaming", "striping", "matching"), ranks=2))
    single, _ = ends_of(floor, trains=False)
    assert ends_of(floor)[0] == single
    assert ends_of(floor, lookahead=True)[0] == single
