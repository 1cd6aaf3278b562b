"""Energy at the wall plug and without traffic; the defaults count transmission alone."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from thzsync.scenario.base import BitEnergy, Fraction, Model, Power, Real


class ThzEnergy(Model):
    """The electronics of the THz transceivers."""

    front_end_w: Power = 0.0
    """Transmit plus receive chain of one transmission, from its guard time to its end [W]."""
    amplifier_efficiency: Annotated[Real, Field(ge=1e-6, le=1)] = 1.0
    """Radiated power over the power that the amplifier takes, back-off included."""
    baseband_j_per_bit: BitEnergy = 0.0
    """Converters, baseband and error correction at both ends [J/bit]."""
    idle_w: Power = 0.0
    """Static power of every RF chain, whether it is in use or not; the front end of an active
    transmission is counted in addition [W]."""
    sleep_share: Fraction = 0.0
    """Share of the static power that a chain saves while it is not in use."""


class FibreEnergy(Model):
    """The modules of the links and the switches."""

    link_j_per_bit: BitEnergy | None = None
    """Both modules of a link, per bit that crosses it [J/bit]; optical.energy_j_per_bit_hop when
    absent."""
    switch_j_per_bit: BitEnergy = 0.0
    """A switch, per bit that passes it [J/bit]."""
    idle_w_per_port: Power = 0.0
    """Static power of a module and its port, one per directed link: a duplex fibre has two [W]."""
    idle_w_per_switch: Power = 0.0
    """Static power of a switch without its ports; it never sleeps [W]."""
    sleep_share: Fraction = 0.0
    """Share of the static power that a module saves while its link sends nothing of the job."""


class RackEnergy(Model):
    """The racks' compute."""

    idle_w: Power = 0.0
    """Power that a rack draws during the whole iteration, whether it computes or waits for
    communication [W]."""


class Energy(Model):
    """Energy of every carrier at the wall plug, and static power."""

    thz: ThzEnergy = ThzEnergy()
    """The THz transceivers."""
    fibre: FibreEnergy = FibreEnergy()
    """The fibre network."""
    racks: RackEnergy = RackEnergy()
    """The racks."""
