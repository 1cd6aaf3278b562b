"""Hamiltonian paths of strong links, on which an AllReduce goes chunk by chunk.

Chunks are summed from both ends of the path towards the root and sent back: every link carries
the tensor once in each direction, and a chunk goes on as soon as it has arrived. The root is
whoever is late most: everything that is ready is summed before its data is there.
"""

from __future__ import annotations

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.elementary import log2
from thzsync.synthesis.method import Setting
from thzsync.transfers import Flow

SHARPNESS = 8.0
"""Exponent that makes a path's cost follow its slowest link."""


def path_and_root(setting: Setting) -> tuple[IntArray, int]:
    """Positions of the racks along the path, and the root's place in it."""
    from thzsync.synthesis.routes import strongest_route  # compiled: not for who only asks names

    order = strongest_route(route_cost(link_rates(setting)), False)
    late = setting.delay_s[order]
    root = int(np.argmax(late)) if late.any() else len(order) // 2
    return order, root


def link_rates(setting: Setting) -> FloatArray:
    """Bits per second and hertz between racks, the slower way, on half a rack's power."""
    from thzsync.channel import link_budget_per_w

    snr = setting.gains * (link_budget_per_w(setting.thz) * setting.thz.max_power_w / 2)
    rates: FloatArray = log2(1 + np.minimum(snr, snr.transpose(1, 0, 2))).mean(axis=2)
    return rates


def route_cost(rate: FloatArray) -> FloatArray:
    """What a link costs a route, so that the cheapest route is the one of the fastest links."""
    cost: FloatArray = (1 / np.maximum(rate, 1e-9)) ** SHARPNESS
    relative: FloatArray = cost / cost.max(initial=1e-300)
    return relative


def path_flows(
    racks: IntArray, root: int, size: int, shard: int = 0, first: int = 0, thz: bool = False
) -> list[Flow]:
    """Flows ``first``, ... along racks in the order of the path; up and down of a link in turn."""
    n = len(racks)
    number = {}
    for k in range(n - 1):  # link k joins places k and k + 1
        number["up", k] = first + 2 * k
        number["down", k] = first + 2 * k + 1
    flows = []
    for k in range(n - 1):
        far, near = (k, k + 1) if k < root else (k + 1, k)
        beyond = k - 1 if k < root else k + 1
        before = (number["up", beyond],) if ("up", beyond) in number and far != root else ()
        flows.append(_flow(racks, far, near, size, before, True, shard, True, thz))
        towards = k + 1 if k < root else k - 1
        if near == root:
            sums = [j for j in (root - 1, root) if ("up", j) in number]
            after = tuple(number["up", j] for j in sums)
        else:
            after = (number["down", towards],)
        flows.append(_flow(racks, near, far, size, after, near == root, shard, False, thz))
    return flows


def _flow(
    racks: IntArray, src: int, dst: int, size: int, after: tuple[int, ...], local: bool, shard: int,
    reduces: bool, thz: bool,
) -> Flow:  # fmt: skip
    return Flow(
        int(racks[src]), int(racks[dst]), size, after=after, local=local, shard=shard,
        reduces=reduces, bundled=False, thz=thz, discipline="pipeline",
    )  # fmt: skip
