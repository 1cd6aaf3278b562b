"""Minimum common duration and minimum powers (eq:a2a_power_allocation)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import wireless_twin as twin
from thzsync.channel import Law
from thzsync.wireless.power import allocate, radiate_all

HZ = 5e9
LAW = Law(HZ)
LONG_S = 1e6

transmissions = st.lists(
    st.tuples(
        st.integers(0, 3),  # sender
        st.floats(1e3, 1e9),  # bits
        st.floats(-10, 50),  # SNR per watt [dB]
    ),
    min_size=1,
    max_size=12,
)


def columns(rows: list[tuple[int, float, float]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    sender, bits, snr_db = (np.array(c) for c in zip(*rows, strict=True))
    return sender.astype(np.int64), bits.astype(np.float64), 10 ** (snr_db / 10)


@given(transmissions, st.floats(1e-3, 1.0))
def test_the_duration_is_the_twins_and_no_budget_is_exceeded(
    rows: list[tuple[int, float, float]], cap: float
) -> None:
    sender, bits, snr = columns(rows)
    cap_w = np.full(4, cap)
    keep, power_w, duration_ps = allocate(sender, bits, snr, cap_w, LAW, LONG_S, True)
    assert keep.all()
    wanted_s = twin.shortest_duration_s(sender, bits, snr, cap_w, HZ)
    assert duration_ps == pytest.approx(wanted_s * 1e12, rel=1e-9, abs=2)
    assert (np.bincount(sender, power_w, minlength=4) <= cap_w).all()
    served = HZ * np.log1p(power_w * snr) / np.log(2) * duration_ps / 1e12
    assert (served >= bits).all()


@given(transmissions)
def test_powers_are_minimal_so_that_one_percent_less_serves_nobody(
    rows: list[tuple[int, float, float]],
) -> None:
    sender, bits, snr = columns(rows)
    _, power_w, duration_ps = allocate(sender, bits, snr, np.full(4, 0.1), LAW, LONG_S, True)
    served = HZ * np.log1p(0.99 * power_w * snr) / np.log(2) * duration_ps / 1e12
    assert (served < bits).all()


def test_one_link_alone_takes_its_shannon_time() -> None:
    bits, snr_per_w = 4e6, 1270.0  # SNR 127 at 0.1 W: 7 bit/s/Hz
    _, power_w, duration_ps = allocate(
        np.zeros(1, np.int64),
        np.array([bits]),
        np.array([snr_per_w]),
        np.array([0.1]),
        LAW,
        1.0,
        True,
    )
    assert duration_ps == pytest.approx(bits / (7 * HZ) * 1e12, abs=2)
    assert power_w[0] == pytest.approx(0.1, rel=1e-6)


def test_equal_power_is_never_faster_and_uses_every_budget() -> None:
    sender = np.array([0, 0, 1], dtype=np.int64)
    bits, snr = np.full(3, 4e6), np.array([2000.0, 100.0, 500.0])
    cap_w = np.array([0.1, 0.1])
    _, _, best_ps = allocate(sender, bits, snr, cap_w, LAW, LONG_S, True)
    _, power_w, equal_ps = allocate(sender, bits, snr, cap_w, LAW, LONG_S, False)
    assert equal_ps > best_ps
    assert power_w == pytest.approx([0.05, 0.05, 0.1])
    assert equal_ps == pytest.approx(4e6 / (HZ * np.log2(1 + 0.05 * 100)) * 1e12, abs=2)


def test_a_sender_that_cannot_finish_all_in_time_leaves_its_neediest_out() -> None:
    sender = np.array([0, 0, 1], dtype=np.int64)
    bits, snr = np.full(3, 4e6), np.array([2000.0, 10.0, 2000.0])
    alone_s = twin.shortest_duration_s([0], [4e6], [10.0], [0.1], HZ)
    keep, power_w, duration_ps = allocate(
        sender, bits, snr, np.array([0.1, 0.1]), LAW, alone_s, True
    )
    assert keep.tolist() == [True, False, True]
    assert duration_ps < alone_s * 1e12
    assert power_w[1] == 0


@pytest.mark.usefixtures("uncompiled")
def test_compiled_and_plain_agree() -> None:
    from thzsync.wireless import power

    sender = np.array([0, 1, 0, 2], dtype=np.int64)
    bits, snr = np.array([4e6, 3e6, 1e3, 8e8]), np.array([50.0, 900.0, 3.0, 1e4])
    for optimal in (True, False):
        arguments = (sender, bits, snr, np.full(3, 0.1), LAW, 1.0, optimal)
        compiled, plain = allocate(*arguments), power.allocate(*arguments)
        assert not hasattr(power.allocate, "py_func")
        assert (compiled[0] == plain[0]).all()
        assert compiled[1] == pytest.approx(plain[1], rel=1e-12)
        assert compiled[2] == pytest.approx(plain[2], abs=1)


def test_all_that_a_sender_may_is_radiated_in_proportion() -> None:
    sender, keep = np.array([0, 0, 1, 1]), np.array([True, True, True, False])
    power_w, cap_w = np.array([0.01, 0.03, 0.02, 9.0]), np.array([0.08, 0.02])
    radiate_all(sender, keep, cap_w, power_w)
    assert power_w == pytest.approx([0.02, 0.06, 0.02, 9.0])
    assert power_w[:2].sum() <= 0.08
