"""What transmission takes at the wall plug; by default the transmission energy itself."""

from __future__ import annotations

from typing import TypeVar

from thzsync.arrays import FloatArray
from thzsync.records.declaration import CarrierFacts
from thzsync.scenario import FibreEnergy, ThzEnergy

Amount = TypeVar("Amount", float, FloatArray)
"""One number, or one per unit or event."""


def thz_wall_j(thz: ThzEnergy, in_use_s: Amount, radiated_j: Amount, bits: Amount) -> Amount:
    """Front ends while in use, amplifiers, and baseband [J].

    A transmission is in use from the beginning of its guard time to its end.
    """
    amplifiers_j = radiated_j / thz.amplifier_efficiency
    return in_use_s * thz.front_end_w + amplifiers_j + bits * thz.baseband_j_per_bit


def fibre_wall_j(
    fibre: FibreEnergy, transmission_j: Amount, bit_hops: Amount, bits: Amount
) -> Amount:
    """Links, and the switches between them: one fewer than links [J].

    ``bit_hops`` are bits times links on their path.
    """
    given = fibre.link_j_per_bit
    links_j = transmission_j if given is None else bit_hops * given
    return links_j + (bit_hops - bits) * fibre.switch_j_per_bit


def further_wall_j(facts: CarrierFacts | None, sent_j: float, size_bytes: int) -> float:
    """A sending of a further carrier: as declared, or what was sent [J]."""
    if facts is None or facts.wall_j_per_bit is None:
        return sent_j
    return 8.0 * size_bytes * facts.wall_j_per_bit


def counted_j(kind: str, transmission_j: float, wall_j: float, static_j: float) -> float:
    """The energy that ``reward.energy`` selects [J]."""
    if kind == "transmission":
        return transmission_j
    return wall_j if kind == "wall-plug" else wall_j + static_j
