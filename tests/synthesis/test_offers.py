"""What a method offers to be split: units, links, power groups, and the paper's rule."""

from __future__ import annotations

import numpy as np

from thzsync.collectives import Transfer
from thzsync.coordinator import Action
from thzsync.scenario import Thz
from thzsync.synthesis import Offer, Setting, find_method
from thzsync.transfers import TransferGraph

CHUNK = 100
RACKS = np.array([2, 5, 7])
DEMAND = Transfer.of([2, 2, 5], [5, 7, 2], [250, 100, 301])
"""Rack 2 sends twice, rack 5 once, rack 7 never: 3, 1 and 4 chunks."""


def per_flow() -> Offer:
    method = find_method("a2a", "proposed")
    return method.offer(DEMAND, RACKS, CHUNK, Setting.flat(3, Thz()))


def whole(chunks: int) -> Offer:
    def lower(thz_chunks: np.ndarray) -> TransferGraph:
        return per_flow().lower(np.repeat(thz_chunks, 3))

    return Offer.whole("a2a", RACKS, chunks, DEMAND.src, DEMAND.dst, lower)


def test_flows_of_one_sender_share_a_power_group() -> None:
    offer = per_flow()
    assert offer.units == 3
    assert offer.chunks.tolist() == [3, 1, 4]
    assert offer.group.tolist() == [0, 0, 1]
    assert offer.rack_group.tolist() == [0, 1, -1]
    assert offer.groups == 2


def test_a_rack_sends_when_one_of_its_flows_has_a_thz_chunk() -> None:
    offer = per_flow()
    assert offer.sending(np.array([0, 1, 0])).tolist() == [True, False, False]
    assert offer.sending(np.array([0, 0, 2])).tolist() == [False, True, False]
    assert offer.sending(np.array([0, 0, 0])).tolist() == [False, False, False]


def test_racks_without_thz_chunks_are_given_no_power() -> None:
    action = Action.of(per_flow(), np.array([1, 0, 0]), np.full(3, 0.75))
    assert action.power.tolist() == [0.75, 0.0, 0.0]


def test_the_first_n_chunks_of_a_flow_travel_on_thz() -> None:
    graph = per_flow().lower(np.array([2, 0, 3]))
    assert graph.on_thz.tolist() == [True, True, False, False, True, True, True, False]


def test_one_unit_for_everything_is_one_group_of_all_racks() -> None:
    offer = whole(4)
    assert (offer.units, offer.groups) == (1, 1)
    assert offer.sending(np.array([1])).all()
    assert not offer.sending(np.array([0])).any()
    assert (offer.src.tolist(), offer.dst.tolist()) == ([2], [5])


def test_nothing_to_send_is_no_unit() -> None:
    offer = whole(0)
    assert (offer.units, offer.groups) == (0, 0)
    assert not offer.sending(np.zeros(0, dtype=np.int64)).any()
