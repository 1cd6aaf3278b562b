"""Background bursts are drawn ahead; how far and how often changes none of them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.optical.networks import ring_network
from thzsync.optical import Background, OpticalFabric, lowering
from thzsync.optical import layout as c
from thzsync.optical.background import gaps_ps

KEY, LOAD = 11, Background(load=0.4, burst_bytes=2048)


def fabric() -> OpticalFabric:
    network = ring_network(
        ring_of_rack=np.array([0, 0, 1]),
        access_bps=10**11,
        inter_bps=4 * 10**11,
        switch_delay_ps=1000,
        packet_bytes=1024,
    )
    return OpticalFabric(network, LOAD, KEY)


def test_served_together_or_apart_every_link_gets_its_own_bursts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lowering, "BURSTS_AHEAD", 40)
    busy = fabric()
    busy.advance(40_000_000)
    busy.link_bytes()  # whoever looks finds the bursts that have come taken in
    assert busy._bursts is not None
    state, outputs = busy._st, busy._bursts._outputs
    for link, drawn in zip(outputs.tolist(), busy._bursts._drawn.tolist(), strict=True):
        assert drawn > 40, "some were drawn again"
        mean = LOAD.mean_gap_ps(int(busy.network.rate_bps[link]))
        expected = np.cumsum(gaps_ps(KEY, link, 0, drawn, mean)[0])[-40:]
        np.testing.assert_array_equal(state.burst[link, c.FIRST_BURST :], expected)
        following = state.burst[link, state.burst[link, c.BG_POS]]
        assert following > busy.now_ps >= expected[0] - 40_000_000


def test_a_finished_instant_is_over_until_something_is_changed() -> None:
    quiet = fabric()
    quiet.advance(5000)
    before = [array.copy() for array in quiet._st]
    assert len(quiet.advance(5000).node) == 0
    for was, now in zip(before, quiet._st, strict=True):
        np.testing.assert_array_equal(now, was)
    quiet.set_rate(0, 1e11, 5000)  # whatever touches the fabric has it looked at again
    assert quiet._st.ctl[c.N_KICKS] == 1
    quiet.advance(5000)
    assert quiet._st.ctl[c.N_KICKS] == 0
