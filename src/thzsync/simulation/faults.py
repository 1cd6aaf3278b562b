"""Scheduled faults: what is switched off when, and what happens to chunks that wait for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from thzsync.arrays import BoolArray, IntArray, to_ps
from thzsync.scenario import (
    Fault,
    FibreDegraded,
    PairBlocked,
    SubbandJammed,
    TransceiverDown,
)
from thzsync.simulation.active import ActiveEvent
from thzsync.simulation.agenda import Priority

if TYPE_CHECKING:
    from thzsync.simulation.engine import Engine


class FaultTimeline:
    """Applies the scenario's faults to the fabrics when their time comes.

    A fault stops new transmissions; what is in the air or on the fibre runs out. Overlapping
    faults add up: the end of one does not lift another.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._dim: list[FibreDegraded] = []
        for fault in engine.world.scenario.faults:
            engine.agenda.add(to_ps(fault.start_s), Priority.FAULT, self._begin, fault)
            engine.agenda.add(to_ps(fault.end_s), Priority.FAULT, self._end, fault)

    def _begin(self, fault: Fault) -> None:
        if isinstance(fault, FibreDegraded):
            self._dim.append(fault)
            self._set_rates(fault)
            if fault.rate_share == 0:
                for active in list(self._engine.active.values()):
                    self.leave_dead_fibres(active)
        else:
            self._engine.world.overlay.disable(**_overlay_part(fault))

    def _end(self, fault: Fault) -> None:
        if isinstance(fault, FibreDegraded):
            self._dim.remove(fault)
            self._set_rates(fault)
        else:
            self._engine.world.overlay.enable(**_overlay_part(fault))

    def _set_rates(self, changed: FibreDegraded) -> None:
        engine = self._engine
        fabric = engine.world.fabric
        for link in self._links(changed).tolist():
            shares = [f.rate_share for f in self._dim if link in self._links(f)]
            rate = float(fabric.network.rate_bps[link]) * min(shares, default=1.0)
            fabric.set_rate(link, rate, engine.now_ps)

    def _links(self, fault: FibreDegraded) -> IntArray:
        topology = self._engine.world.topology
        if fault.rack is not None:
            return np.array([fault.rack, topology.racks + fault.rack])
        assert fault.rings is not None
        a, b = fault.rings
        return np.array([topology.inter_link(a, b), topology.inter_link(b, a)])

    def leave_dead_fibres(self, active: ActiveEvent) -> None:
        """Move an event's chunks whose fibre is down to THz, unless they must wait for it.

        Chunks of which a packet is under way stay: they arrive when the fibre is back.
        """
        world = self._engine.world
        dead = {link for f in self._dim if f.rate_share == 0 for link in self._links(f).tolist()}
        if not dead or not world.scenario.coordinator.wired_to_thz:
            return
        plan = active.plan
        stuck: BoolArray = np.array(
            [
                not dead.isdisjoint(world.topology.path(i, j))
                for i, j in zip(plan.src.tolist(), plan.dst.tolist(), strict=True)
            ],
            dtype=np.bool_,
        )
        places = np.flatnonzero(~active.on_thz & stuck[plan.chunk_flow])
        if len(places):
            self._engine.move_to_thz(active, places)


def _overlay_part(fault: Fault) -> dict[str, Any]:
    """The part of the overlay that a fault takes out of use; nothing for frozen compute."""
    match fault:
        case TransceiverDown():
            return {"rack": fault.rack}
        case SubbandJammed():
            return {"subband": fault.subband}
        case PairBlocked():
            return {"pair": fault.racks}
        case _:
            return {}
