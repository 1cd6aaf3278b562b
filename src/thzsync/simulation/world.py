"""The world that every policy sees alike: floor, channel, fibres, transceivers, stragglers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thzsync.arrays import FloatArray, IntArray, all_to_ps, to_ps
from thzsync.channel import ChannelModel
from thzsync.collectives import Plan
from thzsync.coordinator import Context
from thzsync.optical import Background, Network, OpticalFabric, energy_j
from thzsync.scenario import ComputeFrozen, Scenario
from thzsync.streams import Streams
from thzsync.synthesis import Context as Situation
from thzsync.synthesis import Method, find_method
from thzsync.topology import Topology
from thzsync.wireless import Overlay
from thzsync.workload import Event


@dataclass(frozen=True)
class World:
    """All that a run builds from scenario and seed; nothing in it depends on the policy."""

    scenario: Scenario
    streams: Streams
    topology: Topology
    channel: ChannelModel
    fabric: OpticalFabric
    overlay: Overlay

    @classmethod
    def build(cls, scenario: Scenario, seed: int) -> World:
        """A fresh world at time zero."""
        topology = Topology(scenario.floor)
        streams = Streams(seed)
        channel = ChannelModel.build(scenario.channel, scenario.thz, topology, streams)
        fabric = OpticalFabric(
            _network(scenario, topology), _background(scenario), streams.key("background")
        )
        overlay = Overlay(scenario.thz, channel, topology.racks)
        return cls(scenario, streams, topology, channel, fabric, overlay)

    def method(self, event: Event) -> Method:
        """The synthesis method that the scenario names for this kind of event."""
        return find_method(event.kind, getattr(self.scenario.collectives, event.kind.value))

    def delays_ps(self, event: Event, iteration: int, now_ps: int) -> IntArray:
        """How late each rack's own data is, delta^str, in the order of ``event.racks`` [ps]."""
        model = self.scenario.stragglers
        racks = event.racks
        draw = self.streams.generator("stragglers", iteration, event.id).random((2, len(racks)))
        span = model.max_delay_s - model.min_delay_s
        late = draw[0] < model.probability
        delay_s = np.where(late, model.min_delay_s + span * draw[1], 0.0)
        for slow in model.slow_racks:
            delay_s[racks == slow.rack] += slow.delay_s
        delay_ps = all_to_ps(delay_s)
        frozen = [f for f in self.scenario.faults if isinstance(f, ComputeFrozen)]
        for fault in sorted(frozen, key=lambda f: f.start_s):  # one window may lead into the next
            # Data that would appear inside the window appears when the rack thaws.
            inside = (racks == fault.rack) & (to_ps(fault.start_s) <= now_ps + delay_ps)
            thaw_ps = to_ps(fault.end_s) - now_ps
            delay_ps = np.where(inside, np.maximum(delay_ps, thaw_ps), delay_ps)
        return delay_ps

    def synthesize(self, event: Event, delays_ps: IntArray, now_ps: int) -> Plan:
        """Flows and precedence of an event that is being activated."""
        delay_s: FloatArray = delays_ps * np.float64(1e-12)
        gains = self.channel.gain_matrix(event.racks, now_ps)
        situation = Situation(gains, delay_s, self.scenario.thz)
        return self.method(event).plan(
            event.demand, event.racks, self.scenario.collectives.chunk_bytes, situation
        )

    def context(self, plan: Plan, delays_ps: IntArray, now_ps: int) -> Context:
        """What a policy may know at activation (eq:bandit_flow_context)."""
        thz = self.scenario.thz
        queued, shared = self.fabric.occupancy(plan.src, plan.dst)
        late = delays_ps[np.searchsorted(plan.racks, plan.src)] > 0
        gain = self.channel.gains(plan.src, plan.dst, now_ps)
        with np.errstate(divide="ignore"):  # a link that a gains file calls dead has -inf dB
            gain_db = 10 * np.log10(gain)
        snr_db = gain_db + thz.receive_gain_db - 10 * np.log10(thz.noise_w)
        levels: FloatArray = np.array(self.scenario.coordinator.power_levels)
        return Context(
            plan, self.topology.racks, late, queued.astype(np.float64), shared, snr_db, levels
        )

    def optical_energy_j(self, plan: Plan, wired: IntArray) -> float:
        """Energy of chunks on fibre, given by their places in the row of all chunks [J]."""
        flow = plan.chunk_flow[wired]
        return energy_j(
            self.fabric.network,
            plan.src[flow],
            plan.dst[flow],
            plan.chunk_sizes[wired],
            self.scenario.optical.energy_j_per_bit_hop,
        )


def _network(scenario: Scenario, topology: Topology) -> Network:
    optical = scenario.optical
    return Network.build(
        ring_of_rack=topology.ring_of_rack,
        access_bps=optical.access_bps,
        inter_bps=optical.inter_bps,
        switch_delay_ps=to_ps(optical.switch_delay_s),
        packet_bytes=optical.packet_bytes,
        nic_queue_bytes=optical.nic_queue_bytes,
        output_queue_bytes=optical.output_queue_bytes,
        shared_buffer_bytes=optical.shared_buffer_bytes,
        rack_reserve=optical.rack_reserve,
    )


def _background(scenario: Scenario) -> Background | None:
    background = scenario.optical.background
    if background.load == 0:
        return None
    return Background(load=background.load, burst_bytes=background.burst_bytes)
