"""Scheduled faults: what is switched off when, and what happens to chunks that wait for it."""

from __future__ import annotations

from typing import Any

import numpy as np

from thzsync.arrays import BoolArray, to_ps
from thzsync.execution.agenda import Agenda, Priority
from thzsync.execution.executor import Executor, Work
from thzsync.optical import Fabric
from thzsync.scenario import (
    Fault,
    FibreDegraded,
    PairBlocked,
    Scenario,
    SubbandJammed,
    TransceiverDown,
)
from thzsync.wireless import Overlay


class FaultTimeline:
    """Applies the scenario's faults to the fabrics when their time comes.

    A fault stops new transmissions; what is in the air or on the fibre runs out. Overlapping
    faults add up: the end of one does not lift another.
    """

    def __init__(
        self,
        scenario: Scenario,
        agenda: Agenda,
        executor: Executor,
        fabric: Fabric,
        overlay: Overlay,
    ) -> None:
        self._executor, self._fabric, self._overlay = executor, fabric, overlay
        self._reroutes = scenario.coordinator.wired_to_thz
        self._dim: list[FibreDegraded] = []
        self._dead: set[int] = set()  # links at rate 0
        executor.fibre_works = self._fibre_works
        for fault in scenario.faults:
            start_ps, end_ps = to_ps(fault.start_s), to_ps(fault.end_s)
            agenda.add(start_ps, Priority.FAULT, self._begin, fault)
            agenda.add(end_ps, Priority.FAULT, self._end, fault)
            if _overlay_part(fault):
                overlay.expect((start_ps, end_ps))

    def _begin(self, fault: Fault) -> None:
        if isinstance(fault, FibreDegraded):
            self._dim.append(fault)
            self._set_rates(fault)
            if fault.rate_share == 0:
                for work in list(self._executor.active.values()):
                    self.leave_dead_fibres(work)
        else:
            self._overlay.disable(**_overlay_part(fault))

    def _end(self, fault: Fault) -> None:
        if isinstance(fault, FibreDegraded):
            self._dim.remove(fault)
            self._set_rates(fault)
        else:
            self._overlay.enable(**_overlay_part(fault))

    def _set_rates(self, changed: FibreDegraded) -> None:
        network = self._fabric.network
        cut = [fault for fault in self._dim if fault.rate_share == 0]
        self._dead = {link for fault in cut for link in network.degraded_links(fault).tolist()}
        for link in network.degraded_links(changed).tolist():
            rate_bps = network.degraded_bps(link, self._dim)
            self._fabric.set_rate(link, rate_bps, self._executor.now_ps)

    def leave_dead_fibres(self, work: Work) -> None:
        """Move an event's chunks whose fibre is down to THz, unless they must wait for it.

        Chunks of which a packet is under way stay: they arrive when the fibre is back.
        """
        if not self._reroutes or not self._dead:
            return
        graph = work.graph
        stuck: BoolArray = np.array(
            [
                not self._fibre_works(i, j)
                for i, j in zip(graph.src.tolist(), graph.dst.tolist(), strict=True)
            ],
            dtype=np.bool_,
        )
        rows = np.flatnonzero(~self._executor.on_air(work) & stuck[graph.chunk_flow])
        if len(rows):
            self._executor.move_to_air(work, rows)

    def _fibre_works(self, src: int, dst: int) -> bool:
        return not self._dead or self._dead.isdisjoint(self._fabric.network.path(src, dst))


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
