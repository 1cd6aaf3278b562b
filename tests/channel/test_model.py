"""The channel over time: the twin, closed-form statistics, and independence of the questions."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from tests.reference import channel_twin as twin
from thzsync.arrays import to_ps
from thzsync.channel import ChannelModel, fading, propagation
from thzsync.channel.propagation import NEVER_PS, BlockageGrid, PropagationGains
from thzsync.errors import ThzSyncError
from thzsync.scenario import Blockage, Channel, Floor, Thz
from thzsync.streams import Streams
from thzsync.topology import Topology

COHERENCE_S = 0.05
KERNELS = ("mix64", "stream_start", "draw64", "normal", "fluctuation", "blocked", "fill_gains")
MANY = Topology(Floor(rings=4, slots_per_ring=16))  # 64 racks: 2016 pairs, 8064 gains
FEW = Topology(Floor(rings=2, slots_per_ring=3))
LOW, HIGH = np.triu_indices(MANY.racks, k=1)
ONLY_FLUCTUATION = Channel(fluctuation_db=3, coherence_s=COHERENCE_S)
ONLY_BLOCKAGE = Channel(
    fluctuation_db=0, blockage=Blockage(share=0.2, mean_duration_s=0.05, loss_db=15)
)
BOTH = Channel(
    fluctuation_db=4,
    coherence_s=COHERENCE_S,
    blockage=Blockage(share=0.3, mean_duration_s=0.02, loss_db=20),
)


def build(channel, topology=MANY, seed=0):
    return ChannelModel.build(channel, Thz(), topology, Streams(seed))


def levels(model, time_s):
    """The fluctuation of all pairs and subbands at an instant, in standard deviations."""
    ratio = model.gains(LOW, HIGH, to_ps(time_s)) / model.base_gain(LOW, HIGH)
    return 10 * np.log10(ratio) / 3


def blocked(model, time_ps):
    return model.gains(LOW, HIGH, time_ps)[:, 0] < 0.5 * model.base_gain(LOW, HIGH)[:, 0]


@pytest.mark.parametrize("channel", [ONLY_FLUCTUATION, ONLY_BLOCKAGE, BOTH, Channel()])
def test_every_gain_is_what_the_slow_twin_says(channel):
    model, thz = build(channel, FEW, seed=7), Thz()
    low, high = np.triu_indices(FEW.racks, k=1)
    for time_s in (0.0, 0.0123, 3.21):
        fast = model.gains(low, high, to_ps(time_s))
        slow = [
            [twin.gain(channel, thz, FEW, 7, a, b, c, time_s) for c in range(thz.subbands)]
            for a, b in zip(low.tolist(), high.tolist(), strict=True)
        ]
        # The kernel cuts the moving average where its weights fall below 1e-4.
        difference_db = 10 * np.abs(np.log10(fast / slow))
        assert difference_db.max() < 5e-4 * max(channel.fluctuation_db, 1)


@pytest.mark.parametrize("rack", [-1, FEW.racks, 2**40])
def test_gains_of_unknown_racks_are_refused(rack):
    model = build(BOTH, FEW)
    for _ in range(2):
        with pytest.raises(ThzSyncError, match=rf"0\.\.{FEW.racks - 1}"):
            model.gains(np.array([0]), np.array([rack]), 0)
        model.gain_matrix(np.arange(FEW.racks), 0)  # from now on all rings are known


def test_gains_do_not_depend_on_what_was_asked_before(monkeypatch):
    """Few places for innovations, slots at all distances, forwards and backwards, some pairs."""
    monkeypatch.setattr(propagation, "_KEPT_PAIRS", 7)
    model, rng = build(BOTH, FEW, seed=3), np.random.default_rng(5)
    low, high = np.triu_indices(FEW.racks, k=1)
    slot_ps, slot = model.source.fluctuation.slot_ps, 0
    for step in rng.choice([-50, -3, 0, 1, 2, 5, 36, 37, 38, 400], 150).tolist():
        slot = max(slot + step, 0)
        asked = rng.permutation(len(low))[:6]
        again = model.gains(low[asked], high[asked], slot * slot_ps)
        afresh = build(BOTH, FEW, seed=3).gains(low[asked], high[asked], slot * slot_ps)
        assert again.tolist() == afresh.tolist()


@pytest.fixture
def plain(monkeypatch):
    """The kernels of the fading module as plain Python, and a way to switch them on."""

    def switch_on():
        for name in KERNELS:
            monkeypatch.setattr(fading, name, getattr(fading, name).py_func)
        monkeypatch.setattr(propagation, "fill_gains", fading.fill_gains)

    with np.errstate(over="ignore"):  # the hash wraps around on purpose
        yield switch_on


def test_compiled_and_plain_gains_agree(plain):
    compiled = build(BOTH, FEW).gain_matrix(np.arange(FEW.racks), 10**11)
    plain()
    uncompiled = build(BOTH, FEW).gain_matrix(np.arange(FEW.racks), 10**11)
    np.testing.assert_allclose(uncompiled, compiled, rtol=1e-12)


def test_the_hash_is_the_one_of_the_twin(plain):
    plain()
    key = np.uint64(2**63 - 25)
    for slot in (-3, 0, 12345):
        assert int(fading.draw64(fading.stream_start(key, 77, 2), slot)) == twin.draw(
            int(key), 77, 2, slot
        )


def test_the_hash_draws_standard_normals():
    sample = np.array([twin.gaussian(twin.draw(1, 5, 0, slot)) for slot in range(20_000)])
    error = 1 / np.sqrt(len(sample))
    assert abs(sample.mean()) < 4 * error
    assert abs(sample.var() - 1) < 4 * np.sqrt(2) * error
    assert abs((sample**4).mean() - 3) < 4 * np.sqrt(96) * error


@pytest.mark.parametrize("time_s", [0.0, 17.3])
def test_the_fluctuation_keeps_unit_variance_at_all_times(time_s):
    x = levels(build(ONLY_FLUCTUATION), time_s)
    error = 1 / np.sqrt(x.size)
    assert abs(x.mean()) < 4 * error
    assert abs(x.var() - 1) < 4 * np.sqrt(2) * error


@pytest.mark.parametrize("lags", [1, 2, 4, 8])
def test_the_correlation_falls_by_e_per_coherence_time(lags):
    model = build(ONLY_FLUCTUATION)
    a, b = levels(model, 1.0), levels(model, 1.0 + lags * COHERENCE_S / 4)
    measured = float(np.corrcoef(a.ravel(), b.ravel())[0, 1])
    expected = np.exp(-lags / 4)
    assert abs(measured - expected) < 4 * (1 - expected**2) / np.sqrt(a.size)


def test_pairs_and_subbands_and_seeds_are_independent():
    x = levels(build(ONLY_FLUCTUATION), 2.0)
    error = 1 / np.sqrt(len(x))
    assert np.abs(np.corrcoef(x.T) - np.eye(4)).max() < 4 * error
    assert abs(np.corrcoef(x[:-1, 0], x[1:, 0])[0, 1]) < 4 * error
    other = levels(build(ONLY_FLUCTUATION, seed=1), 2.0)
    assert abs(np.corrcoef(x[:, 0], other[:, 0])[0, 1]) < 4 * error


def test_without_a_coherence_time_the_channel_is_drawn_once_per_seed():
    model = build(Channel(fluctuation_db=3))
    np.testing.assert_array_equal(model.gains(LOW, HIGH, 0), model.gains(LOW, HIGH, 10**15))
    assert model.next_change_ps(0) == NEVER_PS
    assert abs(levels(model, 0.0).var() - 1) < 4 * np.sqrt(2 / 8064)


def test_the_blocked_share_is_the_stationary_one_from_the_first_instant():
    model = build(ONLY_BLOCKAGE)
    for time_s in (0.0, 5.0):
        share = blocked(model, to_ps(time_s)).mean()
        assert abs(share - 0.2) < 4 * np.sqrt(0.2 * 0.8 / len(LOW))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_blockages_last_their_mean_duration(share):
    blockage = Blockage(share=share, mean_duration_s=0.05, loss_db=15)
    model = build(Channel(fluctuation_db=0, blockage=blockage))
    slot_ps = BlockageGrid.of(blockage).slot_ps
    history = np.array([blocked(model, k * slot_ps) for k in range(120)])
    begins = (~history[:-1] & history[1:]).sum()
    mean_s = history.sum() / begins * slot_ps * 1e-12
    # A run of blocked slots is geometric, so its relative spread is below one.
    assert mean_s == pytest.approx(0.05, rel=5 / np.sqrt(begins) + 1 / 120)


def test_blockage_costs_its_loss_on_all_subbands_and_nothing_else():
    model = build(ONLY_BLOCKAGE)
    ratio = model.gains(LOW, HIGH, 0) / model.base_gain(LOW, HIGH)
    np.testing.assert_allclose(ratio[blocked(model, 0)], 10**-1.5)
    np.testing.assert_allclose(ratio[~blocked(model, 0)], 1.0)


def test_blockage_does_not_shift_the_fluctuation():
    calm = BOTH.model_copy(update={"blockage": Blockage()})
    both, alone = build(BOTH).gains(LOW, HIGH, 0), build(calm).gains(LOW, HIGH, 0)
    ratio = both / alone
    assert np.all(np.isclose(ratio, 1.0) | np.isclose(ratio, 10**-2.0))


@pytest.mark.parametrize("topology", [MANY, Topology(Floor(rings=20, slots_per_ring=20))])
def test_gains_are_reciprocal_and_do_not_depend_on_what_was_asked_before(topology):
    rng = np.random.default_rng(3)
    asked = build(BOTH, topology)
    for _ in range(30):  # 400 racks do not fit into the cache: entries evict each other
        src, dst = rng.integers(0, topology.racks, (2, 50))
        time_ps = int(rng.integers(0, 10**12))
        first = asked.gains(src, dst, time_ps)
        asked.gains(dst, rng.permutation(src), time_ps + 10**11)
        np.testing.assert_array_equal(asked.gains(dst, src, time_ps), first)
        np.testing.assert_array_equal(build(BOTH, topology).gains(src, dst, time_ps), first)


def test_gains_hold_until_the_next_announced_change():
    model = build(BOTH)
    time_ps = 0
    for _ in range(8):
        change_ps = model.next_change_ps(time_ps)
        assert change_ps > time_ps
        now = model.gains(LOW, HIGH, time_ps)
        np.testing.assert_array_equal(model.gains(LOW, HIGH, change_ps - 1), now)
        assert (model.gains(LOW, HIGH, change_ps) != now).any()
        time_ps = change_ps


def test_a_gain_matrix_is_symmetric_with_an_empty_diagonal():
    racks = np.array([1, 4, 5])
    matrix = build(BOTH).gain_matrix(racks, 10**9)
    assert matrix.shape == (3, 3, 4)
    np.testing.assert_array_equal(matrix, matrix.transpose(1, 0, 2))
    assert (matrix[range(3), range(3)] == 0).all()
    np.testing.assert_array_equal(matrix[0, 2], build(BOTH).gains(racks[:1], racks[2:], 10**9)[0])


def test_a_fresh_process_draws_the_same_channel():
    program = (
        "import numpy as np\n"
        "from tests.channel.test_model import BOTH, LOW, HIGH, build\n"
        "print(build(BOTH, seed=5).gains(LOW[:9], HIGH[:9], 10**11).tobytes().hex())"
    )
    fresh = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    here = build(BOTH, seed=5).gains(LOW[:9], HIGH[:9], 10**11).tobytes().hex()
    assert fresh.stdout.strip() == here


def test_a_wide_floor_takes_memory_for_the_rings_that_are_asked_for() -> None:
    """A thousand rings have a million pairs; what two of them need must not be paid for all."""
    wide, narrow = (
        ChannelModel.build(Channel(), Thz(), Topology(Floor(rings=n, slots_per_ring=8)), Streams(1))
        for n in (1100, 3)
    )
    src, dst = np.array([0, 3, 9]), np.array([1, 17, 2])
    assert isinstance(wide.source, PropagationGains)
    assert np.array_equal(wide.base_gain(src, dst), narrow.base_gain(src, dst))
    assert wide.source._known.sum() == 1 + 2 + 2
