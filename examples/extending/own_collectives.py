"""An all-gather and a reduce-scatter from outside the package, each with a ring method."""

from __future__ import annotations

from dataclasses import dataclass

from thzsync.arrays import IntArray
from thzsync.collectives import Blocks, Collective, Demand, Tensor, register_collective, split_bytes
from thzsync.synthesis import FlowMethod, Setting, register_method
from thzsync.transfers import Flow, TransferGraph, graph_of


def parts(demand: Demand, racks: IntArray) -> list[int]:
    """Bytes of every rack's part of the tensor."""
    assert isinstance(demand, Tensor)
    return [int(size) for size in split_bytes(demand.tensor_bytes, len(racks))]


def gathered(demand: Demand, racks: IntArray) -> Blocks:
    """Rack i holds part i before; everybody holds it afterwards."""
    return Blocks.of((s, [r], racks) for s, r in zip(parts(demand, racks), racks, strict=True))


def scattered(demand: Demand, racks: IntArray) -> Blocks:
    """Everybody has a share in part i before; rack i holds the sum afterwards."""
    return Blocks.of((s, racks, [r]) for s, r in zip(parts(demand, racks), racks, strict=True))


@dataclass(frozen=True)
class AroundTheRing:
    """Part k walks n - 1 steps round the ring, away from its rack or towards it."""

    collective: str
    reduces: bool

    def plan(
        self, demand: Demand, racks: IntArray, chunk_bytes: int, setting: Setting
    ) -> TransferGraph:
        n, flows = len(racks), []
        for k, size in enumerate(parts(demand, racks)):
            for step in range(n - 1 if size else 0):
                i = (k + step + self.reduces) % n
                after = (len(flows) - 1,) if step else ()
                own = self.reduces or step == 0
                src, dst = int(racks[i]), int(racks[(i + 1) % n])
                flows.append(Flow(src, dst, size, after, own, k, k, self.reduces, stage=step))
        return graph_of(self.collective, demand, racks, chunk_bytes, flows)


for name, meaning in (("gather-all", gathered), ("scatter-sum", scattered)):
    register_collective(Collective(name, name.capitalize(), Tensor, meaning))
    ring = AroundTheRing(name, reduces=name == "scatter-sum")
    register_method(FlowMethod(name, "around", ring, "assignment", "n - 1 steps round a ring"))
