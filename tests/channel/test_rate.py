"""Power to rate and back."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thzsync.channel import Law, link_budget_per_w, rate_bps, required_power_w, snr_per_watt
from thzsync.scenario import Thz

BANDWIDTH_HZ = 5e9
LAW = Law(BANDWIDTH_HZ)
COMPILED_AND_PLAIN = [(rate_bps, required_power_w), (rate_bps.py_func, required_power_w.py_func)]


def test_unit_snr_carries_one_bit_per_hertz():
    assert rate_bps(0.5, 2.0, LAW) == pytest.approx(BANDWIDTH_HZ)


def test_the_link_budget_is_antenna_gain_over_thermal_noise():
    # -174 dBm/Hz + 2 dB over 5 GHz is -75.01 dBm; 25 dBi more makes 100.01 dB per milliwatt.
    budget_db = 10 * math.log10(link_budget_per_w(Thz())[0])
    assert budget_db == pytest.approx(25 + 174 - 2 - 10 * math.log10(5e9) + 30)
    assert snr_per_watt(1e-9, 10**2.5, Thz().noise_w) == pytest.approx(
        1e-9 * link_budget_per_w(Thz())[0]
    )


def test_interference_counts_as_noise():
    quiet = Thz()
    loud = Thz(interference_w=quiet.noise_w)
    assert link_budget_per_w(loud) == pytest.approx(link_budget_per_w(quiet) / 2)


@pytest.mark.parametrize(("rate", "power"), COMPILED_AND_PLAIN)
@given(size_bits=st.floats(1, 1e10), duration_s=st.floats(1e-6, 1), snr_per_w=st.floats(1e-6, 1e6))
def test_required_power_is_the_inverse_of_rate(rate, power, size_bits, duration_s, snr_per_w):
    power_w = power(size_bits, duration_s, snr_per_w, LAW)
    if math.isfinite(power_w):
        sent_bits = rate(power_w, snr_per_w, LAW) * duration_s
        assert sent_bits == pytest.approx(size_bits, rel=1e-12)


@pytest.mark.parametrize(("rate", "power"), COMPILED_AND_PLAIN)
def test_a_hopeless_link_keeps_full_accuracy(rate, power):
    # SNR 1e-18: log(1 + SNR) would be exactly 0.
    assert rate(1e-9, 1e-9, LAW) == pytest.approx(BANDWIDTH_HZ * 1e-18 / math.log(2))
    assert power(1e-8, 1.0, 1.0, LAW) == pytest.approx(math.log(2) * 2e-18)


@pytest.mark.parametrize("power", [required_power_w, required_power_w.py_func])
def test_nothing_needs_no_power_and_the_impossible_needs_infinite_power(power):
    assert power(0.0, 0.0, 0.0, LAW) == 0.0
    assert power(8.0, 0.0, 1.0, LAW) == math.inf
    assert power(8.0, 1.0, 0.0, LAW) == math.inf
    assert power(1e15, 1e-6, 1e9, LAW) == math.inf
