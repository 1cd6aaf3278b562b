"""A network of your own: a hypercube of switches, each with equally many racks.

A scenario names the function: in ``[network]``, ``kind = "function"`` and
``function = "hypercube:hypercube"``.
"""

from __future__ import annotations

from thzsync import Scenario, audit, simulate
from thzsync.errors import ThzSyncError
from thzsync.network import Fibres, Wires, network_of, oversubscription


def hypercube(racks: int, fibres: Fibres, dimensions: int = 2) -> Wires:
    """2^dimensions switches; two are joined where their numbers differ in one bit.

    Paths mend one bit after the other, the lowest first. So queues cannot wait in a circle.
    """
    corners = 2**dimensions
    if racks % corners:
        raise ThzSyncError(f"hypercube: {racks} racks; use a multiple of {corners}")
    wires = Wires(racks)
    switches = [wires.switch(f"corner {k:0{dimensions}b}") for k in range(corners)]
    for rack in range(racks):
        home = switches[rack * corners // racks]
        wires.join(rack, home, fibres.access_bps, fibres.access_ps)
    rate_bps = racks // corners * fibres.access_bps / (dimensions * fibres.oversubscription)
    for corner in range(corners):
        for bit in range(dimensions):
            other = corner ^ 1 << bit
            if other > corner:
                ends = switches[corner], switches[other]
                wires.join(*ends, rate_bps, fibres.switch_ps, dimension=bit)
    return wires


if __name__ == "__main__":
    changes = {
        "floor.kind": "grid", "floor.rows": 2, "floor.columns": 8,
        "network.kind": "function", "network.function": f"{__name__}:hypercube",
        "network.arguments": {"dimensions": 3},
    }  # fmt: skip
    scenario = Scenario.preset("tiny").with_(changes)
    network = network_of(scenario)
    print(f"{network.switches} switches, {oversubscription(scenario):g}:1")
    print(" | ".join(network.link_name(link) for link in network.path(0, 15)))
    run = simulate(scenario, "all-wired", iterations=1, references={})
    print(f"audit: {audit(run).ok}")
