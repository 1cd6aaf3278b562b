"""One training job in a simulation: its own iterations, its own walk through the training graph."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from thzsync.records import Recorder
from thzsync.scenario import Job
from thzsync.simulation.metrics import Tally
from thzsync.workload import Node, TrainingGraph


@dataclass(eq=False)
class JobRun:
    """A job between two of its iterations, or in the middle of one."""

    index: int
    """Position among the jobs: orders what happens at one instant."""
    job: Job
    iterations: int
    """How many it is to do."""
    recorder: Recorder
    """Rows of the iteration; they count once it is complete."""
    iteration: int = -1
    """The one it is in, from 0."""
    start_ps: int = 0
    tally: Tally = field(default_factory=lambda: Tally(np.zeros(0, dtype=np.int64)))

    def begin(self, graph: TrainingGraph, now_ps: int, links: int) -> list[int]:
        """Start the next iteration; the nodes that wait for nothing."""
        self.iteration += 1
        self.graph, self.start_ps = graph, now_ps
        self.tally, self.recorder = Tally(np.zeros(links, dtype=np.int64)), self.recorder.another()
        self._unfinished = len(graph.nodes)
        self._pending = graph.indegree.tolist()
        return [int(n) for n in np.flatnonzero(graph.indegree == 0)]

    def node(self, number: int) -> Node:
        """A node of the present iteration."""
        return self.graph.nodes[number]

    def complete(self, number: int) -> list[int]:
        """A node is done; the nodes that waited for it alone."""
        self._unfinished -= 1
        rows, released = self.graph.successors, []
        for successor in rows.target[rows.start[number] : rows.start[number + 1]].tolist():
            self._pending[successor] -= 1
            if self._pending[successor] == 0:
                released.append(successor)
        return released

    @property
    def iteration_done(self) -> bool:
        """Whether every node of the iteration is done."""
        return self._unfinished == 0

    @property
    def over(self) -> bool:
        """Whether this was the last iteration."""
        return self.iteration + 1 >= self.iterations
