"""Two disciplines of one event on the overlay: groups apart, one budget."""

from __future__ import annotations

import numpy as np
import pytest

from tests.wireless.worlds import CHUNK, channel_of, even_gains, peak_power_w, play
from thzsync.collectives import Transfer
from thzsync.scenario import Thz
from thzsync.transfers import Flow, graph_of
from thzsync.wireless import Overlay, Round

THZ = Thz(subbands=4)
RACKS = 4


def played(pairs: list[tuple[int, int, str]], budget_w: float) -> list[Round]:
    """One event with a chunk from rack to rack by a discipline each."""
    src, dst, _ = zip(*pairs, strict=True)
    flows = [
        Flow(i, j, CHUNK, block=k, shard=k, thz=True, discipline=name)
        for k, (i, j, name) in enumerate(pairs)
    ]
    demand = Transfer.of(src, dst, [CHUNK] * len(pairs))
    graph = graph_of("a2a", demand, np.arange(RACKS), CHUNK, flows)
    on = Overlay(THZ, channel_of(even_gains(THZ, RACKS)), RACKS)
    on.admit(0, graph, np.full(RACKS, budget_w))
    on.ready(0, np.arange(len(graph.chunk_flow)))
    rounds = play(on)
    assert on.outstanding(0) == 0
    return rounds


@pytest.mark.parametrize("first", ["matching", "streaming"])
@pytest.mark.parametrize("second", ["matching", "streaming", "assignment"])
def test_a_rack_never_exceeds_its_budget_by_two_disciplines(first: str, second: str) -> None:
    budget_w = THZ.max_power_w / 2
    rounds = played([(0, 1, first), (0, 2, second), (3, 0, second)], budget_w)
    assert peak_power_w(rounds, RACKS).max() <= budget_w * (1 + 1e-9)


def test_disciplines_on_different_racks_do_not_wait_for_each_other() -> None:
    rounds = played([(0, 1, "matching"), (2, 3, "streaming")], THZ.max_power_w)
    assert [(r.discipline, r.start_ps) for r in rounds] == [("matching", 0), ("streaming", 0)]
    assert [r.common for r in rounds] == [True, False]


def test_flows_keep_their_numbers_in_the_graph() -> None:
    pairs = [(0, 1, "streaming"), (1, 2, "matching"), (2, 3, "streaming"), (3, 0, "matching")]
    rounds = played(pairs, THZ.max_power_w)
    for r in rounds:
        for flow, src, dst in zip(r.flow, r.src, r.dst, strict=True):
            assert (src, dst, r.discipline) == pairs[flow]
    assert sorted(int(f) for r in rounds for f in r.flow) == [0, 1, 2, 3]
