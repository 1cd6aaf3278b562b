"""Scheduled faults: when they act, and where chunks go whose fibre is down."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from thzsync.arrays import BoolArray, to_ps
from thzsync.carriers import FIBRE, THZ
from thzsync.execution.agenda import Agenda, Priority
from thzsync.execution.executor import Executor, Work
from thzsync.network import Network
from thzsync.optical import Fabric
from thzsync.scenario import (
    Fault,
    FibreDegraded,
    PairBlocked,
    Scenario,
    SubbandJammed,
    TransceiverDown,
)
from thzsync.transfers import TransferGraph
from thzsync.wireless import Overlay


class FaultTimeline:
    """Applies the scenario's faults to fibre and THz.

    A fault prevents new transmissions; those that have begun run to their end. Faults may overlap:
    the end of one does not end another.
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
        network, now_ps = self._fabric.network, self._executor.now_ps
        cut = [fault for fault in self._dim if fault.rate_share == 0]
        self._dead = {link for fault in cut for link in network.degraded_links(fault).tolist()}
        for link, rate_bps in _link_rates(network, changed, self._dim):
            self._fabric.set_rate(link, rate_bps, now_ps)

    def leave_dead_fibres(self, work: Work) -> None:
        """Move an event's chunks whose fibre is down to THz, if the scenario allows that.

        Chunks of which a packet has left stay; they arrive when the fibre is back.
        """
        if not self._reroutes or not self._dead:
            return
        graph = work.graph
        stuck = self._crosses_dead(graph)
        wired = self._executor.carrier(work) == FIBRE
        rows = np.flatnonzero(wired & stuck[graph.chunk_flow])
        if len(rows):
            self._executor.move(work, rows, FIBRE, THZ)

    def _fibre_works(self, graph: TransferGraph, flow: int) -> bool:
        return not self._dead or not self._crosses_dead(graph)[flow]

    def _crosses_dead(self, graph: TransferGraph) -> BoolArray:
        """Flows with a dead link on their path; of a sprayed flow, on any of its paths."""
        network, dead = self._fabric.network, np.array(sorted(self._dead))
        if network.sprayed:
            link, flow, _ = network.shares(graph.src, graph.dst)
            hit: BoolArray = np.bincount(flow, np.isin(link, dead), len(graph.src)) > 0
            return hit
        path = network.walk(graph.src, graph.dst, np.arange(len(graph.src)))
        found: BoolArray = np.logical_or.reduce(np.isin(np.stack(path), dead))
        return found


def rate_changes(faults: Sequence[Fault], network: Network) -> list[tuple[int, int, float]]:
    """Instants at which faults change the rate of a link [ps], the link, and its rate [bit/s]."""
    degraded = [fault for fault in faults if isinstance(fault, FibreDegraded)]
    changes = []
    for fault in degraded:
        for at_ps in (to_ps(fault.start_s), to_ps(fault.end_s)):
            acting = [f for f in degraded if to_ps(f.start_s) <= at_ps < to_ps(f.end_s)]
            changes += [(at_ps, *rate) for rate in _link_rates(network, fault, acting)]
    return sorted(changes)


def _link_rates(
    network: Network, changed: FibreDegraded, acting: Sequence[FibreDegraded]
) -> list[tuple[int, float]]:
    """The links of a fault that begins or ends, and their rates under the acting faults [bit/s]."""
    links: list[int] = network.degraded_links(changed).tolist()
    return [(link, network.degraded_bps(link, acting)) for link in links]


def _overlay_part(fault: Fault) -> dict[str, Any]:
    """The part of the overlay that a fault disables; nothing for frozen compute."""
    match fault:
        case TransceiverDown():
            return {"rack": fault.rack}
        case SubbandJammed():
            return {"subband": fault.subband}
        case PairBlocked():
            return {"pair": fault.racks}
        case _:
            return {}
