"""The environment, the same for every policy: floor, channel, fibres, carriers, stragglers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np

from thzsync.arrays import FloatArray, IntArray, all_to_ps, to_ps
from thzsync.carriers import THZ
from thzsync.channel import ChannelModel
from thzsync.coordinator import Situation, Terms
from thzsync.elementary import log10
from thzsync.execution.carrier import Carrier, find_carrier
from thzsync.network import Network, network_of
from thzsync.optical import Background, Fabric, FlowFabric, OpticalFabric
from thzsync.scenario import ComputeFrozen, Job, Scenario, Stragglers
from thzsync.scenario.fidelity import in_flows
from thzsync.streams import Streams, name_key
from thzsync.synthesis import Offer, Setting, method_of
from thzsync.topology import Topology
from thzsync.transfers import TransferGraph
from thzsync.wireless import Overlay
from thzsync.workload import Event

DEFAULT_JOB: Final = str(Job.model_fields["name"].default)
"""A job with the default name draws without a name. Presets and older recorded numbers depend on
this: naming these draws would change every result."""


@dataclass(frozen=True)
class World:
    """Everything that a run builds from scenario and seed, independent of the policy."""

    scenario: Scenario
    streams: Streams
    topology: Topology
    channel: ChannelModel
    fabric: Fabric
    carriers: tuple[Carrier, ...]
    """Those beside fibre, in the scenario's order."""

    @property
    def overlay(self) -> Overlay:
        """THz, the first carrier beside fibre."""
        thz = self.carriers[0]
        assert isinstance(thz, Overlay)
        return thz

    @classmethod
    def build(cls, scenario: Scenario, seed: int) -> World:
        """A new world at time zero."""
        topology = Topology(scenario.floor)
        streams = Streams(seed)
        channel = ChannelModel.build(scenario.channel, scenario.thz, topology, streams)
        network = network_of(scenario, streams.key("paths"))
        fabric = make_fabric(scenario, network, streams.key("background"))
        kinds = map(find_carrier, scenario.carriers)
        carriers = tuple(kind.build(scenario, channel) for kind in kinds)
        return cls(scenario, streams, topology, channel, fabric, carriers)

    def event_delays_ps(self, event: Event, iteration: int, now_ps: int) -> IntArray:
        """Delay of each rack's own data, delta^str, in the order of ``event.racks`` [ps]."""
        frozen = [f for f in self.scenario.faults if isinstance(f, ComputeFrozen)]
        return delays_ps(event, iteration, now_ps, self.scenario.stragglers, frozen, self.streams)

    def offer(self, event: Event, delay_ps: IntArray, now_ps: int) -> Offer:
        """What can be split of an event that is being activated."""
        delay_s: FloatArray = delay_ps * np.float64(1e-12)
        gains = partial(self.channel.gain_matrix, event.racks, now_ps)
        setting = Setting(gains, delay_s, self.scenario.thz).at(self.fabric.network, event.racks)
        chunk_bytes = self.scenario.collectives.chunk_bytes
        method = method_of(self.scenario, event.kind)
        offer = method.offer(event.demand, event.racks, chunk_bytes, setting)
        if len(self.carriers) == 1:
            return offer
        # what a method does with THz may have another structure; a further carrier takes flows
        columns = [carrier.carries(offer.kind, offer.src, offer.dst) for carrier in self.carriers]
        usable = np.stack(columns, axis=1)
        usable[:, THZ:] &= offer.per_unit
        return replace(offer, usable=usable)

    def situation(
        self,
        decision: int,
        offer: Offer,
        delay_ps: IntArray,
        now_ps: int,
        prices: tuple[float, float] = (0.0, 0.0),
    ) -> Situation:
        """What a policy may know at activation (eq:bandit_flow_context).

        ``prices`` are the rewards lost per second and per joule.
        """
        thz, src, dst = self.scenario.thz, offer.link_src, offer.link_dst
        queued, shared = self.fabric.occupancy(src, dst)
        straggler = delay_ps[np.searchsorted(offer.racks, src)] > 0
        # a dead link has minus infinitely many decibels
        gain_db = 10 * log10(self.channel.gains(src, dst, now_ps))
        snr_db = gain_db + thz.receive_gain_db - 10 * math.log10(thz.noise_w)
        if len(src) > offer.units:
            first = offer.link_start[:-1]
            straggler = np.logical_or.reduceat(straggler, first)
            queued, shared = np.maximum.reduceat(queued, first), np.maximum.reduceat(shared, first)
            snr_db = np.minimum.reduceat(snr_db, first, axis=0)
        levels: FloatArray = np.array(self.scenario.coordinator.power_levels)
        return Situation(
            decision,
            offer,
            self.topology.racks,
            straggler,
            queued.astype(np.float64),
            shared,
            snr_db,
            levels,
            Terms(self.scenario, self.fabric.network, *prices),
        )

    def optical_energy_j(self, graph: TransferGraph, wired_bytes: IntArray) -> float:
        """Energy of what every flow sent over fibre [J]."""
        return self.fabric.network.energy_j(graph.src, graph.dst, wired_bytes)


def make_fabric(scenario: Scenario, network: Network, key: int) -> Fabric:
    """The fibres in the scenario's fidelity."""
    background, optical = background_of(scenario), scenario.optical
    if in_flows(scenario):
        return FlowFabric(network, background, key, pieces=optical.trains_per_flow)
    return OpticalFabric(network, background, key)


def background_of(scenario: Scenario) -> Background | None:
    """The background traffic, if any."""
    background = scenario.optical.background
    if background.load == 0:
        return None
    return Background(load=background.load, burst_bytes=background.burst_bytes)


def delays_ps(
    event: Event,
    iteration: int,
    now_ps: int,
    model: Stragglers,
    frozen: Sequence[ComputeFrozen],
    streams: Streams,
) -> IntArray:
    """Delay of each rack's own data, by ``event.racks`` (eq:release_constraint) [ps]."""
    racks = event.racks
    path = (iteration, event.id, *job_path(event.job))
    draw = streams.generator("stragglers", *path).random((2, len(racks)))
    span = model.max_delay_s - model.min_delay_s
    straggles = draw[0] < model.probability
    delay_s = np.where(straggles, model.min_delay_s + span * draw[1], 0.0)
    for slow in model.slow_racks:
        delay_s[racks == slow.rack] += slow.delay_s
    delay_ps = all_to_ps(delay_s)
    for fault in sorted(frozen, key=lambda f: f.start_s):  # one window may lead into the next
        # Data that would be ready inside the window is ready when the rack resumes.
        inside = (racks == fault.rack) & (to_ps(fault.start_s) <= now_ps + delay_ps)
        resumes_ps = to_ps(fault.end_s) - now_ps
        delay_ps = np.where(inside, np.maximum(delay_ps, resumes_ps), delay_ps)
    return delay_ps


def job_path(name: str) -> tuple[int, ...]:
    """A job's part of the path of its draws: its name, whatever other jobs there are."""
    return () if name == DEFAULT_JOB else (name_key(name),)
