"""How much a scenario would take, worked out before anything of that size is allocated."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from thzsync.collectives import Tensor
from thzsync.network import Network, network_of
from thzsync.records.recorder import SEGMENT_ROWS
from thzsync.scenario import Floor, FloorKind, Job, NetworkFile, RingNetwork, Scenario
from thzsync.scenario.fidelity import in_flows
from thzsync.transfers.coarsening import Cut, cut_of, free_pieces, grid
from thzsync.workload import Event, TrainingGraph

# Measured on runs of a million chunks, a thousand racks and a thousand rings, rounded up.
_RACK_BYTES: Final = 1000
_LINK_BYTES: Final = 1000
_BURST_BYTES: Final = 40
_GAIN_BYTES: Final = 50
_NODE_BYTES: Final = 2000
_FLOW_BYTES: Final = 1000
_CHUNK_BYTES: Final = 500
_ENDED_NODE_BYTES: Final = 20
_RECORDED_CHUNK_BYTES: Final = 33
_RECORDED_FLOW_BYTES: Final = 230
_LEARNT_FLOW_BYTES: Final = 700
"""Of what a learner decides about: situations that it remembers, and rounds of its choice."""
_TABLES_BYTES: Final = 9e7
"""What makes and writes tables takes this, and more for large ones."""
_TABLE_ROW_BYTES: Final = 35
_MOST_TABLE_ROWS: Final = 1 << 22
_SUMMARY_BYTES: Final = 3000
"""Of an event's row before it is part of a frame, which takes some hundred."""


