"""AllReduce on a ring: reduce-scatter and all-gather in 2(N-1) dependent stages."""

from __future__ import annotations

from dataclasses import dataclass

from thzsync.arrays import IntArray
from thzsync.collectives import Demand, Plan, split_bytes
from thzsync.synthesis.flows import Flow, as_reduction, reduction_plan
from thzsync.synthesis.method import Context


@dataclass(frozen=True)
class Ring:
    """Rack i sends to rack i + 1; in stage s it sends segment i - s (mod N)."""

    duplex: bool = False
    """Whether a stage is one barrier, in which racks send and receive on different subbands.

    Otherwise the ring lives on one subband, where no rack can send and receive at once, so a
    stage has two sub-rounds: edges from even positions, then from odd ones (and, when N is odd,
    a third for the edge that closes the ring).
    """

    def plan(self, demand: Demand, racks: IntArray, chunk_bytes: int, context: Context) -> Plan:
        """N segments, each passed on 2(N-1) times."""
        del context
        reduction = as_reduction(demand)
        n = len(racks)
        segments = split_bytes(reduction.tensor_bytes, max(n, 1)).tolist()
        flows: list[Flow] = []
        previous: dict[int, int] = {}  # the flow that brought a segment to where it is now
        for step in range(2 * (n - 1)):
            reducing = step < n - 1
            for i in range(n):
                segment = (i - step) % n
                if segments[segment] == 0:
                    continue
                after = (previous[segment],) if segment in previous else ()
                previous[segment] = len(flows)
                flows.append(
                    Flow(
                        src=int(racks[i]),
                        dst=int(racks[(i + 1) % n]),
                        size_bytes=segments[segment],
                        after=after,
                        # The owner of a finished segment adds its own part before passing it on.
                        local=step <= n - 1,
                        shard=segment,
                        reduces=reducing,
                        stage=step if self.duplex else 3 * step + _subround(i, n),
                    )
                )
        return reduction_plan(reduction, racks, chunk_bytes, flows)


def _subround(position: int, racks: int) -> int:
    closes_odd_ring = racks % 2 == 1 and position == racks - 1
    return 2 if closes_odd_ring else position % 2
