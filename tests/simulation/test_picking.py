"""Which events are replayed: a share of all, several of every type, spread over the run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thzsync.simulation.packet_check import LEAST, SHORT, Picker


def picked(share: float, events: int, key: int = 7, kind: str = "p2p") -> list[int]:
    picker = Picker(share, key)
    return [number for number in range(events) if picker.picks(kind)]


@given(st.floats(1e-6, 1), st.integers(0, 300), st.integers(0, 2**32))
def test_as_many_as_the_share_asks_for_and_the_first_ones_in_any_case(
    share: float, events: int, key: int
) -> None:
    asked = max(share * events, min(LEAST, events / SHORT))
    assert asked - 1 <= len(picked(share, events, key)) <= asked + 1


def test_a_share_of_one_is_all_and_of_zero_none() -> None:
    assert picked(1.0, 50) == list(range(50))
    assert picked(0.0, 50) == []


def test_one_of_every_four_comes_first_and_one_of_every_fifty_later() -> None:
    found = picked(0.02, 1000)
    blocks = [(4 * k, 4 * k + 4) for k in range(4)] + [(16, 250)]
    blocks += [(50 * k, 50 * k + 50) for k in range(5, 20)]
    assert len(found) == len(blocks)
    assert all(start <= pick < end for pick, (start, end) in zip(found, blocks, strict=True))


def test_places_within_blocks_are_drawn() -> None:
    first = {picked(0.02, SHORT, key)[0] for key in range(64)}
    assert first == set(range(SHORT))


def test_types_do_not_disturb_each_other() -> None:
    picker = Picker(0.1, 7)
    both = [(kind, picker.picks(kind)) for _ in range(200) for kind in ("p2p", "allreduce")]
    for kind in ("p2p", "allreduce"):
        alone = [pick for other, pick in both if other == kind]
        assert [n for n, pick in enumerate(alone) if pick] == picked(0.1, 200, kind=kind)


@pytest.mark.parametrize("share", [0.02, 0.3, 0.9])
def test_the_same_key_picks_the_same(share: float) -> None:
    assert picked(share, 200) == picked(share, 200)
    assert picked(share, 200) != picked(share, 200, key=8)
