"""Bytes by sender and receiver in a training graph, on any carrier."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thzsync.arrays import FloatArray
from thzsync.collectives import find_collective
from thzsync.workload.graph import TrainingGraph


@dataclass
class Volume:
    """All events of one collective among the same racks."""

    kind: str
    racks: tuple[int, ...]
    events: int = 0
    payload_bytes: int = 0
    """Directed demand, or size of the tensors [bytes]."""
    buffer_bytes: float = 0.0
    """Sizes as nccl-tests counts them [bytes]."""
    bus_bytes: float = 0.0
    """Least bytes that the busiest rack sends or receives [bytes]."""

    @property
    def bus_factor(self) -> float | None:
        """Bus bandwidth divided by algorithm bandwidth; None if nothing is sent."""
        return self.bus_bytes / self.buffer_bytes if self.buffer_bytes else None


def volumes(graph: TrainingGraph) -> list[Volume]:
    """The volume of every group of racks by collective, in order of appearance."""
    found: dict[tuple[str, tuple[int, ...]], Volume] = {}
    for event in graph.events:
        racks = tuple(event.racks.tolist())
        volume = found.setdefault((event.kind, racks), Volume(event.kind, racks))
        buffer_bytes, bus_bytes = event.measured_bytes
        volume.events += 1
        volume.payload_bytes += event.payload_bytes
        volume.buffer_bytes += buffer_bytes
        volume.bus_bytes += bus_bytes
    return list(found.values())


def traffic_matrix(graph: TrainingGraph, racks: int) -> FloatArray:
    """Least bytes from every rack (row) to every other.

    If a collective leaves the route open, its bytes are spread over all pairs of its racks.
    """
    matrix = np.zeros((racks, racks))
    for event in graph.events:
        blocks = find_collective(event.kind).blocks(event.demand, event.racks)
        single = blocks.single
        src = blocks.source[blocks.source_start[single]]
        dst = blocks.target[blocks.target_start[single]]
        sizes = np.where(src != dst, blocks.size_bytes[single], 0)
        np.add.at(matrix, (src, dst), sizes)
        members = len(event.racks)
        if members > 1:
            spread = (blocks.volume_bytes - int(sizes.sum())) / (members * (members - 1))
            matrix[np.ix_(event.racks, event.racks)] += spread * (1 - np.eye(members))
    return matrix
