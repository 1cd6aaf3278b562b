"""Rate laws: modes of IEEE 802.15.3d against the standard and information theory; plug-ins."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial.hermite import hermgauss

from thzsync.channel import law_of
from thzsync.errors import ThzSyncError
from thzsync.scenario import RateLaw, Scenario, Step, Thz, register_rate_law
from thzsync.scenario.files import parse_scenario
from thzsync.scenario.rates import MODES, RATE_LAWS, SingleCarrier, fastest

TINY = Scenario.of("tiny")
T, W = hermgauss(32)


def points(name: str) -> np.ndarray:
    """A constellation of unit mean power."""
    size = {"BPSK": 2, "QPSK": 4, "8-PSK": 8, "16-QAM": 16, "64-QAM": 64}[name]
    if "QAM" not in name:
        return np.exp(2j * np.pi * np.arange(size) / size)
    level = np.arange(1 - math.isqrt(size), math.isqrt(size), 2)
    square = (level[:, None] + 1j * level).ravel()
    return square / np.sqrt((np.abs(square) ** 2).mean())


def capacity(constellation: np.ndarray, snr: float) -> float:
    """Bits per symbol that equally likely points carry over Gaussian noise, by quadrature.

    A square constellation is two independent real ones; so only PSK needs two dimensions.
    """
    if len(constellation) in (16, 64):
        real = np.unique(constellation.real.round(12))
        return 2 * capacity(real.astype(complex), snr)
    noise = (T[:, None] + 1j * T) / math.sqrt(snr)
    apart = constellation[:, None, None, None] - constellation[:, None, None] + noise
    exponent = -(np.abs(apart) ** 2 - np.abs(noise) ** 2) * snr
    lost = np.logaddexp.reduce(exponent, axis=1) / math.log(2)
    return math.log2(len(constellation)) - float((lost.mean(axis=0) * np.outer(W, W)).sum() / np.pi)


@pytest.mark.parametrize(("name", "bits", "code_rate", "snr_db"), MODES)
def test_at_its_threshold_a_constellation_carries_the_bits_of_its_code(
    name: str, bits: int, code_rate: float, snr_db: float
) -> None:
    constellation = points(name.split(maxsplit=1)[0])
    assert len(constellation) == 2**bits
    below, above = (capacity(constellation, 10 ** ((snr_db + d) / 10)) for d in (-0.006, 0.006))
    assert below < bits * code_rate < above


def test_rates_are_those_of_the_standard() -> None:
    modes = {step.name: step.efficiency for step in SingleCarrier().modes()}
    assert modes["64-QAM 14/15"] == pytest.approx(4.56, abs=0.005)
    assert modes["16-QAM 14/15"] == pytest.approx(3.04, abs=0.005)
    # the widest channel, 32 times 2.16 GHz
    assert modes["64-QAM 14/15"] * 69.12 == pytest.approx(315.39, abs=0.01)
    assert modes["QPSK 11/15"] * 2.16 == pytest.approx(1.76 * 2 * 11 / 15)


def test_a_mode_is_left_out_if_a_faster_one_needs_no_more() -> None:
    kept = [step.name for step in fastest(SingleCarrier().steps())]
    left_out = {name for name, *_ in MODES} - set(kept)
    assert left_out == {"BPSK 14/15", "8-PSK 14/15"}
    assert len(kept) == len(MODES) - 2


@given(
    margin=st.floats(0, 10), error=st.sampled_from([0, 1e-4, 0.01, 0.3, 0.9]),
    decade=st.floats(0.05, 10),
)  # fmt: skip
@settings(deadline=None)
def test_no_step_carries_more_than_shannon_allows(
    margin: float, error: float, decade: float
) -> None:
    law = SingleCarrier(implementation_margin_db=margin, error_rate=error, error_decade_db=decade)
    steps = fastest(law.steps())
    for slow, fast in pairwise(steps):
        assert slow.snr_db < fast.snr_db
        assert slow.efficiency < fast.efficiency
    for step in law.steps():
        assert 0 < step.efficiency < math.log2(1 + 10 ** (step.snr_db / 10))


def test_distortion_raises_what_a_step_needs() -> None:
    clean = law_of(Thz(rate="802.15.3d"))
    law = law_of(Thz(rate={"kind": "802.15.3d", "sndr_db": 18}))
    assert (law.step_bps == clean.step_bps).all()
    # 1/SNR = 1/SNR_eff - 1/SNDR; 64-QAM 14/15 with its 20.69 dB is beyond the distortion
    assert 1 / law.step_snr[:-1] == pytest.approx(1 / clean.step_snr[:-1] - 10**-1.8)
    assert law.step_snr[-1] == math.inf
    assert 10 * math.log10(clean.step_snr[-1]) == pytest.approx(20.69)


def test_what_is_sent_again_becomes_rarer_by_a_decade() -> None:
    law = SingleCarrier(error_rate=0.1, error_decade_db=0.5)
    plain = {step.name: step for step in law.modes()}
    mine = [step for step in law.steps() if step.name == "QPSK 11/15"]
    assert [step.snr_db - plain["QPSK 11/15"].snr_db for step in mine] == pytest.approx(
        [0, 0.25, 0.5, 0.75, 1.0, 1.25]
    )
    assert [step.error_rate for step in mine[::2]] == pytest.approx([0.1, 0.01, 0.001])
    assert mine[-1].error_rate < 1e-3 <= mine[-2].error_rate
    for step in mine:
        assert step.efficiency == pytest.approx(
            plain["QPSK 11/15"].efficiency * (1 - step.error_rate)
        )


def test_the_default_law_leaves_digests_as_they_were() -> None:
    assert TINY.with_({"thz.rate": "shannon"}).digest == TINY.digest
    others = [{"thz.rate.sndr_db": 18}, {"thz.rate": "802.15.3d"}]
    assert len({TINY.digest, *(TINY.with_(other).digest for other in others)}) == 3


def test_a_law_survives_a_file() -> None:
    law = {"kind": "802.15.3d", "sndr_db": "18 dB", "error_rate": 0.1}
    scenario = TINY.with_({"thz.rate": law})
    assert parse_scenario(scenario.to_toml(), "file") == scenario
    assert scenario.thz.rate.sndr_db == 18


@pytest.mark.parametrize(
    ("key", "value", "place"),
    [
        ("thz.rate", "802.11", r"thz\.rate"),
        ("thz.rate", {"kind": "802.15.3d", "margin_db": 3}, r"thz\.rate\.margin_db"),
        ("thz.rate", {"kind": "802.15.3d", "error_rate": 1}, r"thz\.rate\.error_rate"),
        ("thz.rate.sndr_db", -3, r"thz\.rate\.sndr_db"),
    ],
)
def test_a_mistake_is_told_with_its_place(key: str, value: object, place: str) -> None:
    with pytest.raises(ThzSyncError, match=place):
        TINY.with_({key: value})


@pytest.mark.usefixtures("nothing_stays_registered")
def test_a_plug_in_brings_steps_and_keys_of_its_own() -> None:
    class OnOff(RateLaw):
        kind: Literal["on-off"] = "on-off"
        needs_db: float = 10.0

        def steps(self) -> tuple[Step, ...]:
            return (Step("on", self.needs_db, 1.0),)

    try:
        register_rate_law(OnOff)
        law = TINY.with_({"thz.rate": {"kind": "on-off", "needs_db": 12}}).thz.rate
        assert law.steps() == (Step("on", 12.0, 1.0),)
    finally:
        RATE_LAWS.registered.pop("on-off", None)
        RATE_LAWS.forget()
    with pytest.raises(ThzSyncError):
        register_rate_law(dict)  # type: ignore[arg-type]
