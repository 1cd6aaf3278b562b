"""The optical packet network, the THz overlay and the channel."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field, model_validator

from thzsync.scenario.antennas import ANTENNAS, Antenna, Isotropic
from thzsync.scenario.base import (
    Bytes,
    Count,
    EnergyPerBit,
    FileName,
    Fraction,
    Gain,
    Hertz,
    Loss,
    Model,
    NoiseDensity,
    Rate,
    Real,
    Seconds,
    Watts,
    Whole,
)
from thzsync.scenario.kinds import OneOf
from thzsync.scenario.path_loss import PATH_LOSSES, Measured, PathLoss
from thzsync.scenario.rates import RATE_LAWS, RateLaw, Shannon
from thzsync.scenario.units import Quantity

LARGEST_PACKET_BYTES: Final = 1 << 20
"""Largest packet for which service times are exact in 64 bits [bytes]."""
SHORTEST_SLOT_S: Final = 1e-6
"""Shortest time between changes of a channel; faster ones take too long to simulate [s]."""
AIR_BAND_HZ: Final = (275e9, 375e9)
"""Frequencies for which the absorption of air is tabulated [Hz]."""
OBSTACLES_DB: Final = {"mesh-door": 6.0, "cables": 20.0}
"""What usually stands in the way of a link, and its loss [dB]."""


class Background(Model):
    """Traffic of others: Poisson bursts on every switch output."""

    load: Annotated[Real, Field(ge=0, lt=1)] = 0.0
    """Offered load as a share of each output link's rate; 0 switches it off."""
    burst_bytes: Annotated[Bytes, Field(le=2**40)] = 262_144
    """Size of one burst [bytes]; it is cut into packets like any other traffic."""


class Optical(Model):
    """The packet network: rates, buffers and packets of its links and switches."""

    access_bps: Rate = 100e9
    """C_acc, rate of a fibre between a rack and its switch [bit/s]."""
    inter_bps: Rate = 100e9
    """C_inter, rate of the fibre between two ring switches [bit/s] (`network.kind = "rings"`)."""
    energy_j_per_bit_hop: EnergyPerBit = 40e-12
    """epsilon^O, transmission energy per bit and link on the path [J/bit/hop]."""
    switch_delay_s: Annotated[Seconds, Field(le=1)] = 500e-9
    """tau^sw, processing delay of a switch per packet [s]."""
    packet_bytes: Annotated[Bytes, Field(le=LARGEST_PACKET_BYTES)] = 65_536
    """Largest packet [bytes]; chunks are cut into packets of this size."""
    nic_queue_bytes: Bytes = 4_194_304
    """B_nic, queue of a rack's network interface [bytes]."""
    output_queue_bytes: Bytes = 4_194_304
    """B_out, queue of one switch output [bytes]."""
    shared_buffer_bytes: Bytes = 33_554_432
    """B_s, buffer that all outputs of one switch share [bytes]."""
    rack_reserve: Fraction = 0.25
    """Share of a shared buffer that outputs nearer to the racks have for themselves (prevents
    deadlock)."""
    background: Background = Background()
    """Background traffic."""
    fidelity: Literal["packet", "flow", "auto"] = "packet"
    """Fibres carry single packets, or flows in a limited number of packet trains."""
    trains_per_flow: Annotated[Whole, Field(ge=32, le=65_536)] = 128
    """Flow fidelity: trains per flow, about; more are slower and nearer to packets."""
    replayed_share: Fraction = 0.02
    """Flow fidelity: share of events on fibre that are simulated again packet by packet."""
    fidelity_tolerance: Annotated[Real, Field(gt=0, le=1)] = 0.02
    """Flow fidelity: error of completion times, against packets, above which a run warns."""

    @model_validator(mode="after")
    def _packets_can_pass(self) -> Optical:
        for name in ("nic_queue_bytes", "output_queue_bytes"):
            if getattr(self, name) < self.packet_bytes:
                raise ValueError(
                    f"{name} is {getattr(self, name)} but one packet has {self.packet_bytes} bytes;"
                    f" a packet could never pass: use at least packet_bytes"
                )
        if self.shared_buffer_bytes < 2 * self.packet_bytes:
            raise ValueError(
                f"shared_buffer_bytes is {self.shared_buffer_bytes}; it must hold two packets "
                f"({2 * self.packet_bytes} bytes), one of them for rack-facing outputs"
            )
        return self


