"""An AllReduce on trees without rounds: every chunk goes on as soon as it has arrived."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from thzsync.arrays import IntArray
from thzsync.collectives import Demand
from thzsync.synthesis import FlowMethod, Setting
from thzsync.synthesis.trees import Trees
from thzsync.transfers import TransferGraph


class UnbundledTrees:
    """The paper's trees; each chunk travels by itself."""

    def plan(
        self, demand: Demand, racks: IntArray, chunk_bytes: int, setting: Setting
    ) -> TransferGraph:
        trees = Trees().plan(demand, racks, chunk_bytes, setting)
        return replace(trees, bundled=np.zeros(trees.flows, dtype=np.bool_))


STREAMED = FlowMethod("allreduce", "unbundled", UnbundledTrees(), "streaming", "trees, no rounds")
