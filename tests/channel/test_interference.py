"""What beams send into each other's receivers: lanes and triangles worked by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from thzsync.arrays import FloatArray
from thzsync.channel import ChannelModel
from thzsync.channel.interference import Coupling, coupled_gain
from thzsync.scenario import Channel, Thz
from thzsync.scenario.floor import Floor, TableFloor
from thzsync.streams import Streams
from thzsync.topology import Topology

PLAIN = Channel(nlos_paths=0, fluctuation_db=0.0)


def coupling(floor: Any, thz: Thz, channel: Channel = PLAIN) -> Coupling:
    """All couplings of a floor."""
    topology = Topology(floor)
    found = Coupling.of(thz, topology.racks)
    model = ChannelModel.build(channel, thz, topology, Streams(1))
    found.fill(thz, model, topology.position_m, np.arange(topology.racks))
    return found


def at(*places_m: tuple[float, float]) -> TableFloor:
    return TableFloor(kind="table", positions_m=places_m)


def path_gain(distance_m: float, ratio: float = 1.0) -> float:
    """18.8 log10(d) + 82.69 + 20 log10(f / 300 GHz) [dB]."""
    loss_db = 18.8 * math.log10(distance_m) + 82.69 + 20 * math.log10(ratio)
    return float(10 ** (-loss_db / 10))


@pytest.mark.parametrize("gain_dbi", [0.0, 25.0, 48.0])
@pytest.mark.parametrize("kind", ["isotropic", "gaussian", "f699"])
def test_radial_lanes_have_9_db_whatever_the_antenna(gain_dbi: float, kind: str) -> None:
    """Racks at 6, 8, 10 and 12 m: 1 -> 2 reaches the receiver of 3 -> 4 over 6 m instead of 2."""
    thz = Thz(transmit_gain_db=gain_dbi, receive_gain_db=gain_dbi, antenna={"kind": kind})  # type: ignore[arg-type]
    lanes = coupling(at((6, 0), (8, 0), (10, 0), (12, 0)), thz)
    for c in range(thz.subbands):
        wanted = coupled_gain(lanes, c, 2, 3, 2, 3)
        ratio_db = 10 * math.log10(wanted / coupled_gain(lanes, c, 0, 1, 2, 3))
        assert ratio_db == pytest.approx(18.8 * math.log10(3), abs=1e-9)


def test_two_beams_by_hand() -> None:
    """Beams 0 -> 1 and 2 -> 3 along opposite sides of a rectangle of 4 m by 3 m, both eastwards.

    Rack 0 reaches rack 3 over 5 m, asin(3 / 5) = 36.87 degrees off its axis; rack 3 hears it as far
    off its own. Both lobes of 25 dBi are down to their floor of 25 dB there.
    """
    thz = Thz(transmit_gain_db=25, receive_gain_db=25, antenna={"kind": "gaussian"})  # type: ignore[arg-type]
    found = coupled_gain(coupling(at((0, 0), (4, 0), (0, 3), (4, 3)), thz), 0, 0, 1, 2, 3)
    assert found == pytest.approx(path_gain(5, 292.5 / 300) * 10 ** (5.0 - 5.0), rel=1e-9)
    # 3 degrees off, both ends lose 12.04 (3 / 10.73)^2 = 0.941 dB
    far = math.tan(math.radians(3)) * 4
    near = coupled_gain(coupling(at((0, 0), (4, 0), (0, far), (4, far)), thz), 0, 0, 1, 2, 3)
    lost_db = 2 * 10 / math.log(10) * math.radians(3) ** 2 * 10**2.5 / 4
    expected = path_gain(math.hypot(4, far), 292.5 / 300) * 10 ** (5.0 - lost_db / 10)
    assert near == pytest.approx(expected, rel=1e-6)


def test_what_disturbs_is_the_same_the_other_way_round() -> None:
    """With equal antennas at both ends: k -> l into i -> j is j -> i into l -> k."""
    generator = np.random.default_rng(3)
    floor = Floor(rings=3, slots_per_ring=5)
    thz = Thz(transmit_gain_db=20, receive_gain_db=20, antenna={"kind": "f699"})  # type: ignore[arg-type]
    found = coupling(floor, thz, Channel(nlos_paths=1))
    for _ in range(200):
        k, to, i, j = generator.choice(floor.racks, 4, replace=False).tolist()
        one = coupled_gain(found, 1, k, to, i, j)
        assert one == pytest.approx(coupled_gain(found, 1, j, i, to, k), rel=1e-9)


def test_patterns_between_samples_are_the_antennas() -> None:
    """Against the formulas themselves, on a floor of many angles."""
    generator = np.random.default_rng(4)
    floor = Floor(rings=3, slots_per_ring=7)
    topology = Topology(floor)
    thz = Thz(transmit_gain_db=30, receive_gain_db=15, antenna={"kind": "gaussian"})  # type: ignore[arg-type]
    found, place = coupling(floor, thz), topology.position_m

    def lost_db(at_rack: int, one: int, other: int, gain_dbi: float) -> float:
        a, b = place[one] - place[at_rack], place[other] - place[at_rack]
        cosine = float(a @ b / np.hypot(*a) / np.hypot(*b))
        angle: FloatArray = np.degrees(np.arccos(np.clip([cosine], -1, 1)))
        return float(thz.antenna.loss_db(angle, gain_dbi)[0])

    for _ in range(200):
        k, to, i, j = generator.choice(floor.racks, 4, replace=False).tolist()
        distance_m = float(np.hypot(*(place[k] - place[j])))
        lost = lost_db(k, to, j, 30.0) + lost_db(j, i, k, 15.0)
        expected = path_gain(distance_m, 297.5 / 300) * 10 ** ((45 - lost) / 10)
        assert coupled_gain(found, 1, k, to, i, j) == pytest.approx(expected, rel=1e-4)


def test_a_rack_does_not_hear_itself() -> None:
    found = coupling(at((0, 0), (1, 0), (2, 0)), Thz())
    assert coupled_gain(found, 0, 1, 2, 0, 1) == 0.0
