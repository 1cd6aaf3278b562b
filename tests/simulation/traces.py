"""Scenarios whose training graph is written down node by node, on a floor without chance."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from thzsync.collectives import Demand
from thzsync.scenario import Scenario
from thzsync.scenario.files import build_scenario
from thzsync.workload import Compute, Event, Node, Phase, TrainingGraph
from thzsync.workload.tracefile import Trace, write_trace

FLOOR = {"rings": 2, "slots_per_ring": 4}
RACKS = 8


def task(
    number: int,
    duration_s: float,
    after: Sequence[int] = (),
    racks: Sequence[int] = (0,),
    rank: int | None = None,
) -> Compute:
    return Compute(
        id=number, job="train", stage=0, phase=Phase.FORWARD, microbatch=0,
        racks=np.array(racks), duration_s=duration_s, after=tuple(after), rank=rank,
    )  # fmt: skip


def event(
    number: int, kind: str, demand: Demand, racks: Sequence[int], after: Sequence[int] = ()
) -> Event:
    return Event(
        id=number, job="train", kind=kind, stage=0, phase=Phase.FORWARD, microbatch=0,
        label=f"{kind} {number}", racks=np.array(racks), demand=demand, after=tuple(after),
    )  # fmt: skip


def traced(folder: Path, nodes: Sequence[Node], **more: Any) -> Scenario:
    """A quiet floor (no fading, no background, nobody late) with one job of these nodes."""
    file = folder / "nodes.jsonl.gz"
    write_trace(file, Trace(TrainingGraph(tuple(nodes)), RACKS))
    quiet = {"floor": FLOOR, "channel": {"fluctuation_db": 0.0}}
    return build_scenario({**quiet, "jobs": [{"trace": str(file)}], **more}, "test")
