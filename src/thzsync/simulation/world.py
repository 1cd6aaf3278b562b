"""The world that every policy sees alike: floor, channel, fibres, transceivers, stragglers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.channel import ChannelModel
from thzsync.coordinator import Situation, Terms
from thzsync.elementary import log10
from thzsync.network import Network, network_of
from thzsync.optical import Background, Fabric, FlowFabric, OpticalFabric
from thzsync.scenario import ComputeFrozen, Scenario
from thzsync.scenario.fidelity import in_flows
from thzsync.simulation.stragglers import delays_ps
from thzsync.streams import Streams
from thzsync.synthesis import Method, Offer, Setting, find_method, method_names
from thzsync.topology import Topology
from thzsync.transfers import TransferGraph
from thzsync.transfers.coarsening import Cut, cut_of
from thzsync.wireless import Overlay
from thzsync.workload import Event


@dataclass(frozen=True)
class World:
    """All that a run builds from scenario and seed; nothing in it depends on the policy."""

    scenario: Scenario
    streams: Streams
    topology: Topology
    channel: ChannelModel
    fabric: Fabric
    overlay: Overlay

    @classmethod
    def build(cls, scenario: Scenario, seed: int) -> World:
        """A fresh world at time zero."""
        topology = Topology(scenario.floor)
        streams = Streams(seed)
        channel = ChannelModel.build(scenario.channel, scenario.thz, topology, streams)
        fabric = make_fabric(scenario, network_of(scenario), streams.key("background"))
        flows = in_flows(scenario)
        overlay = Overlay(scenario.thz, channel, topology.racks, lookahead=flows)
        return cls(scenario, streams, topology, channel, fabric, overlay)

    @property
    def cut(self) -> Cut | None:
        """Into how many nodes a flow's chunks are put together; None: every chunk is a node."""
        return cut_of(self.scenario)

    def delays_ps(self, event: Event, iteration: int, now_ps: int) -> IntArray:
        """How late each rack's own data is, delta^str, in the order of ``event.racks`` [ps]."""
        frozen = [f for f in self.scenario.faults if isinstance(f, ComputeFrozen)]
        return delays_ps(event, iteration, now_ps, self.scenario.stragglers, frozen, self.streams)

    def offer(self, event: Event, late_ps: IntArray, now_ps: int) -> Offer:
        """What can be split of an event that is being activated."""
        delay_s: FloatArray = late_ps * np.float64(1e-12)
        gains = partial(self.channel.gain_matrix, event.racks, now_ps)
        setting = Setting(gains, delay_s, self.scenario.thz)
        chunk_bytes = self.scenario.collectives.chunk_bytes
        method = method_of(self.scenario, event.kind)
        return method.offer(event.demand, event.racks, chunk_bytes, setting)

    def situation(
        self,
        decision: int,
        offer: Offer,
        late_ps: IntArray,
        now_ps: int,
        prices: tuple[float, float] = (0.0, 0.0),
    ) -> Situation:
        """What a policy may know at activation (eq:bandit_flow_context).

        ``prices`` are the rewards that a second and a joule cost.
        """
        thz, src, dst = self.scenario.thz, offer.link_src, offer.link_dst
        queued, shared = self.fabric.occupancy(src, dst)
        late = late_ps[np.searchsorted(offer.racks, src)] > 0
        # a dead link has minus infinitely many decibels
        gain_db = 10 * log10(self.channel.gains(src, dst, now_ps))
        snr_db = gain_db + thz.receive_gain_db - 10 * math.log10(thz.noise_w)
        if len(src) > offer.units:
            first = offer.link_start[:-1]
            late = np.logical_or.reduceat(late, first)
            queued, shared = np.maximum.reduceat(queued, first), np.maximum.reduceat(shared, first)
            snr_db = np.minimum.reduceat(snr_db, first, axis=0)
        levels: FloatArray = np.array(self.scenario.coordinator.power_levels)
        return Situation(
            decision,
            offer,
            self.topology.racks,
            late,
            queued.astype(np.float64),
            shared,
            snr_db,
            levels,
            Terms(self.scenario, self.fabric.network, *prices),
        )

    def optical_energy_j(self, graph: TransferGraph, wired_bytes: IntArray) -> float:
        """Energy of what every flow sent over fibre [J]."""
        return self.fabric.network.energy_j(graph.src, graph.dst, wired_bytes)


def method_of(scenario: Scenario, collective: str) -> Method:
    """The synthesis method that a scenario names for a collective, or the first that there is."""
    name = scenario.collectives.method(collective)
    if name is None:
        name = next(iter(method_names(collective)), "")
    return find_method(collective, name)


def make_fabric(scenario: Scenario, network: Network, key: int) -> Fabric:
    """The fibres in the fidelity that the scenario asks for."""
    background, optical = background_of(scenario), scenario.optical
    if in_flows(scenario):
        return FlowFabric(network, background, key, pieces=optical.trains_per_flow)
    return OpticalFabric(network, background, key)


def background_of(scenario: Scenario) -> Background | None:
    """The background traffic, if there is any."""
    background = scenario.optical.background
    if background.load == 0:
        return None
    return Background(load=background.load, burst_bytes=background.burst_bytes)
