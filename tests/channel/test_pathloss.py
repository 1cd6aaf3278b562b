"""Path loss and composite gain against the printed laws."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reference import channel_twin as twin
from thzsync.channel import ChannelModel
from thzsync.channel.pathloss import LOS, NLOS, composite_gain, validity_notes
from thzsync.scenario import Channel, Floor, Thz
from thzsync.streams import Streams
from thzsync.topology import Topology

CALM = Channel(fluctuation_db=0)


def test_the_two_laws_meet_their_printed_intercepts_at_one_metre():
    one = np.ones(1)
    assert LOS.loss_db(one) == pytest.approx(82.69)
    assert NLOS.loss_db(one) == pytest.approx(106.6)


def test_ten_times_the_distance_costs_the_slope():
    near, far = np.array([2.0]), np.array([20.0])
    assert LOS.loss_db(far) - LOS.loss_db(near) == pytest.approx(18.8)
    assert NLOS.loss_db(far) - NLOS.loss_db(near) == pytest.approx(7.6)


def test_no_indirect_path_leaves_the_direct_one_and_more_paths_add_up():
    d = np.array([7.0])
    direct, one, three = (composite_gain(d, n) for n in (0, 1, 3))
    assert direct == pytest.approx(10 ** (-LOS.loss_db(d) / 10))
    assert three - direct == pytest.approx(3 * (one - direct))


def test_a_rack_has_no_link_to_itself():
    assert composite_gain(np.zeros(1), 1) == 0.0


def test_base_gain_is_the_printed_law_at_every_subband_centre():
    topology, thz = Topology(Floor(rings=3, slots_per_ring=5, racks_per_ring=4)), Thz()
    model = ChannelModel.build(CALM, thz, topology, Streams(0))
    src, dst = np.nonzero(~np.eye(topology.racks, dtype=bool))
    base = model.base_gain(src, dst)
    expected = [
        [twin.path_gain(float(topology.distance_m(a, b)), f, CALM) for f in thz.centres_hz]
        for a, b in zip(src.tolist(), dst.tolist(), strict=True)
    ]
    np.testing.assert_allclose(base, expected, rtol=1e-12)
    np.testing.assert_array_equal(model.gains(src, dst, 123), base)


def test_the_measured_band_passes_silently_and_a_wider_one_is_noted_not_refused():
    assert validity_notes(Thz()) == ()
    wide = Thz(subbands=6)
    with pytest.warns(UserWarning, match="290-320 GHz .* 290-310 GHz"):
        model = ChannelModel.build(
            CALM, wide, Topology(Floor(rings=1, slots_per_ring=4)), Streams(0)
        )
    assert len(model.notes) == 1
