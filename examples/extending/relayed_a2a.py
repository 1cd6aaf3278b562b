"""An All-to-All in which half of every pair's bytes take a detour over a third rack."""

from __future__ import annotations

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.collectives import Demand, find_collective
from thzsync.synthesis import FlowMethod, Setting
from thzsync.transfers import Flow, TransferGraph, graph_of


def best_relay(gain: FloatArray, i: int, j: int) -> int:
    """The rack over which the weaker of the two hops is strongest."""
    weaker = np.minimum(gain[i], gain[:, j])
    weaker[[i, j]] = -1.0
    return int(np.argmax(weaker))


class OverAThirdRack:
    """Shard 2b of block b goes straight, shard 2b + 1 in two hops."""

    def plan(
        self, demand: Demand, racks: IntArray, chunk_bytes: int, setting: Setting
    ) -> TransferGraph:
        blocks = find_collective("a2a").blocks(demand, racks)
        gain = setting.gains.mean(axis=2)
        flows: list[Flow] = []
        for b, size in enumerate(blocks.size_bytes.tolist()):
            src, dst = int(blocks.source[b]), int(blocks.target[b])
            detour = size // 2 if len(racks) > 2 else 0
            flows.append(Flow(src, dst, size - detour, block=b, shard=2 * b, bundled=False))
            if detour:
                i, j = (int(np.searchsorted(racks, rack)) for rack in (src, dst))
                relay = int(racks[best_relay(gain, i, j)])
                hop = {"block": b, "shard": 2 * b + 1, "bundled": False}
                flows.append(Flow(src, relay, detour, **hop))
                last = (len(flows) - 1,)
                flows.append(Flow(relay, dst, detour, after=last, local=False, **hop))
        return graph_of("a2a", demand, racks, chunk_bytes, flows)


RELAYED = FlowMethod("a2a", "relayed", OverAThirdRack(), "matching", "half over a third rack")
