"""How much of what stragglers cost does a THz overlay win back?

Covers: importing op timings, evening out the stragglers, simulating both on both fabrics.

    python examples/traces/stragglers.py trace-ST.parquet llama3-8b [ITERATIONS]

The step is replayed as it was recorded and with all workers equally fast. The stragglers' cost is
the difference on fibre alone; what the overlay wins back is how much shorter it makes the step that
has the stragglers.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from thzsync.importers import Placement, ReadOptions, Recording
from thzsync.importers.imported import merge_ranks
from thzsync.importers.sizes import step_sizes
from thzsync.importers.stragglers import evened, typical, without_waiting
from thzsync.importers.timings import choose_step, read_steps, record
from thzsync.scenario import Floor, Job, Scenario, Stragglers
from thzsync.simulation import simulate
from thzsync.workload.tracefile import write_trace

POLICIES = ("all-wired", "fixed-ratio", "thz-sync")


def recordings(path: Path, model: str) -> tuple[Recording, Recording, int, int]:
    """The median step as recorded and with equal workers; its stages and replicas."""
    steps = read_steps(path)
    chosen = choose_step(steps, None, path)
    sizes = step_sizes(ReadOptions(model=model), chosen.stages, chosen.replicas, path)
    usual = typical([without_waiting(record(step, sizes, path)) for step in steps.values()])
    slow = without_waiting(record(chosen, sizes, path))
    return slow, evened(slow, usual, slow.ranks), chosen.stages, chosen.replicas


def scenario(trace: Path, stages: int, replicas: int) -> Scenario:
    """The paper's fabric with a ring per stage and a rack per replica; late racks come from the
    trace alone."""
    floor = Floor(rings=stages, slots_per_ring=8, racks_per_ring=replicas)
    changes = {"floor": floor, "jobs": (Job(trace=str(trace)),), "stragglers": Stragglers()}
    return Scenario.paper().model_copy(update=changes)


def makespan_s(
    recording: Recording, stages: int, replicas: int, policy: str, iterations: int
) -> float:
    """Mean length of the step over the second half of the iterations [s]."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "job.trace"
        write_trace(file, merge_ranks(recording, Placement(stages=stages)).trace)
        run = simulate(scenario(file, stages, replicas), policy=policy, iterations=iterations)
    lengths = run.iterations["makespan_ms"].to_list()
    late = lengths[len(lengths) // 2 :]
    return float(sum(late) / len(late) * 1e-3)


def study(path: Path, model: str, iterations: int = 10) -> dict[str, tuple[float, float]]:
    """Seconds of the step by policy: as recorded, and with equal workers."""
    slow, even, stages, replicas = recordings(path, model)
    return {
        policy: (
            makespan_s(slow, stages, replicas, policy, iterations),
            makespan_s(even, stages, replicas, policy, iterations),
        )
        for policy in POLICIES
    }


def main(arguments: Sequence[str]) -> None:
    path, model, *rest = arguments
    found = study(Path(path), model, int(rest[0]) if rest else 10)
    slow_s, even_s = found["all-wired"]
    cost_s = slow_s - even_s
    print(
        f"{Path(path).name} with sizes of {model}: stragglers cost {cost_s:.3f} s of {slow_s:.3f} s"
    )
    for policy, (with_s, without_s) in found.items():
        won = (slow_s - with_s) / cost_s
        print(f"{policy:12} {with_s:8.3f} s, {without_s:8.3f} s if equal; wins back {won:6.1%}")


if __name__ == "__main__":
    main(sys.argv[1:])
