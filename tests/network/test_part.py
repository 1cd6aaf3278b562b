from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.network.strategies import any_network
from thzsync.network import Network, fat_tree, part_of


def pairs_of(racks: int, data: st.DataObject) -> tuple[np.ndarray, np.ndarray]:
    rack = st.integers(0, racks - 1)
    both = st.tuples(rack, rack).filter(lambda pair: pair[0] != pair[1])
    src, dst = zip(*data.draw(st.lists(both, min_size=1, max_size=6)), strict=True)
    return np.array(src), np.array(dst)


def check_paths(network: Network, src: np.ndarray, dst: np.ndarray) -> None:
    """In the part with all switches that the flows may pass, they take the links of the whole."""
    links, _, _ = network.shares(src, dst)
    passed = np.unique(network.to_switch[links])
    part, known = part_of(network, passed[passed >= 0])
    assert part.rack_ids is not None
    own = [np.searchsorted(part.rack_ids, rack) for rack in (src, dst)]
    for number in range(8):
        whole = np.stack(network.walk(src, dst, number))
        inside = np.stack(part.walk(*own, number))
        np.testing.assert_array_equal(np.where(inside >= 0, known[inside], -1), whole)


@given(any_network(), st.data())
def test_flows_take_the_same_paths_in_a_part_as_in_the_whole(
    network: Network, data: st.DataObject
) -> None:
    check_paths(network, *pairs_of(network.racks, data))


def test_a_part_of_a_fat_tree_picks_by_the_bits_that_the_whole_picks_by() -> None:
    """Within a pod no queue waits for a core; so ranks, counted anew, would be others."""
    network = fat_tree(128, 8)
    check_paths(network, np.arange(4), np.arange(4) + 4)
    part, links = part_of(network, np.arange(8))
    np.testing.assert_array_equal(part.forwarding.rank, network.forwarding.rank[links])
