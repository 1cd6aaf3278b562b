"""Rings: reduce-scatter and all-gather in N - 1 dependent stages each, AllReduce in both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thzsync.arrays import IntArray
from thzsync.collectives import Demand, Tensor, find_collective, split_bytes
from thzsync.synthesis.method import Setting
from thzsync.transfers import Flow, TransferGraph, graph_of


@dataclass(frozen=True)
class Ring:
    """Rack i sends to rack i + 1; in stage s it sends segment i - s (mod N).

    Racks are counted along the fibre, so that few neighbours are behind different switches.
    """

    duplex: bool = False
    """Whether a stage is one barrier, in which racks send and receive on different subbands.

    Otherwise the ring lives on one subband, where no rack can send and receive at once, so a
    stage has two sub-rounds: edges from even positions, then from odd ones (and, when N is odd,
    a third for the edge that closes the ring).
    """
    collective: str = "allreduce"

    def plan(
        self, demand: Demand, racks: IntArray, chunk_bytes: int, setting: Setting
    ) -> TransferGraph:
        """N segments, each passed on N - 1 times to be summed, to be spread, or 2(N - 1) times."""
        find_collective(self.collective).check(demand, f"{self.collective} demand", racks)
        assert isinstance(demand, Tensor)
        order = setting.along_fibre(racks)
        flows = ring_flows(order, demand.tensor_bytes, self.collective, self.duplex)
        return graph_of(self.collective, demand, racks, chunk_bytes, flows)


def ring_flows(
    racks: IntArray, tensor_bytes: int, collective: str = "allreduce", duplex: bool = True
) -> list[Flow]:
    """The flows of a ring: all stages of an AllReduce, or the half that one of its parts needs.

    ``racks`` are in the order of the ring.
    """
    n = len(racks)
    sums, spreads = collective != "all-gather", collective != "reduce-scatter"
    # Segment k of an AllReduce starts at position k and is complete at k - 1. A part by itself has
    # the segments that its racks own: numbered by where an AllReduce completes them.
    whole = sums and spreads
    shift = 0 if whole else 1
    block, sizes = [0] * n, split_bytes(tensor_bytes, max(n, 1)).tolist()
    if not whole:  # block k belongs to the rack with the k-th lowest number
        block = np.argsort(np.argsort(racks)).tolist()
        sizes = [sizes[k] for k in block]
    first_step, last_step = (0 if sums else n - 1), (2 * (n - 1) if spreads else n - 1)
    flows: list[Flow] = []
    previous: dict[int, int] = {}  # the flow that brought a segment to where it is now
    for step in range(first_step, last_step):
        for i in range(n):
            segment = (i - step - shift) % n
            if sizes[segment] == 0:
                continue
            after = (previous[segment],) if segment in previous else ()
            previous[segment] = len(flows)
            flows.append(
                Flow(
                    src=int(racks[i]),
                    dst=int(racks[(i + 1) % n]),
                    size_bytes=sizes[segment],
                    after=after,
                    # The owner of a finished segment adds its own part before passing it on.
                    local=step <= n - 1,
                    block=block[segment],
                    shard=segment,
                    reduces=step < n - 1,
                    stage=step if duplex else 3 * step + _subround(i, n),
                )
            )
    return flows


def _subround(position: int, racks: int) -> int:
    closes_odd_ring = racks % 2 == 1 and position == racks - 1
    return 2 if closes_odd_ring else position % 2
