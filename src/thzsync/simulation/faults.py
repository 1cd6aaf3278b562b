"""Scheduled faults: what is switched off when, and what happens to chunks that wait for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from thzsync.arrays import IntArray, to_ps
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
    faults are kept as a list, so that the end of one does not lift another.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._now: list[Fault] = []
        for fault in engine.world.scenario.faults:
            engine.agenda.add(to_ps(fault.start_s), Priority.FAULT, self._begin, fault)
            engine.agenda.add(to_ps(fault.end_s), Priority.FAULT, self._end, fault)

    def _begin(self, fault: Fault) -> None:
        self._now.append(fault)
        self._apply(fault)
        if isinstance(fault, FibreDegraded) and fault.rate_share == 0:
            self._look_again(fault)

    def _end(self, fault: Fault) -> None:
        self._now.remove(fault)
        self._apply(fault)

    def _apply(self, fault: Fault) -> None:
        if isinstance(fault, FibreDegraded):
            self._set_rates()
        elif isinstance(fault, TransceiverDown | SubbandJammed | PairBlocked):
            self._engine.world.overlay.set_faults(
                racks=[f.rack for f in self._now if isinstance(f, TransceiverDown)],
                subbands=[f.subband for f in self._now if isinstance(f, SubbandJammed)],
                pairs=[f.racks for f in self._now if isinstance(f, PairBlocked)],
            )

    def _set_rates(self) -> None:
        engine = self._engine
        fabric = engine.world.fabric
        share = np.ones(engine.world.topology.links)
        for fault in self._now:
            if isinstance(fault, FibreDegraded):
                links = self._links(fault)
                share[links] = np.minimum(share[links], fault.rate_share)
        faulty = {
            int(link)
            for fault in engine.world.scenario.faults
            if isinstance(fault, FibreDegraded)
            for link in self._links(fault)
        }
        for link in sorted(faulty):
            rate = float(fabric.network.rate_bps[link] * share[link])
            fabric.set_rate(link, rate, engine.now_ps)

    def _links(self, fault: FibreDegraded) -> IntArray:
        topology = self._engine.world.topology
        if fault.rack is not None:
            return np.array([fault.rack, topology.racks + fault.rack])
        assert fault.rings is not None
        a, b = fault.rings
        return np.array([topology.inter_link(a, b), topology.inter_link(b, a)])

    # -- chunks that wait for a dead fibre ----------------------------------------------------------

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

    def _flows_on(self, active: ActiveEvent, links: IntArray) -> IntArray:
        topology = self._engine.world.topology
        plan = active.plan
        return np.array(
            [
                bool(set(topology.path(int(i), int(j))) & set(links.tolist()))
                for i, j in zip(plan.src, plan.dst, strict=True)
            ]
        )
