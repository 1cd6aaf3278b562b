"""One training job in a simulation: its iterations and its way through the training graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thzsync.arrays import IntArray
from thzsync.records import Recorder
from thzsync.scenario import Job
from thzsync.simulation.metrics import EventCost, Progress
from thzsync.workload import Compute, Node, TrainingGraph


@dataclass(eq=False)
class JobRun:
    """The state of a job."""

    index: int
    """Position among the jobs: the order of simultaneous events."""
    job: Job
    iterations: int
    """Number of iterations to do."""
    recorder: Recorder
    """Rows of the current iteration; they are recorded when it is complete."""
    iteration: int = -1
    """Number of the current iteration, from 0; -1 outside of any."""
    start_ps: int = 0

    def begin(self, graph: TrainingGraph, now_ps: int, links: int) -> list[int]:
        """Start the next iteration; return the nodes that wait for nothing."""
        self.iteration += 1
        self.graph, self.start_ps = graph, now_ps
        self.recorder = self.recorder.another()
        self.load_bytes: IntArray = np.zeros(links, dtype=np.int64)  # its own chunks, by link
        self.costs: list[EventCost] = []
        self.computed: list[tuple[Compute, int, int]] = []  # tasks with start and end [ps]
        self._unfinished = len(graph.nodes)
        self._pending = graph.indegree.tolist()
        return [int(n) for n in np.flatnonzero(graph.indegree == 0)]

    def node(self, number: int) -> Node:
        """A node of the current iteration."""
        return self.graph.nodes[number]

    def complete(self, number: int) -> list[int]:
        """Mark a node as done; return the nodes that waited only for it."""
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

    def progress(self, now_ps: int) -> Progress:
        """The headline figures of the iteration, which ends now."""
        costs = self.costs
        optical_j = sum(c.optical_energy_j for c in costs)
        thz_j = sum(c.thz_energy_j for c in costs)
        return Progress(
            job=self.job.name,
            iteration=self.iteration,
            completion_ms=sum(c.completion_s for c in costs) * 1e3,
            energy_j=optical_j + thz_j + sum(c.further_energy_j for c in costs),
            reward=float(np.mean([c.reward for c in costs])) if costs else 0.0,
            makespan_ms=(now_ps - self.start_ps) * 1e-9,
        )
