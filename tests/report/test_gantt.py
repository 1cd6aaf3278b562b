from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from matplotlib.collections import PolyCollection

from thzsync.collectives import Tensor, Transfer, find_collective, register_collective
from thzsync.errors import ThzSyncError
from thzsync.report.gantt import draw_gantt, gantt_figure, looks, nominal_s
from thzsync.scenario import Floor, Job, Scenario, Training
from thzsync.streams import Streams
from thzsync.topology import Topology
from thzsync.workload import Event, Phase, TrainingGraph, scenario_graph


def graph_of(scenario: Scenario) -> TrainingGraph:
    return scenario_graph(scenario, Topology(scenario.floor), Streams(0))


def event(kind: str, racks: int, demand: Transfer | Tensor) -> Event:
    return Event(0, "j", kind, 0, Phase.FORWARD, 0, "x", np.arange(racks), demand, ())


def test_an_event_lasts_as_long_as_its_busiest_rack_sends() -> None:
    transfer = Transfer.of([0, 0, 1], [1, 2, 2], [600, 400, 100])
    assert nominal_s(event("a2a", 3, transfer), 8e3) == pytest.approx(1.0)
    assert nominal_s(event("allreduce", 4, Tensor(1000)), 8e3) == pytest.approx(1.5)
    assert nominal_s(event("p2p", 2, Transfer.of([], [], [])), 8e3) == 0


def test_every_node_has_a_bar_on_its_stage() -> None:
    graph = graph_of(Scenario.preset("tiny"))
    (axes,) = gantt_figure(graph, "tiny").axes
    bars = [c for c in axes.collections if isinstance(c, PolyCollection)]
    assert sum(len(c.get_paths()) for c in bars) == len(graph.nodes)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["stage 0", "stage 1"]
    legend = axes.get_legend()
    assert legend is not None
    names = [text.get_text() for text in legend.get_texts()]
    assert names == ["forward", "backward", "P2P", "All-to-All", "AllReduce"]


@pytest.mark.usefixtures("nothing_stays_registered")
def test_a_collective_that_nobody_foresaw_is_drawn_too() -> None:
    graph = graph_of(Scenario.preset("tiny"))
    register_collective(replace(find_collective("p2p"), name="my-own"))
    renamed = {"p2p": "my-own"}
    nodes = tuple(
        replace(node, kind=renamed.get(node.kind, node.kind)) if isinstance(node, Event) else node
        for node in graph.nodes
    )
    shown = looks(replace(graph, nodes=nodes))
    names = [look.name for look in shown.values()]
    assert names == ["forward", "backward", "All-to-All", "AllReduce", "my-own"]
    places = [(look.top, look.top + look.height) for look in list(shown.values())[2:]]
    assert all(a < b for (_, a), (b, _) in pairwise(places))
    assert gantt_figure(replace(graph, nodes=nodes)).axes


def test_stages_of_several_jobs_are_told_apart() -> None:
    training = Training(microbatches=1, moe_stages=())
    jobs = (
        Job(name="a", lanes=2, training=training),
        Job(name="b", first_lane=2, training=training),
    )
    scenario = Scenario(floor=Floor(rings=1, slots_per_ring=4), jobs=jobs)
    (axes,) = gantt_figure(graph_of(scenario)).axes
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == ["a · stage 0", "b · stage 0"]


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    graph = graph_of(Scenario.preset("tiny"))
    with pytest.raises(ThzSyncError, match=r"\.docx .*\.svg"):
        draw_gantt(graph, tmp_path / "x.docx")
    with pytest.raises(ThzSyncError, match=str(tmp_path / "no")):
        draw_gantt(graph, tmp_path / "no" / "x.svg")


@pytest.mark.parametrize("name", [r"$\frac{a$", "$", r"\$a$b$", "a$_$\n", "\x1b[31m$^$"])
def test_a_name_is_drawn_as_it_is_formula_or_not(tmp_path: Path, name: str) -> None:
    training = Training(microbatches=1, moe_stages=())
    jobs = (
        Job(name="a", lanes=2, training=training),
        Job(name="b", first_lane=2, training=training),
    )
    scenario = Scenario(floor=Floor(rings=1, slots_per_ring=4), jobs=jobs)
    graph = graph_of(scenario)
    renamed = tuple(replace(node, job=name) if node.job == "a" else node for node in graph.nodes)
    draw_gantt(replace(graph, nodes=renamed), tmp_path / "g.svg", title=name)
    assert (tmp_path / "g.svg").stat().st_size
