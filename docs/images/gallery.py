"""Draws the pictures of docs/gallery.md from the examples: ``python docs/images/gallery.py``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from thzsync import Run, Scenario, compare, simulate
from thzsync.drawing import COLOURS, new_figure, save_picture, styled
from thzsync.experiments.single_ring import Instance
from thzsync.report.gantt import draw_gantt
from thzsync.report.rounds import draw_rounds
from thzsync.streams import Streams
from thzsync.synthesis import Method
from thzsync.topology import Topology
from thzsync.workload import scenario_graph

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"
sys.path += [str(EXAMPLES), str(EXAMPLES / "extending")]

import comparing  # noqa: E402
import faults  # noqa: E402
import one_per_rack  # noqa: E402
import own_model  # noqa: E402
import own_policy  # noqa: E402
import relayed_a2a  # noqa: E402
import streamed_allreduce  # noqa: E402
import two_jobs  # noqa: E402


def target(name: str) -> Path:
    return HERE / f"gallery-{name}.png"


def main() -> None:
    tiny = Scenario.preset("tiny")
    hall = own_model.HALL
    draw_gantt(scenario_graph(hall, Topology(hall.floor), Streams(0), 0), target("own-model"))
    runs = {
        name: simulate(scenario, "fixed-ratio", 2)
        for name, scenario in (("healthy", faults.HEALTHY), ("with faults", faults.BROKEN))
    }
    save_picture(by_event(runs), target("faults"))
    shared = two_jobs.floor_with(two_jobs.FIRST, two_jobs.SECOND)
    save_picture(clocks(simulate(shared, "fixed-ratio", 3)), target("two-jobs"))
    contest = {"fixed-ratio": "fixed-ratio", "best-share": own_policy.BestShare()}
    save_picture(
        rewards({name: simulate(tiny, p, 20) for name, p in contest.items()}), target("own-policy")
    )
    compared = compare("tiny", comparing.POLICIES, seeds=3, iterations=4, workers=1)
    save_picture(compared.plot("makespan_ms"), target("comparing"))
    for name, kind, method in (
        ("one-per-rack", "a2a", one_per_rack.METHOD),
        ("relayed-a2a", "a2a", relayed_a2a.RELAYED),
        ("streamed-allreduce", "allreduce", streamed_allreduce.STREAMED),
    ):
        draw_schedule(name, kind, method)


def draw_schedule(name: str, kind: str, method: Method) -> None:
    instance = Instance(Scenario.preset("single-ring"), kind, 6, False, 0, 4 * 2**20)
    draw_rounds(instance.carry_out(method), instance.topology, target(name))


def by_event(runs: dict[str, Run]) -> Any:
    with styled():
        figure, (axes,) = new_figure(1)
        for place, (name, run) in enumerate(runs.items()):
            spent = np.cumsum(run.events.sort("release_ps")["completion_ms"].to_numpy())
            axes.step(np.arange(1, len(spent) + 1), spent, label=name, color=COLOURS[place])
        axes.set_xlabel("Events, by release")
        axes.set_ylabel("Completion times, summed [ms]")
        axes.legend()
    return figure


def clocks(run: Run) -> Any:
    with styled():
        figure, (axes,) = new_figure(1)
        jobs = run.iterations["job"].unique(maintain_order=True).to_list()
        for row in run.iterations.iter_rows(named=True):
            place = jobs.index(row["job"])
            start_ms, end_ms = row["start_ps"] / 1e9, row["end_ps"] / 1e9
            axes.barh(
                place, end_ms - start_ms, left=start_ms, color=COLOURS[place], edgecolor="white"
            )
        axes.set_yticks(range(len(jobs)), jobs)
        axes.set_xlabel("Time [ms]")
    return figure


def rewards(runs: dict[str, Run]) -> Any:
    with styled():
        figure, (axes,) = new_figure(1)
        for place, (name, run) in enumerate(runs.items()):
            iterations = run.iterations
            axes.plot(
                iterations["iteration"] + 1, iterations["reward"], label=name, color=COLOURS[place]
            )
        axes.set_xlabel("Iteration")
        axes.set_ylabel("Reward")
        axes.legend()
    return figure


if __name__ == "__main__":
    main()
