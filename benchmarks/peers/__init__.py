"""The same workload in the simulators that a user might pick instead, in one run.

SimPy comes with the extra ``test``. ns-3 and htsim are used where they are installed: ns-3 as a
prefix with its headers and libraries (``THZSYNC_NS3``, or an installed Python package ``ns3``, or
the system's), for which a small program is compiled; htsim by its command ``htsim_ndp``.
"""

from __future__ import annotations

import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from benchmarks.optical import kernel_rate, simpy_rate, sixteen_hosts
from benchmarks.peers import htsim, ns3
from thzsync.errors import ThzSyncError

FLOW_BYTES: Final = 8 * 1024 * 1024
PEER_FLOW_BYTES: Final = 1024 * 1024
"""Slower ones send less: their rates do not depend on it."""
SIMPY_FLOW_BYTES: Final = 64 * 1024


def measure() -> dict[str, Any]:
    """Packet-hops per CPU-second of every simulator that is here, and why others are not."""
    network, batch = sixteen_hosts(FLOW_BYTES)
    ours, _ = kernel_rate(network, batch)
    found: dict[str, Any] = {"thzsync": {"packet_hops_per_s": ours}}
    packets = PEER_FLOW_BYTES // network.packet_bytes
    for name, rate in (
        ("simpy", _simpy),
        ("ns-3", lambda folder: ns3.rate(packets, folder)),
        ("htsim", lambda folder: htsim.rate(batch, PEER_FLOW_BYTES, network.packet_bytes, folder)),
    ):
        with tempfile.TemporaryDirectory() as folder:
            try:
                theirs = rate(Path(folder))
            except ThzSyncError as error:
                found[name] = {"absent": str(error)}
            else:
                found[name] = {"packet_hops_per_s": theirs, "we_are_faster": ours / theirs}
    return found


def _simpy(_: Path) -> float:
    if find_spec("simpy") is None:
        raise ThzSyncError("not installed; pip install simpy")
    return simpy_rate(*sixteen_hosts(SIMPY_FLOW_BYTES))
