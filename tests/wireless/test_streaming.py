"""Streams: how flows of a rack share its power, and when chunks follow each other unasked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.wireless.worlds import CHUNK, admit, channel_of, gains_for_snr, method_of, play
from thzsync.arrays import FloatArray
from thzsync.collectives import Transfer
from thzsync.scenario import Thz
from thzsync.synthesis import Setting
from thzsync.wireless import Overlay, Round

THZ = Thz(subbands=4)
P2P = method_of("p2p")


def overlay(snr: FloatArray) -> Overlay:
    """Rack 0 reaches racks 1, 2, ... with these signal-to-noise ratios, by (rack, subband)."""
    racks = len(snr)
    links = np.full((racks, racks, THZ.subbands), 100.0)
    links[0] = snr
    return Overlay(THZ, channel_of(gains_for_snr(THZ, links, racks)), racks)


def of_flow(rounds: list[Round], flow: int) -> list[Round]:
    return [r for r in rounds if r.flow.tolist() == [flow]]


def test_a_flow_in_the_air_keeps_its_share_of_the_budget() -> None:
    """Three flows begin at a third each; when one is through, the next chunk gets a half."""
    snr = np.array([[100.0], [100.0], [100.0], [5.0]]) * np.ones(4)
    on = overlay(snr)
    sizes = [2 * CHUNK, CHUNK, CHUNK]  # the third, over a weak link, outlasts the others
    admit(on, 0, Transfer.of([0, 0, 0], [1, 2, 3], sizes), 4, P2P, THZ)
    first, second = of_flow(play(on), 0)
    assert first.power_w.item() == pytest.approx(THZ.max_power_w / 3)
    assert second.power_w.item() == pytest.approx(THZ.max_power_w / 2)


def test_chunks_on_the_best_subband_follow_each_other_as_one_train() -> None:
    on = overlay(np.array([[100.0] * 4, [400.0, 100.0, 100.0, 100.0]]))
    admit(on, 0, Transfer.of([0], [1], [4 * CHUNK]), 2, P2P, THZ)
    (train,) = play(on)
    assert train.chunks.tolist() == [4]
    assert train.subband.tolist() == [0]


def test_a_flow_that_may_be_overtaken_sends_no_trains() -> None:
    """A younger event of lower rank comes after the first chunk, and need not wait for them all."""
    on = overlay(np.full((2, 4), 100.0))
    admit(on, 0, Transfer.of([0], [1], [3 * CHUNK]), 2, P2P, THZ, rank=1)
    (first,) = on.dispatch(0)
    admit(on, 1, Transfer.of([0], [1], [CHUNK]), 2, P2P, THZ)
    on.finish(first)
    assert [r.number for r in play(on, first.end_ps)] == [1, 0, 0]


def test_a_flow_moves_to_the_better_subband_when_that_becomes_free() -> None:
    """A younger event holds subband 0 for one chunk; the older one goes there for its second."""
    on = overlay(np.array([[100.0] * 4, [400.0, 100.0, 50.0, 50.0]]))
    half_w = THZ.max_power_w / 2
    admit(on, 8, Transfer.of([0], [1], [CHUNK]), 2, P2P, THZ, budget_w=half_w)
    (younger,) = on.dispatch(0)
    admit(on, 7, Transfer.of([0], [1], [3 * CHUNK]), 2, P2P, THZ, budget_w=half_w)
    (first,) = on.dispatch(0)
    assert (younger.subband.item(), first.subband.item()) == (0, 1)
    assert first.chunks.tolist() == [1]
    assert younger.end_ps < first.end_ps
    on.finish(younger)
    on.finish(first)
    (rest,) = on.dispatch(first.end_ps)
    assert rest.subband.tolist() == [0]
    assert rest.chunks.tolist() == [2]


@pytest.mark.parametrize("lookahead", [True, False])
def test_a_younger_event_sends_a_train_where_older_ones_have_begun_all(lookahead: bool) -> None:
    """Two lanes end at one rack, each with a best subband of its own."""
    snr = np.full((3, 3, THZ.subbands), 50.0)
    snr[:, 0, 0] = snr[0, :, 0] = snr[:, 1, 1] = snr[1, :, 1] = 100.0
    channel = channel_of(gains_for_snr(THZ, snr, 3))
    on = Overlay(THZ, channel, 3, lookahead=lookahead)
    admit(on, 0, Transfer.of([0], [2], [3 * CHUNK]), 3, P2P, THZ)
    admit(on, 1, Transfer.of([1], [2], [4 * CHUNK]), 3, P2P, THZ)
    older, younger = on.dispatch(0)
    assert older.chunks.tolist() == [3]
    assert younger.chunks.tolist() == [4 if lookahead else 1]


@pytest.mark.parametrize("held", ["subband", "power"])
@pytest.mark.parametrize("lookahead", [True, False])
def test_a_train_beside_a_younger_event_ends_when_that_gives_something_back(
    held: str, lookahead: bool
) -> None:
    """The younger one holds the best subband, or part of the power, for five chunks.

    The first chunk that begins after its end has what it held, whatever was sent before.
    """
    snr = np.full((3, 3, THZ.subbands), 50.0)
    snr[0, 2, 0] = snr[2, 0, 0] = 200.0  # the younger event's
    snr[0, 1, 0 if held == "subband" else 1] = 100.0
    on = Overlay(THZ, channel_of(gains_for_snr(THZ, snr, 3)), 3, lookahead=lookahead)
    quarter_w = THZ.max_power_w / 4
    admit(on, 8, Transfer.of([0], [2], [5 * CHUNK]), 3, P2P, THZ, budget_w=quarter_w)
    (younger,) = on.dispatch(0)
    assert younger.chunks.tolist() == [5]
    own_w = THZ.max_power_w if held == "power" else quarter_w
    admit(on, 7, Transfer.of([0], [1], [40 * CHUNK]), 3, P2P, THZ, budget_w=own_w)
    (first,) = on.dispatch(0)
    rounds = [r for r in play(on, 0, [younger, first]) if r.number == 7]
    assert first.chunks.item() > 1 if lookahead else first.chunks.tolist() == [1]
    before = [r for r in rounds if r.start_ps < younger.end_ps]
    after = [r for r in rounds if r.start_ps >= younger.end_ps]
    per_chunk_ps = first.duration_ps / first.chunks.item()
    assert max(r.end_ps for r in before) < younger.end_ps + per_chunk_ps + 1
    if held == "subband":
        assert {r.subband.item() for r in before} == {1}
        assert {r.subband.item() for r in after} == {0}
    else:
        assert [r.power_w.item() for r in before] == pytest.approx([0.75 * own_w] * len(before))
        assert [r.power_w.item() for r in after] == [own_w] * len(after)


@pytest.mark.parametrize("meets", ["sender", "receiver"])
def test_a_younger_train_ends_when_an_older_flow_at_its_racks_could_begin(meets: str) -> None:
    """Two older flows at one rack send chunk by chunk, over weak links; the younger link is strong.

    It begins chunks as long as the older flow that it meets is in the air, and none after that.
    """
    snr = np.full((4, 4, THZ.subbands), 5.0)
    snr[0, 1, 0] = snr[0, 2, 1] = 6.0
    src, dst = (0, 3) if meets == "sender" else (3, 1)
    snr[src, dst, 3] = 400.0
    on = Overlay(THZ, channel_of(gains_for_snr(THZ, snr, 4)), 4, lookahead=True)
    older = Transfer.of([0, 0], [1, 2], [2 * CHUNK, 2 * CHUNK])
    admit(on, 0, older, 4, P2P, THZ, budget_w=0.75 * THZ.max_power_w)
    admit(on, 1, Transfer.of([src], [dst], [40 * CHUNK]), 4, P2P, THZ, budget_w=0.01)
    *chunks, train = on.dispatch(0)
    assert [(r.number, r.delivers) for r in chunks] == [(0, 1), (0, 1)]
    met = [r for r in chunks if {src, dst} & {r.src.item(), r.dst.item()}]
    soonest_ps = min(r.end_ps for r in met)
    per_chunk_ps = train.duration_ps // train.delivers
    assert 1 < train.delivers < 40
    assert soonest_ps <= train.end_ps < soonest_ps + per_chunk_ps


def test_chunks_that_others_wait_for_arrive_one_by_one() -> None:
    """The second flow takes the fibre, and goes on with every chunk that has come by THz."""
    lanes = Transfer.of([0, 1], [1, 2], [4 * CHUNK, 4 * CHUNK])
    offer = P2P.offer(lanes, np.arange(3), CHUNK, Setting.flat(3, THZ))
    alone = offer.lower(np.array([4, 0]))
    chained = replace(alone, after_start=np.array([0, 0, 1]), after=np.array([0]))
    for graph, chunks in ((alone, 4), (chained, 1)):
        on = overlay(np.full((3, 4), 100.0))
        on.admit(0, graph, np.full(3, THZ.max_power_w))
        on.ready(0, np.arange(4))
        (sent,) = on.dispatch(0)
        assert sent.delivers == chunks


def test_a_striped_flow_sends_on_all_subbands_at_a_quarter_of_its_power_each() -> None:
    on = overlay(np.full((2, 4), 100.0))
    demand = Transfer.of([0], [1], [4 * CHUNK])
    admit(on, 0, demand, 2, replace(P2P, discipline="striping"), THZ)
    flights = play(on)
    assert sorted(r.subband.item() for r in flights) == [0, 1, 2, 3]
    assert [r.power_w.item() for r in flights] == pytest.approx([THZ.max_power_w / 4] * 4)


@pytest.mark.parametrize("sizes", [[37 * CHUNK], [37 * CHUNK + 1000], [2 * CHUNK], [29 * CHUNK, 5]])
def test_a_striped_flow_has_one_train_on_every_subband(sizes: list[int]) -> None:
    """Each subband carries as much, until the same moment, as if every chunk had been asked for."""
    racks = 2 * len(sizes)
    snr = np.random.default_rng(7).uniform(40.0, 200.0, (racks, racks, THZ.subbands))
    lanes = Transfer.of(list(range(0, racks, 2)), list(range(1, racks, 2)), sizes)
    loads: list[dict[tuple[int, int], tuple[int, int, int]]] = []
    flights = []
    manners = ({"lookahead": True}, {}, {"trains": False})
    for manner in manners:
        on = Overlay(THZ, channel_of(gains_for_snr(THZ, snr, racks)), racks, **manner)
        admit(on, 0, lanes, racks, replace(P2P, discipline="striping"), THZ)
        rounds = play(on)
        flights.append(len(rounds))
        load: dict[tuple[int, int], tuple[int, int, int]] = {}
        for r in rounds:
            key = (r.flow.item(), r.subband.item())
            chunks, size, _ = load.get(key, (0, 0, 0))
            load[key] = (chunks + r.delivers, size + int(r.size_bytes.sum()), r.end_ps)
        loads.append(load)
    assert loads[0] == loads[1] == loads[2]
    assert flights[:2] == [len(loads[0])] * 2
    assert flights[2] == sum(chunks for chunks, _, _ in loads[2].values())


@pytest.mark.parametrize("held", ["subband", "power"])
def test_a_striped_flow_that_waits_for_a_younger_event_has_no_trains(held: str) -> None:
    """What the younger one gives back after its chunk is taken at once, as without trains."""
    needed = 2.0 ** (8 * CHUNK / (THZ.longest_round_s * THZ.subband_hz)) - 1
    useless = 0.5 * needed
    own = [4 * needed * k for k in (0.75, 0.5, 0.1, 0.1)]  # the first two at the whole budget
    if held == "power":
        own = [100.0, 100.0, 100.0, useless]
    ends = []
    for trains in (True, False):
        snr = np.full((3, 3, THZ.subbands), 100.0)
        snr[0, 1] = own
        snr[0, 2, 3 if held == "power" else 0] = 200.0  # there the younger event sends
        on = Overlay(THZ, channel_of(gains_for_snr(THZ, snr, 3)), 3, trains=trains)
        younger_w = THZ.max_power_w * (0.45 if held == "power" else 0.01)
        admit(on, 8, Transfer.of([0], [2], [CHUNK]), 3, P2P, THZ, budget_w=younger_w)
        flying = on.dispatch(0)
        older_w = THZ.max_power_w if held == "power" else 0.9 * THZ.max_power_w
        striped = replace(P2P, discipline="striping")
        admit(on, 7, Transfer.of([0], [1], [24 * CHUNK]), 3, striped, THZ, budget_w=older_w)
        rounds = play(on, flying=flying)
        ends.append(max(r.end_ps for r in rounds if r.number == 7))
    assert ends[0] == ends[1]
