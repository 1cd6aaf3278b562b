"""How much of what stragglers cost does a THz overlay win back?

Covers: importing op timings, evening out the stragglers, simulating both on both fabrics.

    python examples/traces/stragglers.py trace-ST.parquet llama3-8b [ITERATIONS [SEEDS]]

The step is replayed as it was recorded and with all workers equally fast. The stragglers' cost is
the difference on fibre alone; what the overlay wins back is how much shorter it makes the step that
has the stragglers. Channel and background differ from seed to seed, the recorded step does not; all
policies see the same seeds, and intervals are over the differences within a seed.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from math import isfinite
from pathlib import Path

from thzsync.arrays import FloatArray
from thzsync.experiments.compare import compare
from thzsync.experiments.statistics import interval95
from thzsync.importers import Placement, ReadOptions, Recording
from thzsync.importers.imported import merge_ranks
from thzsync.importers.pipeline import step_sizes
from thzsync.importers.stragglers import evened, typical, without_waiting
from thzsync.importers.timings import choose_step, read_steps, record
from thzsync.scenario import Floor, Job, Reward, Scenario, Stragglers
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
    """The paper's fabric with our best mechanisms: a ring per stage, a rack per replica; late racks
    come from the trace alone, and time is all that counts."""
    changes = {
        "floor": Floor(rings=stages, slots_per_ring=8, racks_per_ring=replicas),
        "jobs": (Job(trace=str(trace)),),
        "stragglers": Stragglers(),
        "reward": Reward(time_weight=1.0, energy_weight=0.0),
    }
    return Scenario.preset("beyond").model_copy(update=changes)


def makespans_s(
    recording: Recording, stages: int, replicas: int, iterations: int, seeds: int
) -> dict[str, FloatArray]:
    """Mean length of the step over the second half of the iterations [s], by policy and seed."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "job.trace"
        write_trace(file, merge_ranks(recording, Placement(stages=stages)).trace)
        runs = compare(scenario(file, stages, replicas), POLICIES, seeds, iterations)
    return {
        policy: 1e-3 * runs.seed_means(policy, "makespan_ms", iterations // 2)
        for policy in POLICIES
    }


def study(
    path: Path, model: str, iterations: int = 10, seeds: int = 3
) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Seconds of the step by policy, a value per seed: as recorded, and with equal workers."""
    slow, even, stages, replicas = recordings(path, model)
    found = [makespans_s(each, stages, replicas, iterations, seeds) for each in (slow, even)]
    return {policy: (found[0][policy], found[1][policy]) for policy in POLICIES}


def told(values: FloatArray, unit: str, digits: int) -> str:
    """A mean with its 95 % interval, if there is one."""
    mean, half = interval95(values)
    spread = f" ± {half:.{digits}f}" if isfinite(half) else ""
    return f"{mean:.{digits}f}{spread} {unit}"


def main(arguments: Sequence[str]) -> None:
    path, model, *rest = arguments
    found = study(Path(path), model, *map(int, rest))
    slow_s, even_s = found["all-wired"]
    cost_s = slow_s - even_s
    cost = f"stragglers cost {told(cost_s, 's', 3)} of {told(slow_s, 's', 3)}"
    print(f"{Path(path).name} with sizes of {model}, {len(cost_s)} seeds: {cost}")
    for policy, (with_s, without_s) in found.items():
        won = told(100 * (slow_s - with_s) / cost_s, "%", 1)
        equal = told(without_s, "s", 3)
        print(f"{policy:12} {told(with_s, 's', 3)}, {equal} if equal; wins back {won}")


if __name__ == "__main__":
    main(sys.argv[1:])