class Thz(Model):
    """The transceiver of every rack (eq:rf_half_duplex, eq:thz_rate)."""

    subbands: Annotated[Count, Field(le=256)] = 4
    """N_c, number of non-overlapping subbands."""
    subband_hz: Hertz = 5e9
    """B_c, bandwidth of one subband [Hz]."""
    band_start_hz: Hertz = 290e9
    """Lower edge of the band [Hz]; subbands follow each other without gaps."""
    receive_gain_db: Gain = 25.0
    """G, gain of the receiving antenna [dBi]."""
    transmit_gain_db: Gain = 0.0
    """Gain of the transmitting antenna [dBi]."""
    max_power_w: Annotated[Watts, Field(ge=1e-15)] = 0.1
    """P^max, transmit power of a rack over all its subbands [W]."""
    noise_psd_dbm_per_hz: NoiseDensity = -174.0
    """N_0, thermal noise density [dBm/Hz]."""
    noise_figure_db: Annotated[Loss, Field(le=50)] = 2.0
    """Receiver noise figure, added to N_0 [dB]."""
    interference_w: Watts = 0.0
    """I, residual interference, added to the noise of a subband [W]."""
    interference: Literal["constant", "beams"] = "constant"
    """Between beams: none but `interference_w`; or what follows from positions and patterns. Then
    every transmission is promised a level of noise at its start, and no beam begins that would
    break a promise."""
    interference_headroom_db: Annotated[Loss, Field(le=30)] = 1.0
    """With `interference = "beams"`: how far a promise is above the noise and interference at the
    start [dB]."""
    rf_chains: Count | None = None
    """N_RF, transmissions of a rack at the same time; as many as subbands when absent."""
    sharing: Literal["rack", "event"] = "rack"
    """What limits subbands, chains and power: a rack, over all of its events; or each event by
    itself, as in the paper's constraints."""
    order: Literal["age", "urgency"] = "age"
    """Which of two events at a rack goes first: the older one; or the one that compute of its
    iteration still waits for, and the older of two such events."""
    radiation: Literal["needed", "budget"] = "needed"
    """What a sender radiates in a common round: the least power that meets the round's end
    (eq:ar_optimal_power); or its whole budget until the round ends."""
    round_overhead_s: Seconds = 0.0
    """Guard and beam-steering time at the start of every wireless round [s]."""
    longest_round_s: Seconds = 0.1
    """A link is used only if its budget is enough to finish within this time [s]."""
    fallback_timeout_s: Seconds = 0.2
    """THz chunks that cannot be sent for this long move to fibre [s]."""
    rate: Annotated[RateLaw, OneOf(RATE_LAWS, "shannon")] = Shannon()
    """Rate of a subband by its signal-to-noise ratio."""
    antenna: Annotated[Antenna, OneOf(ANTENNAS, "isotropic")] = Isotropic()
    """Pattern of the antennas, and how well they point."""

    @property
    def guard_s(self) -> float:
        """Guard time at the start of a round in which beams turn [s]."""
        return self.round_overhead_s + self.antenna.steering_s

    @property
    def antenna_gains_db(self) -> list[float]:
        """Gains of both antennas less what pointing error and squint lose, by subband [dBi]."""
        middle_hz = self.band_start_hz + self.subbands * self.subband_hz / 2
        detunings = [(centre_hz - middle_hz) / middle_hz for centre_hz in self.centres_hz]
        gains = self.receive_gain_db, self.transmit_gain_db
        return [sum(gains) - loss for loss in self.antenna.mispointed_db(gains, detunings)]

    @property
    def headroom(self) -> float:
        """What a transmission is promised, beside what it hears at its start."""
        told: float = 10 ** (self.interference_headroom_db / 10)
        return told if self.interference == "beams" else 1.0

    @property
    def chains(self) -> int:
        """RF chains per rack."""
        return self.subbands if self.rf_chains is None else self.rf_chains

    @property
    def centres_hz(self) -> tuple[float, ...]:
        """Centre frequency of every subband [Hz]."""
        return tuple(self.band_start_hz + (c + 0.5) * self.subband_hz for c in range(self.subbands))

    @property
    def noise_w(self) -> float:
        """Noise and residual interference in one subband, N_0 B_c + I [W]."""
        density_dbm = self.noise_psd_dbm_per_hz + self.noise_figure_db
        thermal_w: float = 10 ** (density_dbm / 10) * 1e-3 * self.subband_hz
        return thermal_w + self.interference_w

    @model_validator(mode="after")
    def _in_band(self) -> Thz:
        if self.longest_round_s == 0:
            raise ValueError("longest_round_s must be above 0 s")
        return self


class Blockage(Model):
    """An on/off (Gilbert-Elliott) process per rack pair."""

    share: Annotated[Real, Field(ge=0, lt=1)] = 0.0
    """Long-run share of time a pair is blocked; 0 switches blockage off."""
    mean_duration_s: Seconds = 0.05
    """Mean length of one blockage [s]."""
    loss_db: Annotated[float, Field(ge=0, le=200), Quantity("db", OBSTACLES_DB)] = 15.0
    """Extra loss while blocked [dB]; "mesh-door" is short for 6 dB, "cables" for 20 dB."""

    @model_validator(mode="after")
    def _can_be_followed(self) -> Blockage:
        shortest_s = self.mean_duration_s
        if self.share > 0:
            shortest_s = min(shortest_s, shortest_s * (1 - self.share) / self.share)
        if self.share > 0 and shortest_s < SHORTEST_SLOT_S:
            raise ValueError(
                f"a pair would be blocked or clear for {shortest_s:.3g} s on average, too short to "
                f"follow; use 1 us or more, or set share = 0 to switch blockage off"
            )
        return self


class Channel(Model):
    """THz propagation (eq:measured_path_loss, eq:composite_channel_gain) over time."""

    path_loss: Annotated[PathLoss, OneOf(PATH_LOSSES, "measured")] = Measured()
    """Mean gain by distance: "measured" (the paper's laws), "free-space" or "log-distance"."""
    reference_hz: Hertz = 300e9
    """f_0 of the path-loss laws [Hz]."""
    nlos_paths: Annotated[Whole, Field(ge=0, le=1000)] = 1
    """Number of indirect paths in the composite gain of the measured laws."""
    absorption: Literal["none", "itu-r-p676"] = "none"
    """Loss in the air: none, or by ITU-R P.676 at 25 C and 50 % humidity (275 to 375 GHz)."""
    fluctuation_db: Annotated[Loss, Field(le=30)] = 3.0
    """Standard deviation of the log-normal fluctuation per rack pair and subband [dB]."""
    coherence_s: Annotated[Seconds, Field(ge=SHORTEST_SLOT_S)] | None = None
    """Time in which the fluctuation's correlation falls to 1/e [s]; constant when absent."""
    blockage: Blockage = Blockage()
    """Blockage over time."""
    gains_file: FileName | None = None
    """File of measured or ray-traced gains (Parquet, CSV or NPZ) that replaces path loss and
    absorption."""
    vary_gains_file: bool = False
    """Fluctuation and blockage act on the gains of the file, too; otherwise it replaces them."""