def floor_bytes(scenario: Scenario) -> int:
    """Memory of the fibre network and the channel, before any traffic [bytes]."""
    floor, channel = scenario.floor, scenario.channel
    links = link_count(scenario)
    followed = scenario.optical.background.load and not in_flows(scenario)
    bursts = min(links * 1024, 1 << 24) if followed else 0
    turned = isinstance(floor, Floor) and not channel.path_loss.by_position
    alike = floor.lanes if turned else 1
    bands = 1 if channel.absorption == "none" else scenario.thz.subbands
    # By (row, row, distance in lanes, band).
    gains = (1 + 8 * bands) * (floor.racks // alike) ** 2 * alike
    if channel.gains_file is not None:
        gains = floor.racks**2 * scenario.thz.subbands * _GAIN_BYTES
    if scenario.thz.interference == "beams":
        gains += floor.racks**2 * 8 * (1 + scenario.thz.subbands)  # bearings, and mean gains
    racks = floor.racks * (_RACK_BYTES + 50 * scenario.thz.subbands)
    return racks + links * _LINK_BYTES + bursts * _BURST_BYTES + gains


def graph_bytes(job: Job, floor: FloorKind) -> int:
    """Memory of a job's training graph; of a trace, only the file knows [bytes]."""
    stages = floor.groups - job.first_ring if job.rings is None else job.rings
    lanes = floor.lanes - job.first_lane if job.lanes is None else job.lanes
    if job.stages is not None:
        stages, lanes = len(job.stages), len(job.stages[0])
    if job.training is None and job.model is None:
        return stages * lanes * _RACK_BYTES
    if job.training is not None:
        exchanges = 4 * job.training.moe_layers_per_stage if job.training.moe_stages else 0
        microbatches, buckets = job.training.microbatches, job.training.allreduce_buckets
    else:
        assert job.model is not None
        exchanges, microbatches, buckets = 8, job.model.microbatches, 0
    passes = stages * (microbatches * (4 + 2 * exchanges) + 2 * buckets)
    pairs = stages * lanes * (lanes if exchanges else 1)
    return passes * (_NODE_BYTES + 8 * lanes) + pairs * _FLOW_BYTES


@dataclass(frozen=True)
class Load:
    """What the events of an iteration are cut into."""

    events: int
    flows: int
    largest_chunks: float
    """Chunks of the largest event."""
    all_chunks: float
    nodes: float
    """What fibres follow: chunks or, in flow fidelity, runs of them."""
    packet_hops: float
    """Packets times links, if fibre carries everything."""
    widest: int
    """Racks of the widest event."""
    links: int
    """THz links whose gains one event looks at: all pairs where a tree may be grown."""
    subbands: int

    @property
    def memory_bytes(self) -> float:
        """Memory that planning, carrying and recording them takes [bytes]."""
        return self.carried_bytes + self.record_bytes(1, whole=True, learns=False)

    @property
    def carried_bytes(self) -> float:
        """Memory that planning and carrying them takes [bytes]."""
        gains = self.links * self.subbands * _GAIN_BYTES
        return gains + self.largest_chunks * _CHUNK_BYTES + self.nodes * _ENDED_NODE_BYTES

    def record_bytes(self, iterations: int, whole: bool, learns: bool) -> float:
        """Memory of the record of some iterations, the ``whole`` or just its events [bytes]."""
        record = min(iterations * self.events, SEGMENT_ROWS) * _SUMMARY_BYTES
        if learns:
            record += iterations * self.flows * _LEARNT_FLOW_BYTES
        if not whole:
            return record
        written = min(self.all_chunks, _MOST_TABLE_ROWS) * _TABLE_ROW_BYTES
        rows = self.all_chunks * _RECORDED_CHUNK_BYTES + self.flows * _RECORDED_FLOW_BYTES
        return record + _TABLES_BYTES + written + iterations * rows


def load_of(graphs: Iterable[TrainingGraph], scenario: Scenario) -> Load:
    """The load of one iteration; reductions count both ways of their trees."""
    events = [event for graph in graphs for event in graph.events]
    sizes = [_carried_bytes(event) for event in events]
    chunks = [
        size / scenario.collectives.chunk_bytes + _flows(event)
        for size, event in zip(sizes, events, strict=True)
    ]
    cut = cut_of(scenario)
    chunk_bytes = scenario.collectives.chunk_bytes
    return Load(
        events=len(events),
        flows=sum(map(_flows, events)),
        largest_chunks=max(chunks, default=0.0),
        all_chunks=sum(chunks),
        nodes=sum(chunks if cut is None else (_nodes(e, cut, chunk_bytes) for e in events)),
        packet_hops=3 * sum(sizes) / scenario.optical.packet_bytes,
        widest=max((len(event.racks) for event in events), default=0),
        links=max(map(_links, events), default=0),
        subbands=scenario.thz.subbands,
    )


def collective_load(scenario: Scenario, racks: int, size_bytes: int) -> Load:
    """The load of one collective alone: at most, every rack sends its size twice."""
    carried = 2.0 * racks * size_bytes
    chunks = carried / scenario.collectives.chunk_bytes + racks**2
    hops = 3 * carried / scenario.optical.packet_bytes
    flows, subbands = racks**2, scenario.thz.subbands
    return Load(1, flows, chunks, chunks, chunks, hops, racks, racks**2, subbands)


def _carried_bytes(event: Event) -> float:
    if isinstance(event.demand, Tensor):
        return 2.0 * (len(event.racks) - 1) * event.demand.tensor_bytes
    return float(event.demand.size_bytes.sum(dtype=float))  # integers could wrap


def _flows(event: Event) -> int:
    if isinstance(event.demand, Tensor):
        return 2 * len(event.racks)
    return len(event.demand.src)


def _nodes(event: Event, cut: Cut, chunk_bytes: int) -> float:
    """Runs of chunks in all flows of an event."""
    most = max(1, cut.run_bytes // chunk_bytes)
    if isinstance(event.demand, Tensor):
        chunks = -(-event.demand.tensor_bytes // chunk_bytes)
        return float(_flows(event) * len(grid(chunks, cut.pieces, most)))
    sizes, flows = np.unique(-(-event.demand.size_bytes // chunk_bytes), return_counts=True)
    runs = [len(grid(size, free_pieces(cut.pieces), most)) for size in sizes.tolist()]
    return float(flows @ runs)


def link_count(scenario: Scenario) -> int:
    """Number of directed fibres."""
    floor = scenario.floor
    network = _network(scenario)
    return 2 * floor.racks + floor.groups**2 if network is None else network.links


def _network(scenario: Scenario) -> Network | None:
    """None for rings, which need not be built to be counted, or where there is no such file."""
    given = scenario.network
    if isinstance(given, RingNetwork):
        return None
    if isinstance(given, NetworkFile) and not Path(given.file).is_file():
        return None
    return network_of(scenario)


def _links(event: Event) -> int:
    if isinstance(event.demand, Tensor):
        return len(event.racks) ** 2
    return len(event.demand.src)


def bursts_per_s(scenario: Scenario) -> float:
    """Packets or bursts of background traffic per simulated second, on all fibres [1/s]."""
    optical, floor = scenario.optical, scenario.floor
    network = _network(scenario)
    if network is None:
        between = floor.groups * (floor.groups - 1)
        rate_bps = floor.racks * optical.access_bps + between * optical.inter_bps
    else:
        rate_bps = float(network.rate_bps[network.outputs].sum())
    size_bytes = min(optical.background.burst_bytes, optical.packet_bytes)
    return optical.background.load * rate_bps / (8 * size_bytes)
