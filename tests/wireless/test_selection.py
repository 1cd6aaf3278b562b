"""Which (flow, subband) edges a round takes: matching (eq:a2a_matching) and assignment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import wireless_twin as twin
from tests.wireless.worlds import CHUNK
from thzsync.arrays import IntArray
from thzsync.collectives import Transfer
from thzsync.transfers import direct_graph
from thzsync.wireless import matching
from thzsync.wireless.group import link_table_of
from thzsync.wireless.state import LinkTable, Slots


@dataclass
class Case:
    """The same situation for the kernels and for the twin."""

    links: LinkTable
    slots: Slots
    snr_per_w: np.ndarray
    twin: twin.Round

    def decode(self, edges: IntArray) -> set[twin.Edge]:
        subbands = self.snr_per_w.shape[1]
        return {(int(e) // subbands, int(e) % subbands) for e in edges}


def web_between(src: object, dst: object, racks: int, subbands: int) -> LinkTable:
    """One flow of one chunk per pair."""
    demand = Transfer.of(src, dst, np.full(np.size(src), CHUNK))
    graph = direct_graph("a2a", demand, np.arange(racks), CHUNK, "matching")
    return link_table_of(graph, np.arange(graph.flows), subbands)


def order_by_gain(links: LinkTable, snr: np.ndarray) -> None:
    links.order[:] = np.argsort(-snr, axis=None, kind="stable")
    links.rank[links.order] = np.arange(links.order.size)


def make_case(seed: int) -> Case:
    generator = np.random.default_rng(seed)
    racks, subbands = int(generator.integers(2, 6)), int(generator.integers(1, 4))
    pairs = [(i, j) for i in range(racks) for j in range(racks) if i != j]
    chosen = [p for p in pairs if generator.random() < 0.7] or pairs[:1]
    ready = generator.integers(0, 4, len(chosen))
    snr = 10 ** generator.uniform(-3, 3, (len(chosen), subbands)) * 10
    busy = generator.random((racks, subbands)) < 0.15
    chains = generator.integers(1, subbands + 1, racks)
    cap_w, needed = np.full(racks, 0.1), 0.01
    src, dst = (np.array(c) for c in zip(*chosen, strict=True))
    links = web_between(src, dst, racks, subbands)
    order_by_gain(links, snr)
    usable = snr * 0.1 >= needed
    slots = Slots(~busy, chains.astype(np.int64), ready.astype(np.int64), usable)
    situation = twin.Round(
        chosen,
        ready.tolist(),
        snr.tolist(),
        cap_w.tolist(),
        needed,
        chains.tolist(),
        {(int(v), int(c)) for v, c in np.argwhere(busy)},
    )
    return Case(links, slots, snr, situation)


@given(st.integers(0, 10**6))
def test_matching_is_the_twins_edge_for_edge(seed: int) -> None:
    case = make_case(seed)
    found = case.decode(matching.match(case.links, case.slots))
    assert found == twin.match(case.twin, case.twin.strongest_first())
    assert case.twin.allowed(found)


@given(st.integers(0, 10**6))
def test_blind_matching_tries_edges_in_their_own_order(seed: int) -> None:
    case = make_case(seed)
    case.links.order[:] = case.links.rank[:] = np.arange(len(case.links.order))
    found = case.decode(matching.match(case.links, case.slots))
    assert found == twin.match(case.twin, case.twin.edges)


@given(st.integers(0, 10**6))
def test_assignment_is_the_twins_edge_for_edge(seed: int) -> None:
    case = make_case(seed)
    found = case.decode(matching.assign(case.links, case.slots, case.snr_per_w, True))
    assert found == twin.assign(case.twin)
    assert len({flow for flow, _ in found}) == len(found)


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("seed", range(20))
def test_plain_python_selects_what_machine_code_selects(seed: int) -> None:
    case = make_case(seed)
    found = case.decode(matching.match(case.links, case.slots))
    assert found == twin.match(case.twin, case.twin.strongest_first())
    again = make_case(seed)
    edges = matching.assign(again.links, again.slots, again.snr_per_w, True)
    assert again.decode(edges) == twin.assign(again.twin)


def line_case(strong_middle: bool) -> Case:
    """Racks 0 -> 1, 1 -> 2 and 2 -> 3 on one subband; the middle link blocks both others."""
    snr = np.array([[10.0], [100.0 if strong_middle else 1.0], [10.0]])
    links = web_between([0, 1, 2], [1, 2, 3], racks=4, subbands=1)
    order_by_gain(links, snr)
    one = np.ones(4, dtype=np.int64)
    slots = Slots(np.ones((4, 1), np.bool_), one, one[:3].copy(), np.ones((3, 1), np.bool_))
    return Case(links, slots, snr, twin.Round([], [], [], [], 0.0, []))


@pytest.mark.parametrize("strong_middle", [True, False])
def test_one_strong_edge_gives_way_to_two(strong_middle: bool) -> None:
    case = line_case(strong_middle)
    found = case.decode(matching.match(case.links, case.slots))
    assert found == {(0, 0), (2, 0)}


def test_without_augmentation_the_strong_edge_would_have_stayed() -> None:
    case = line_case(strong_middle=True)
    assert matching.fits(case.slots, 1, 0, 1, 2)
    matching.take(case.slots, 1, 0, 1, 2)
    assert not matching.fits(case.slots, 0, 0, 0, 1)
    matching.give_back(case.slots, 1, 0, 1, 2)
    assert matching.fits(case.slots, 0, 0, 0, 1)


def test_a_transmission_with_one_subband_left_chooses_before_a_free_one() -> None:
    """Flow 0 could use both subbands and likes the one that alone is left to flow 1."""
    snr = np.array([[100.0, 50.0], [100.0, 0.0]])
    links = web_between([0, 0], [1, 2], racks=3, subbands=2)
    slots = Slots(
        np.ones((3, 2), np.bool_),
        np.full(3, 2, np.int64),
        np.ones(2, np.int64),
        np.array([[True, True], [True, False]]),
    )
    assert set(matching.assign(links, slots, snr, True).tolist()) == {1, 2}
