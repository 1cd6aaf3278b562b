"""A small package that is installed nowhere, and a scenario beside it that names it."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.studies.sweeps import THZSYNC, environment

METHODS = '''
"""An AllReduce on a star: all racks send to the best connected one, which adds and sends back."""
import numpy as np

from thzsync.scenario.base import Count, Model
from thzsync.synthesis import FlowMethod, register_method
from thzsync.transfers import Flow, graph_of


class Keys(Model):
    worst: bool = False
    """Whether the worst connected rack is the hub."""
    unused: Count = 7
    """A number."""


class Star:
    def plan(self, demand, racks, chunk_bytes, setting):
        size, flows = demand.tensor_bytes, []
        if size and len(racks) > 1:
            gains = setting.gains.mean(axis=2).sum(axis=1)
            centre = int(np.argmin(gains) if setting.parameters.worst else np.argmax(gains))
            hub, others = int(racks[centre]), [int(rack) for rack in np.delete(racks, centre)]
            up = [Flow(rack, hub, size, reduces=True) for rack in others]
            flows = up + [Flow(hub, rack, size, after=tuple(range(len(up)))) for rack in others]
        return graph_of("allreduce", demand, racks, chunk_bytes, flows)


register_method(FlowMethod("allreduce", "star", Star(), "assignment", "one hub", Keys))
'''
KINDS = '''
"""A floor, a network and a workload."""
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from thzsync.collectives import Tensor
from thzsync.network import Wires
from thzsync.scenario import (
    FloorKind, SwitchedNetwork, WorkloadKind, register_floor, register_network, register_workload
)
from thzsync.scenario.base import Bytes, Count, Metres, Seconds
from thzsync.workload import Compute, Event, Phase, TrainingGraph


@register_floor
class Line(FloorKind):
    """Racks one after the other."""

    kind: Literal["line"] = "line"
    rows: Count = 2
    """Racks are counted in so many groups."""
    each: Annotated[Count, Field(le=100)]
    """Racks of a group."""
    apart_m: Metres = 1.5
    """Distance of neighbours [m]."""

    @property
    def groups(self):
        return self.rows

    @property
    def lanes(self):
        return self.each

    @property
    def places_m(self):
        return [(rack * self.apart_m, 0.0) for rack in range(self.racks)]


@register_network
class Hub(SwitchedNetwork):
    """One switch."""

    kind: Literal["hub"] = "hub"
    fibres: Count = 1
    """Fibres of every rack."""

    def wires(self, racks, fibres):
        wires = Wires(racks)
        hub = wires.switch("hub")
        for rack in range(racks):
            for _ in range(self.fibres):
                wires.join(rack, hub, fibres.access_bps, fibres.access_ps)
        return wires


@register_workload
class Steps(WorkloadKind):
    """Compute and reduce, again and again."""

    kind: Literal["steps"] = "steps"
    steps: Count = 2
    """How often."""
    size_bytes: Bytes = 2**20
    """What is reduced [bytes]."""
    compute_s: Seconds = 0.001
    """Time of a step [s]."""

    def graph(self, job, partition, streams, iteration):
        racks = partition.racks.ravel()
        common = {"job": job.name, "stage": 0, "phase": Phase.BACKWARD, "microbatch": 0,
                  "racks": racks}
        nodes = []
        for step in range(self.steps):
            after = (len(nodes) - 1,) if nodes else ()
            nodes.append(
                Compute(id=len(nodes), duration_s=self.compute_s, after=after, **common)
            )
            nodes.append(
                Event(id=len(nodes), kind="allreduce", label=f"step {step}",
                      demand=Tensor(self.size_bytes), after=(len(nodes) - 1,), **common)
            )
        return TrainingGraph(tuple(nodes))
'''
SCENARIO = """
preset = "tiny"
name = "star"
plugins = ["star_lab.methods"]

[collectives]
allreduce = "star"
"""


def write_lab(folder: Path) -> Path:
    """The package and the scenario in a folder; the scenario."""
    package = folder / "star_lab"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('__version__ = "1.2"\n')
    (package / "methods.py").write_text(METHODS)
    (package / "kinds.py").write_text(KINDS)
    scenario = folder / "star.toml"
    scenario.write_text(SCENARIO)
    return scenario


def thzsync(folder: Path, *arguments: str, status: int = 0) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own; ``-P`` keeps the current folder off Python's path."""
    command = [THZSYNC[0], "-P", *THZSYNC[1:], *arguments]
    found = subprocess.run(
        command, cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )
    assert found.returncode == status, found.stderr
    return found
