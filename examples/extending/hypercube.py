"""A network of your own: a hypercube of switches, each with equally many racks.

A scenario says ``plugins = ["hypercube"]`` and, in ``[network]``, ``kind = "hypercube"``.
"""

from __future__ import annotations

from typing import Literal

from thzsync import Scenario, audit, simulate
from thzsync.errors import ThzSyncError
from thzsync.network import Fibres, Wires, network_of, oversubscription
from thzsync.scenario import SwitchedNetwork, register_network
from thzsync.scenario.base import Count


@register_network
class Hypercube(SwitchedNetwork):
    """2^dimensions switches; two are joined where their numbers differ in one bit.

    Paths mend one bit after the other, the lowest first. So queues cannot wait in a circle.
    """

    kind: Literal["hypercube"] = "hypercube"
    """Which network this is."""
    dimensions: Count = 2
    """Links of a switch to other switches."""

    def wires(self, racks: int, fibres: Fibres) -> Wires:
        corners = 2**self.dimensions
        if racks % corners:
            raise ThzSyncError(f"hypercube: {racks} racks; use a multiple of {corners}")
        wires = Wires(racks)
        switches = [wires.switch(f"corner {k:0{self.dimensions}b}") for k in range(corners)]
        for rack in range(racks):
            home = switches[rack * corners // racks]
            wires.join(rack, home, fibres.access_bps, fibres.access_ps)
        share = racks // corners / (self.dimensions * fibres.oversubscription)
        for corner in range(corners):
            for bit in range(self.dimensions):
                other = corner ^ 1 << bit
                if other > corner:
                    ends = switches[corner], switches[other]
                    rate_bps = share * fibres.access_bps
                    wires.join(*ends, rate_bps, fibres.switch_ps, dimension=bit)
        return wires


if __name__ == "__main__":
    changes = {
        "floor.kind": "grid", "floor.rows": 2, "floor.columns": 8,
        "network.kind": "hypercube", "network.dimensions": 3,
    }  # fmt: skip
    scenario = Scenario.preset("tiny").with_(changes)
    network = network_of(scenario)
    print(f"{network.switches} switches, {oversubscription(scenario):g}:1")
    print(" | ".join(network.link_name(link) for link in network.path(0, 15)))
    run = simulate(scenario, "all-wired", iterations=1, references={})
    print(f"audit: {audit(run).ok}")
