"""Into which runs of chunks a flow is cut where carriers need not follow every chunk.

It has no kernels: estimates ask for runs, too, before anything is compiled or loaded.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from thzsync.arrays import IntArray
from thzsync.scenario import FibreDegraded, Scenario
from thzsync.scenario.fidelity import in_flows


def free_pieces(pieces: int) -> int:
    """Pieces per flow where no chunk waits for another: flows share links, and nothing else."""
    return max(8, pieces // 4)


class Cut(NamedTuple):
    """Into how many nodes the chunks of a flow are put together."""

    pieces: int
    """About so many nodes per flow, and at most four times as many."""
    run_bytes: int
    """No node has more bytes, unless that would make too many of them."""


def cut_of(scenario: Scenario) -> Cut | None:
    """How a scenario's flows are cut; None: every chunk is a node.

    Chunks that a broken fibre may hand to THz must be single.
    """
    broken = any(isinstance(fault, FibreDegraded) for fault in scenario.faults)
    if broken or not in_flows(scenario):
        return None
    optical = scenario.optical
    queue_bytes = min(optical.nic_queue_bytes, optical.output_queue_bytes)
    return Cut(optical.trains_per_flow, queue_bytes // 2)


@cache
def grid(chunks: int, pieces: int, most: int) -> IntArray:
    """The first chunk of every run of a flow: about ``pieces`` of them, or as many as chunks.

    A run has at most ``most`` chunks, unless four times ``pieces`` are not enough then.
    """
    if chunks <= pieces:
        return np.arange(chunks)
    longest = max(min(-(-2 * chunks // pieces), most), -(-chunks // (4 * pieces)))
    repeats = max(1, pieces // 16)
    rising = [1 << level for level in range(longest.bit_length()) if 1 << level < longest]
    ramp = np.repeat(np.array(rising, dtype=np.int64), repeats)
    ramp = ramp[np.cumsum(ramp) <= chunks // 2]
    middle = chunks - 2 * int(ramp.sum())
    even = np.diff(np.arange(-(-middle // longest) + 1) * middle // max(1, -(-middle // longest)))
    sizes = np.concatenate((ramp, even, ramp[::-1]))
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(sizes)[:-1]))
