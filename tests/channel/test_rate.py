"""Power to rate and back."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thzsync.auditor.rates import Rates
from thzsync.channel import (
    Law,
    efficiency,
    law_of,
    link_budget_per_w,
    needed_snr,
    rate_bps,
    rates_bps,
    required_power_w,
    snr_per_watt,
    step_of,
)
from thzsync.channel.rate import saving_power_w
from thzsync.scenario import Thz
from thzsync.scenario.rates import fastest

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


STEPS = law_of(Thz(rate={"kind": "802.15.3d", "sndr_db": 18}))
CEILING = law_of(Thz(rate={"kind": "shannon", "sndr_db": 18}))
LAWS = {
    "shannon": Thz(),
    "ceiling": Thz(rate={"kind": "shannon", "sndr_db": 18}),
    "modes": Thz(rate="802.15.3d"),
    "distorted modes": Thz(rate={"kind": "802.15.3d", "sndr_db": 18}),
    "errors": Thz(rate={"kind": "802.15.3d", "sndr_db": 25, "error_rate": 0.2}),
}


@pytest.mark.parametrize(("rate", "power"), COMPILED_AND_PLAIN)
@given(efficiency=st.floats(1e-6, 5.9), snr_per_w=st.floats(1e-6, 1e6))
def test_no_power_exceeds_the_ceiling_and_below_it_power_is_the_inverse_of_rate(
    rate, power, efficiency, snr_per_w
):
    most = math.log2(1 + 10**1.8)  # 6.0 bit/s/Hz
    power_w = power(efficiency * BANDWIDTH_HZ, 1.0, snr_per_w, CEILING)
    assert rate(power_w, snr_per_w, CEILING) == pytest.approx(efficiency * BANDWIDTH_HZ, rel=1e-9)
    assert power(1.001 * most * BANDWIDTH_HZ, 1.0, snr_per_w, CEILING) == math.inf
    assert rate(1e30, snr_per_w, CEILING) <= most * BANDWIDTH_HZ * (1 + 1e-12)


@pytest.mark.parametrize(("rate", "power"), COMPILED_AND_PLAIN)
@given(snr_per_w=st.floats(1e-6, 1e6), size_bits=st.floats(1e3, 1e10))
def test_on_steps_the_required_power_is_the_least_that_is_fast_enough(
    rate, power, snr_per_w, size_bits
):
    assert rate(0.999 * STEPS.step_snr[0] / snr_per_w, snr_per_w, STEPS) == 0
    for k, bps in enumerate(STEPS.step_bps):
        found_w = power(size_bits, size_bits / bps, snr_per_w, STEPS)
        if math.isinf(STEPS.step_snr[k]):  # 64-QAM 14/15 is beyond the distortion
            assert found_w == math.inf
            continue
        assert rate(found_w, snr_per_w, STEPS) == bps
        assert rate(found_w * (1 - 1e-9), snr_per_w, STEPS) < bps
        assert saving_power_w(1.0001 * found_w, snr_per_w, STEPS) == pytest.approx(found_w)
    assert power(size_bits, 0.99 * size_bits / STEPS.step_bps[-1], 1.0, STEPS) == math.inf


@pytest.mark.parametrize("name", LAWS)
def test_the_auditor_finds_the_same_rates_and_ratios(name):
    thz = LAWS[name]
    law, audited = law_of(thz), Rates(thz)
    snr = np.logspace(-3, 5, 4001)
    assert audited.efficiency(snr) == pytest.approx(efficiency(snr, law), rel=1e-12)
    assert rates_bps(snr, law) == pytest.approx(efficiency(snr, law) * law.hz, rel=1e-9)
    assert rates_bps(snr, law) == pytest.approx([rate_bps(x, 1.0, law) for x in snr], rel=1e-14)
    wanted = np.linspace(0.01, 5, 500)
    needed = [needed_snr(x * law.hz, 1.0, law) for x in wanted]
    assert audited.needed(wanted) == pytest.approx(np.array(needed), rel=1e-9)
    names = [step.name for step in fastest(thz.rate.steps())]
    found = [audited.steps[k].name if k >= 0 else "" for k in audited.step(snr)]
    assert found == [names[k] if k >= 0 else "" for k in step_of(snr, law) if names] or not names
