"""Minimum common duration and minimum powers (eq:a2a_power_allocation)."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference import wireless_twin as twin
from thzsync.channel import Law, law_of, rate_bps
from thzsync.scenario import Thz
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


few = st.lists(
    st.tuples(st.integers(0, 1), st.floats(1e5, 1e7), st.floats(5, 50)), min_size=1, max_size=5
)
STEPPED = {
    "modes": law_of(Thz(rate="802.15.3d")),
    "distorted": law_of(Thz(rate={"kind": "802.15.3d", "sndr_db": 18})),
    "errors": law_of(Thz(rate={"kind": "802.15.3d", "sndr_db": 25, "error_rate": 0.3})),
}
SMALL = {name: Law(law.hz, 0.0, law.step_snr[1::2][:4], law.step_bps[1::2][:4])
         for name, law in STEPPED.items()}  # fmt: skip


@pytest.mark.parametrize("name", SMALL)
@given(rows=few, cap=st.floats(0.02, 1.0))
@settings(max_examples=300, deadline=None)
def test_on_steps_no_assignment_of_steps_is_shorter_or_needs_less_power(
    name: str, rows: list[tuple[int, float, float]], cap: float
) -> None:
    law = SMALL[name]
    sender, bits, snr = columns(rows)
    keep, power_w, duration_ps = allocate(sender, bits, snr, np.full(2, cap), law, LONG_S, True)
    sender, bits, snr, power_w = sender[keep], bits[keep], snr[keep], power_w[keep]
    best_s, best_w = np.inf, {}
    for chosen in product(range(len(law.step_bps)), repeat=len(bits)):
        k = np.array(chosen, dtype=np.int64)
        watts = law.step_snr[k] / snr
        if (np.bincount(sender, watts, minlength=2) <= cap * (1 + 1e-12)).all():
            lasts_s = (bits / law.step_bps[k]).max(initial=0.0)
            best_s = min(best_s, lasts_s)
            best_w[chosen] = lasts_s, watts
    assert duration_ps == pytest.approx(best_s * 1e12, rel=1e-12, abs=1)
    assert (np.bincount(sender, power_w, minlength=2) <= cap).all()
    served = [rate_bps(p, s, law) * duration_ps / 1e12 for p, s in zip(power_w, snr, strict=True)]
    assert (np.array(served) >= bits * (1 - 1e-12)).all()
    least = min(w.sum() for t, w in best_w.values() if t <= duration_ps / 1e12 * (1 + 1e-12))
    assert power_w.sum() == pytest.approx(least)


@given(rows=few, cap=st.floats(0.02, 1.0))
@settings(max_examples=100, deadline=None)
def test_a_transmission_is_left_out_only_if_no_step_fits_beside_the_others(
    rows: list[tuple[int, float, float]], cap: float
) -> None:
    law = STEPPED["distorted"]
    sender, bits, snr = columns(rows)
    keep, _, _ = allocate(sender, bits, snr, np.full(2, cap), law, LONG_S, True)
    first_w = law.step_snr[0] / snr
    for who in (0, 1):
        mine = sender == who
        left_w = cap - first_w[mine & keep].sum()
        assert (first_w[mine & ~keep] > left_w * (1 - 1e-12)).all()


@given(transmissions, st.floats(1e-3, 1.0), st.sampled_from([3.0, 18.0, 60.0, 150.0]))
@settings(deadline=None)
def test_below_a_ceiling_the_duration_is_that_of_bisection(
    rows: list[tuple[int, float, float]], cap: float, sndr_db: float
) -> None:
    sender, bits, snr = columns(rows)
    law = Law(HZ, 10 ** (-sndr_db / 10))
    _, power_w, duration_ps = allocate(sender, bits, snr, np.full(4, cap), law, LONG_S, True)
    wanted_s = twin.shortest_duration_s(sender, bits, snr, np.full(4, cap), HZ, law.distortion)
    assert duration_ps == pytest.approx(wanted_s * 1e12, rel=1e-9, abs=2)
    assert (np.bincount(sender, power_w, minlength=4) <= cap).all()
    served = [rate_bps(p, s, law) * duration_ps / 1e12 for p, s in zip(power_w, snr, strict=True)]
    assert (np.array(served) >= bits * (1 - 1e-12)).all()


def test_with_equal_powers_who_reaches_no_step_waits() -> None:
    law = STEPPED["modes"]
    snr = np.array([1e4, 1.2 * law.step_snr[0] / 0.1, 1e4])  # the second one alone reaches a step
    sender, bits = np.array([0, 0, 1], dtype=np.int64), np.full(3, 4e6)
    keep, power_w, _ = allocate(sender, bits, snr, np.full(2, 0.1), law, LONG_S, False)
    assert keep.tolist() == [True, False, True]
    assert power_w == pytest.approx([0.1, 0, 0.1])
