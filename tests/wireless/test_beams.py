"""Two links on one subband: who waits for whom, and what they are promised."""

from __future__ import annotations

import numpy as np
import pytest

from tests.wireless.worlds import CHUNK, channel_of, even_gains, play
from thzsync.collectives import Transfer
from thzsync.scenario import Thz
from thzsync.scenario.floor import TableFloor
from thzsync.topology import Topology
from thzsync.transfers import Flow, graph_of
from thzsync.wireless import Overlay, Round

DISCIPLINES = ("streaming", "striping", "matching", "assignment", "pipeline", "sustained")
HEADROOM = 10**0.1


def radio(kind: str) -> Thz:
    changes = {"subbands": 1, "interference": "beams", "transmit_gain_db": 25}
    return Thz.model_validate({**changes, "antenna": {"kind": kind}})


def played(thz: Thz, discipline: str, together: bool = False) -> list[Round]:
    """Links 0 -> 1 and 2 -> 3, both eastwards and 2 m apart, of two events or of one."""
    floor = Topology(TableFloor(kind="table", positions_m=((0, 0), (2, 0), (0, 2), (2, 2))))
    on = Overlay(thz, channel_of(even_gains(thz, 4)), 4, topology=floor)
    events = [[(0, 1), (2, 3)]] if together else [[(0, 1)], [(2, 3)]]
    for number, pairs in enumerate(events):
        src, dst = (np.array(ends) for ends in zip(*pairs, strict=True))
        flows = [
            Flow(i, j, CHUNK, block=k, shard=k, thz=True, discipline=discipline)
            for k, (i, j) in enumerate(pairs)
        ]
        racks = np.unique((src, dst))
        graph = graph_of("a2a", Transfer.of(src, dst, [CHUNK] * len(pairs)), racks, CHUNK, flows)
        on.admit(number, graph, np.full(len(racks), thz.max_power_w))
        on.ready(number, np.arange(len(graph.chunk_flow)))
    rounds = play(on)
    assert sum(r.delivers for r in rounds) == 2
    return rounds


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("discipline", DISCIPLINES)
def test_beams_that_would_disturb_each_other_follow_each_other(
    discipline: str, together: bool
) -> None:
    """Isotropic ends hear the stranger as loud as their partner."""
    thz = radio("isotropic")
    first, second = played(thz, discipline, together)
    assert second.start_ps == first.end_ps
    for r in (first, second):
        assert r.noise_w.tolist() == pytest.approx([thz.noise_w * HEADROOM])


@pytest.mark.parametrize("discipline", DISCIPLINES)
def test_beams_that_point_elsewhere_send_at_once(discipline: str) -> None:
    """45 degrees off both axes: 25 dB less at either end, 30 dB below the noise with its power."""
    thz = radio("gaussian")
    first, second = played(thz, discipline)
    assert first.start_ps == second.start_ps == 0
    heard_w = float(first.power_w[0]) / thz.max_power_w * 100 * thz.noise_w * 1e-5
    assert first.noise_w[0] == pytest.approx(thz.noise_w * HEADROOM)
    assert second.noise_w[0] == pytest.approx((thz.noise_w + heard_w) * HEADROOM, rel=1e-9)


def test_different_subbands_do_not_disturb_each_other() -> None:
    thz = radio("isotropic").model_copy(update={"subbands": 2})
    first, second = played(thz, "streaming")
    assert first.start_ps == second.start_ps == 0
    assert {int(first.subband[0]), int(second.subband[0])} == {0, 1}
