"""The training graph: nodes, generators, the model zoo and the trace file."""

from __future__ import annotations

from thzsync.workload.generate import job_graph, scenario_graph
from thzsync.workload.graph import Compute, Event, Node, Phase, TrainingGraph, merge
from thzsync.workload.one_f_one_b import training_graph

__all__ = [
    "Compute",
    "Event",
    "Node",
    "Phase",
    "TrainingGraph",
    "job_graph",
    "merge",
    "scenario_graph",
    "training_graph",
]
