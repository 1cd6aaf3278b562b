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
                self._look_again(fault)
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

    # -- chunks that wait for a dead fibre ------------------------------------------------------

    def _look_again(self, fault: FibreDegraded) -> None:
        if not self._engine.world.scenario.coordinator.wired_to_thz:
            return
        later = self._engine.now_ps + to_ps(self._engine.world.scenario.thz.fallback_timeout_s)
        if later < to_ps(fault.end_s):
            self._engine.agenda.add(later, Priority.FAULT, self._reroute, fault)

    def _reroute(self, fault: FibreDegraded) -> None:
        links = self._links(fault)
        for active in list(self._engine.active.values()):
            flows = self._flows_on(active, links)
            waiting = np.flatnonzero(~active.on_thz & flows[active.plan.chunk_flow])
            if len(waiting):
                self._engine.move_to_thz(active, waiting)
        self._look_again(fault)

    def _flows_on(self, active: ActiveEvent, links: IntArray) -> BoolArray:
        topology = self._engine.world.topology
        plan = active.plan
        return np.array(
            [
                bool(set(topology.path(int(i), int(j))) & set(links.tolist()))
                for i, j in zip(plan.src, plan.dst, strict=True)
            ]
        )


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
