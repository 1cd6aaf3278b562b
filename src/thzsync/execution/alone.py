"""One collective alone on one carrier: all on THz at full power, or all on an empty fibre."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np

from thzsync.arrays import NEVER_PS, FloatArray, IntArray, all_to_ps, to_ps
from thzsync.channel import ChannelModel
from thzsync.collectives import Demand
from thzsync.errors import ThzSyncError
from thzsync.execution.agenda import Agenda
from thzsync.execution.executor import Executor
from thzsync.optical import Fabric
from thzsync.scenario import Scenario, Thz
from thzsync.synthesis import Method, Setting
from thzsync.topology import Topology
from thzsync.transfers import Schedule, TransferGraph
from thzsync.transfers.check import check_schedule
from thzsync.transfers.ledger import Ledger
from thzsync.transfers.lowering import event_batch
from thzsync.wireless import Overlay, Round, Stuck

PATIENCE_S: Final = 0.2
"""Timeout of a blocked flow if the scenario's timeout is 0, since there is no fibre [s]."""


def run_collective(
    demand: Demand,
    racks: Sequence[int] | IntArray,
    method: Method,
    scenario: Scenario,
    topology: Topology,
    channel: ChannelModel,
    release_s: Sequence[float] | FloatArray,
) -> Schedule:
    """Carry out one event, all of it on THz; ``release_s`` [s] is each rack's delay."""
    members = np.array(racks, dtype=np.int64)
    _check_racks(members, topology)
    delay_s = np.array(release_s, dtype=np.float64)
    setting = Setting(partial(channel.gain_matrix, members, 0), delay_s, scenario.thz)
    offer = method.offer(demand, members, scenario.collectives.chunk_bytes, setting)
    release_ps = np.array([to_ps(s) for s in delay_s], dtype=np.int64)
    graph = offer.lower(offer.chunks)
    return run_graph(graph, scenario.thz, channel, topology.racks, release_ps, topology)


def run_on_fibre(
    demand: Demand,
    racks: IntArray,
    method: Method,
    chunk_bytes: int,
    fabric: Fabric,
    release_s: FloatArray | None = None,
) -> float:
    """Carry out one event, all of it on a fabric without other events; completion time [s]."""
    delay_s = np.zeros(len(racks)) if release_s is None else release_s
    setting = replace(Setting.flat(len(racks), Thz()), delay_s=delay_s)
    setting = setting.at(fabric.network, racks)
    offer = method.offer(demand, racks, chunk_bytes, setting)
    graph = offer.lower(np.zeros(offer.units, dtype=np.int64))
    fabric.submit(event_batch(graph, all_to_ps(delay_s), 0), 0)
    return fabric.advance(NEVER_PS).at_ps * 1e-12


def run_graph(
    graph: TransferGraph, thz: Thz, channel: ChannelModel, racks: int, release_ps: IntArray,
    topology: Topology | None = None,
) -> Schedule:  # fmt: skip
    """Carry out a graph that is wholly on THz; return the checked schedule."""
    if not graph.on_thz.all():
        raise ThzSyncError(f"{graph.kind} {graph.method!r}: some chunks have no THz flow")
    executor = _Alone(graph, thz, Overlay(thz, channel, racks, topology=topology))
    rounds = executor.run(release_ps, np.full(len(graph.racks), thz.max_power_w))
    schedule = _schedule(graph, release_ps, rounds)
    check_schedule(schedule, thz)
    return schedule


class _Alone(Executor):
    """An executor whose fibre is a bare ledger; a flow stuck beyond the timeout is an error."""

    def __init__(self, graph: TransferGraph, thz: Thz, overlay: Overlay) -> None:
        patience_s = thz.fallback_timeout_s or PATIENCE_S
        super().__init__(Ledger(), [overlay], Agenda(), to_ps(patience_s))
        self._graph, self._thz = graph, thz

    def run(self, release_ps: IntArray, budget_w: FloatArray) -> list[Round]:
        work = self.start(self._graph, release_ps, budget_w)
        while self.active:
            self.advance(self.agenda.next_ps)
            self.agenda.run_due(self.now_ps)
            self.advance(self.now_ps)
            self.dispatch()
        return work.rounds

    def give_up(self, carrier: int, stuck: Stuck) -> None:
        graph, thz, flow = self._graph, self._thz, stuck.flow
        waiting = len(self.carriers[carrier].waiting())
        raise ThzSyncError(
            f"rack {graph.src[flow]} -> rack {graph.dst[flow]}: blocked on every subband since "
            f"{stuck.since_ps * 1e-9:.3f} ms ({waiting} flows wait); a chunk of "
            f"{graph.chunk_bytes} bytes needs more than {thz.max_power_w} W to pass within "
            f"{thz.longest_round_s} s: raise thz.max_power_w or thz.longest_round_s, "
            "or use the fibre"
        )


def _schedule(graph: TransferGraph, release_ps: IntArray, rounds: list[Round]) -> Schedule:
    sizes = [len(r.flow) for r in rounds]

    def joined(name: str, kind: type) -> Any:
        parts = [getattr(r, name) for r in rounds]
        return np.concatenate(parts, dtype=kind) if parts else np.zeros(0, dtype=kind)

    def repeated(name: str) -> IntArray:
        return np.repeat(np.array([getattr(r, name) for r in rounds], dtype=np.int64), sizes)

    return Schedule(
        plan=graph,
        release_ps=release_ps,
        round=np.repeat(np.arange(len(rounds), dtype=np.int64), sizes),
        flow=joined("flow", np.int64),
        first_chunk=joined("first_chunk", np.int64),
        chunks=joined("chunks", np.int64),
        subband=joined("subband", np.int64),
        start_ps=repeated("start_ps"),
        end_ps=repeated("end_ps"),
        power_w=joined("power_w", np.float64),
        gain=joined("gain", np.float64),
        noise_w=joined("noise_w", np.float64),
        overhead_ps=repeated("overhead_ps"),
    )


def _check_racks(racks: IntArray, topology: Topology) -> None:
    if len(racks) == 0 or (np.diff(racks) <= 0).any():
        raise ThzSyncError("racks: name at least one rack, each once, in rising order")
    if racks[0] < 0 or racks[-1] >= topology.racks:
        raise ThzSyncError(f"racks: the floor has racks 0..{topology.racks - 1}")
