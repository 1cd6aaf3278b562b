"""What a floor draws in any case, and which share of it some racks pay.

Racks share the network, the chains and the further carriers of their floor in equal parts: a job
pays for its own racks, whether other jobs run or not, and nobody pays for racks without a job.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from thzsync.records.declaration import CarrierFacts
from thzsync.scenario import Energy, Scenario


class Static(NamedTuple):
    """Static energy by what draws it [J]."""

    fibre_j: float
    thz_j: float
    further_j: float
    rack_j: float


@dataclass(frozen=True)
class Meter:
    """The devices of a floor and their static power."""

    energy: Energy
    racks: int
    ports: int
    """Modules with their ports: one per directed link."""
    switches: int
    chains: int
    """RF chains per rack."""
    further_w: float
    """Static power of all further carriers [W]."""

    @classmethod
    def of(
        cls, scenario: Scenario, ports: int, switches: int, further: Iterable[CarrierFacts]
    ) -> Meter:
        """The devices of a scenario, on a network with these ports and switches."""
        further_w = sum((facts.idle_w for facts in further), 0.0)
        racks, chains = scenario.floor.racks, scenario.thz.chains
        return cls(scenario.energy, racks, ports, switches, chains, further_w)

    def static(self, racks: int, lasts_s: float, link_s: float, in_use_s: float) -> Static:
        """What some racks pay for a time.

        Meanwhile links sent for ``link_s`` in total and transmissions took ``in_use_s`` in total;
        both ends of a transmission are in use. A module or chain that sleeps draws less.
        """
        fibre, thz = self.energy.fibre, self.energy.thz
        share = racks / self.racks * lasts_s
        port_s = _awake_s(share * self.ports, link_s, fibre.sleep_share)
        chain_s = _awake_s(racks * self.chains * lasts_s, 2 * in_use_s, thz.sleep_share)
        return Static(
            port_s * fibre.idle_w_per_port + share * self.switches * fibre.idle_w_per_switch,
            chain_s * thz.idle_w,
            share * self.further_w,
            racks * lasts_s * self.energy.racks.idle_w,
        )

    def watts(self, racks: int) -> float:
        """Static power of some racks while nothing is in use [W]."""
        return sum(self.static(racks, 1.0, 0.0, 0.0))


def _awake_s(whole_s: float, in_use_s: float, saved: float) -> float:
    """The time that counts in full: in use, and what sleep does not save of the rest [s]."""
    return whole_s - saved * (whole_s - in_use_s)
