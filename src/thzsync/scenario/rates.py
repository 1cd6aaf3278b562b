"""How the rate of a THz subband follows from its signal-to-noise ratio (section ``thz.rate``).

A law is Shannon's, or steps: a transceiver uses the fastest step that its ratio carries. Distortion
by transmitter and receiver limits the ratio of both. A plug-in is a model derived from
:class:`RateLaw` with steps of its own, made known by :func:`register_rate_law` or the entry-point
group ``thzsync.rate_laws``.
"""

from __future__ import annotations

import math
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import Field

from thzsync.scenario.base import Loss, Model, Real
from thzsync.scenario.kinds import kinds_of

ENTRY_POINTS: Final = "thzsync.rate_laws"
"""Entry-point group whose objects are classes derived from :class:`RateLaw`."""


class Step(NamedTuple):
    """A rate that a transceiver can use."""

    name: str
    snr_db: float
    """Least ratio of signal to noise and distortion, in the bandwidth of a subband [dB]."""
    efficiency: float
    """Net bits per second and hertz of the subband, without what is sent again."""
    error_rate: float = 0.0
    """Share of sent data that is lost and sent again."""


class RateLaw(Model):
    """What all rate laws have in common."""

    kind: str
    """Which law this is."""
    sndr_db: Loss | None = None
    """Ratio of signal to distortion by transmitter and receiver [dB], which no power exceeds:
    1/SNR_eff = 1/SNR + 1/SNDR; no distortion when absent. An error vector magnitude of 12.6 % is
    18 dB."""

    def steps(self) -> tuple[Step, ...]:
        """The steps in any order; none for Shannon's law."""
        return ()


class Shannon(RateLaw):
    """As many bits per second and hertz as any code could carry: log2(1 + SNR_eff)."""

    kind: Literal["shannon"] = "shannon"
    """Shannon's law, as in the paper."""


class ModeTable(RateLaw):
    """Modulation and coding modes, each from a threshold on; optionally with retransmissions."""

    error_rate: Annotated[Real, Field(ge=0, le=0.9)] = 0.0
    """Share of blocks that are lost and sent again when a mode is used at its threshold; 0 leaves
    retransmissions out."""
    error_decade_db: Annotated[Loss, Field(ge=0.05, le=10)] = 0.5
    """So far above the threshold the error rate is ten times lower [dB]."""

    def modes(self) -> tuple[Step, ...]:
        """The modes without retransmissions."""
        raise NotImplementedError

    def steps(self) -> tuple[Step, ...]:
        """Modes; with errors, each at its threshold and at further points above it."""
        return tuple(step for mode in self.modes() for step in self._with_errors(mode))

    def _with_errors(self, mode: Step) -> list[Step]:
        above_db, rate = 0.0, 1.0
        found: list[Step] = []
        while rate >= NEGLIGIBLE_ERROR:
            rate = self.error_rate * 10 ** (-above_db / self.error_decade_db)
            net = mode.efficiency * (1 - rate)
            found.append(Step(mode.name, mode.snr_db + above_db, net, rate))
            above_db += ERROR_STEP_DB
        return found


ERROR_STEP_DB: Final = 0.25
"""Distance of the points at which the error rate of a mode is taken [dB]."""
NEGLIGIBLE_ERROR: Final = 1e-3
"""No point is taken above the first one with a lower error rate."""
ROUNDING: Final = 1 + 1e-9
CHIPS_PER_HZ: Final = 1.76 / 2.16
"""Chips per second and hertz: 1.76 Gchip/s in a channel of 2.16 GHz, and multiples of both."""
MODES: Final = (
    ("BPSK 11/15", 1, 11 / 15, 0.16),
    ("BPSK 14/15", 1, 14 / 15, 3.50),
    ("QPSK 11/15", 2, 11 / 15, 3.17),
    ("QPSK 14/15", 2, 14 / 15, 6.51),
    ("8-PSK 11/15", 3, 11 / 15, 6.89),
    ("8-PSK 14/15", 3, 14 / 15, 11.08),
    ("16-QAM 11/15", 4, 11 / 15, 9.03),
    ("16-QAM 14/15", 4, 14 / 15, 12.97),
    ("64-QAM 11/15", 6, 11 / 15, 14.02),
    ("64-QAM 14/15", 6, 14 / 15, 18.69),
)
"""Name, bits per chip, code rate, and the ratio of signal to noise per chip at which the
constellation with equally likely points carries bits x code rate [dB]."""


class SingleCarrier(ModeTable):
    """The single-carrier modes of IEEE 802.15.3d with its two LDPC codes.

    A mode has bits x code rate x 1.76/2.16 bit/s/Hz, up to 4.56. No code could do with less than
    its threshold. 8-APSK is left out: it has the rates of 8-PSK.
    """

    kind: Literal["802.15.3d"] = "802.15.3d"
    """Modulation and coding modes of IEEE 802.15.3d, single carrier."""
    implementation_margin_db: Loss = 2.0
    """What a real receiver needs above the constrained capacity of a constellation [dB]: codes of
    finite length and their decoder, estimates of channel and phase, quantisation. Distortion and
    the receiver's noise have keys of their own."""

    def modes(self) -> tuple[Step, ...]:
        """Thresholds with the margin, net rates with the chip ratio."""
        margin_db = self.implementation_margin_db
        return tuple(
            Step(name, snr_db + margin_db, bits * code_rate * CHIPS_PER_HZ)
            for name, bits, code_rate, snr_db in MODES
        )


def step_problem(law: RateLaw) -> str | None:
    """What no transceiver can do of a law's steps, if anything."""
    for step in law.steps():
        limit = math.log2(1 + 10 ** (step.snr_db / 10))
        if not 0 < step.efficiency <= limit * ROUNDING:
            return (
                f"step {step.name!r} has {step.efficiency:g} bit/s/Hz; use more than 0, up to "
                f"{limit:g} (Shannon's limit at {step.snr_db:g} dB)"
            )
        if not 0 <= step.error_rate < 1:
            return f"step {step.name!r} loses a share of {step.error_rate:g}; use 0 to below 1"
    return None


def fastest(steps: tuple[Step, ...]) -> list[Step]:
    """The steps by their ratio, without those that have a faster one at or below it."""
    kept: list[Step] = []
    for step in sorted(steps, key=lambda step: (step.snr_db, -step.efficiency)):
        if not kept or step.efficiency > kept[-1].efficiency:
            kept.append(step)
    return kept


RATE_LAWS: Final = kinds_of("rate law", ENTRY_POINTS, RateLaw, lambda: (Shannon, SingleCarrier))


def register_rate_law(law: type[RateLaw]) -> type[RateLaw]:
    """Make a rate law known by the default of its key ``kind``, for this process."""
    return RATE_LAWS.register(law)
