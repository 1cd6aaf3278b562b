"""htsim: its command ``htsim_ndp`` on a fat tree of 16 hosts, with our flows as its connections.

Its trees have three tiers, so every packet takes six hops where ours takes three; both are counted
as what they are. Hops of acknowledgements and pulls are not counted.
"""

from __future__ import annotations

import os
import resource
import shutil
from pathlib import Path
from typing import Final

from benchmarks.peers.command import output_of
from thzsync.errors import ThzSyncError
from thzsync.transfers.batch import ChunkBatch

HOPS: Final = 6
HOSTS: Final = 16
RATE_MBPS: Final = 100_000
SLACK: Final = 4.0
"""Simulated time that is granted, in times of what the busiest host needs."""


def rate(batch: ChunkBatch, flow_bytes: int, packet_bytes: int, folder: Path) -> float:
    """Packet-hops per CPU-second on the flows of a batch."""
    command = os.environ.get("THZSYNC_HTSIM") or shutil.which("htsim_ndp")
    if command is None:
        raise ThzSyncError("not installed; name its htsim_ndp in THZSYNC_HTSIM")
    connections = folder / "flows.cm"
    connections.write_text(connection_matrix(batch, flow_bytes), encoding="ascii")
    flows = len(batch.src)
    needed_us = 8 * flow_bytes * flows / HOSTS / RATE_MBPS
    before = _children_s()
    output_of(
        [
            *(command, "-tm", str(connections), "-nodes", str(HOSTS), "-tiers", "3"),
            *("-mtu", str(packet_bytes), "-q", "16", "-cwnd", "16", "-strat", "ecmp_host"),
            *("-linkspeed", str(RATE_MBPS), "-end", str(round(SLACK * needed_us))),
            *("-o", str(folder / "log.dat")),
        ]
    )
    return HOPS * flows * (flow_bytes // packet_bytes) / max(_children_s() - before, 1e-9)


def connection_matrix(batch: ChunkBatch, flow_bytes: int) -> str:
    """Our flows in htsim's format, all of one size and from the start."""
    pairs = zip(batch.src.tolist(), batch.dst.tolist(), strict=True)
    lines = [f"{src}->{dst} start 0 size {flow_bytes}" for src, dst in pairs]
    return "\n".join([f"Nodes {HOSTS}", f"Connections {len(lines)}", *lines, ""])


def _children_s() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime
