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
"""A floor, a network, a workload and a rate law."""
import math
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from thzsync.collectives import Tensor
from thzsync.network import Wires
from thzsync.scenario import (
    FloorKind, RateLaw, SwitchedNetwork, WorkloadKind, register_floor, register_network,
    register_rate_law, register_workload,
)
from thzsync.scenario.base import Bytes, Count, Metres, Seconds
from thzsync.scenario.rates import Step
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


@register_rate_law
class Half(RateLaw):
    """Half of what Shannon allows, in steps of 3 dB."""

    kind: Literal["half"] = "half"
    """Which law this is."""
    levels: Count = 6
    """Number of steps."""

    def steps(self):
        ratios = [3.0 * (k + 1) for k in range(self.levels)]
        return tuple(Step(f"{db} dB", db, math.log2(1 + 10 ** (db / 10)) / 2) for db in ratios)
'''
POLICIES = '''
"""A policy that learns, and can be saved."""
import numpy as np

from thzsync.coordinator import Action, register_policy
from thzsync.scenario.base import Count, Fraction, Model


class Keys(Model):
    shares: Count = 3
    """Shares of THz that are tried."""
    exploration: Fraction = 0.2
    """Decisions that explore."""


@register_policy
class BestShare:
    name = "best-share"
    parameters = Keys

    def __init__(self, streams, parameters):
        self.generator, self.keys = streams.generator("policy"), parameters
        self.mean, self.tries = np.zeros((2, parameters.shares))
        self.frozen = False

    def decide(self, situation):
        chosen = int(np.argmax(self.mean))
        if not self.frozen and self.generator.random() < self.keys.exploration:
            chosen = int(self.generator.integers(self.keys.shares))
        return Action.uniform(situation.offer, chosen / max(self.keys.shares - 1, 1), 1.0)

    def learn(self, situation, action, outcome):
        chunks = situation.offer.chunks.sum()
        if self.frozen or not chunks:
            return
        k = round(float(action.thz_chunks.sum() / chunks) * (self.keys.shares - 1))
        self.tries[k] += 1
        self.mean[k] += (outcome.reward - self.mean[k]) / self.tries[k]

    def state(self):
        return {"mean": self.mean.copy(), "tries": self.tries.copy(),
                "generator": self.generator.bit_generator.state}

    def load(self, state):
        self.mean, self.tries = state["mean"].copy(), state["tries"].copy()
        self.generator.bit_generator.state = state["generator"]

    def freeze(self):
        self.frozen = True
'''
SCENARIO = """
preset = "tiny"
name = "star"
plugins = ["star_lab.methods"]

[collectives]
allreduce = "star"
"""
ALL = """
preset = "tiny"
name = "all"
plugins = ["star_lab.methods", "star_lab.kinds", "star_lab.policies"]

[collectives]
allreduce = "star"

[thz.rate]
kind = "half"
levels = 8

[parameters.star]
worst = true

[parameters.best-share]
exploration = 0.5

[[jobs]]
name = "train"
workload = { kind = "steps", steps = 3, size_bytes = "2 MiB" }
"""
"""A method, a workload, a rate law and a policy of the package, three of them with keys."""


def write_lab(folder: Path) -> Path:
    """The package and both scenarios in a folder; the path of the first one."""
    package = folder / "star_lab"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('__version__ = "1.2"\n')
    (package / "methods.py").write_text(METHODS)
    (package / "kinds.py").write_text(KINDS)
    (package / "policies.py").write_text(POLICIES)
    (folder / "all.toml").write_text(ALL)
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
