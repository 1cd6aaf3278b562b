"""The mechanisms beyond the paper's under everything that we can think of.

Random instances go through the schedule's own checks and are played on arrays; then faults strike
in the middle of a streamed AllReduce, and the auditor looks at the record. A sample runs always,
the whole lot where it is asked for: ``python -m tests.synthesis.test_beyond_trust`` counts both.
"""

from __future__ import annotations

import re
import sys
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.reference.tensors import execute
from tests.wireless.worlds import channel_of, demand_of, random_gains
from thzsync.auditor import audit
from thzsync.errors import ThzSyncError
from thzsync.execution.alone import run_collective
from thzsync.scenario import Floor, Scenario, Thz
from thzsync.scenario.files import build_scenario
from thzsync.simulation import simulate
from thzsync.synthesis import find_method
from thzsync.testing.floors import RandomPolicy
from thzsync.topology import Topology

METHODS = (
    ("allreduce", "path"),
    ("allreduce", "streamed"),
    ("allreduce", "streamed"),  # the one with most structures
    ("allreduce", "streamed-and-ring"),
    ("a2a", "sustained"),
    ("a2a", "sustained-relayed"),
    ("p2p", "striped"),
)
KINDS = ("transceiver-down", "subband-jammed", "fibre", "pair-blocked")
INSTANCES, FAULTS = 10_000, 500


def random_instance(seed: int) -> bool:
    """One collective alone; whether it could be carried out at all (dead links may forbid it)."""
    generator = np.random.default_rng([7, seed])
    kind, name = METHODS[seed % len(METHODS)]
    racks, subbands = int(generator.integers(2, 13)), int(generator.integers(1, 7))
    thz = Thz(
        subbands=subbands,
        rf_chains=int(generator.integers(1, subbands + 1)) if generator.random() < 0.3 else None,
        round_overhead_s=float(generator.choice([0.0, 3e-5])),
        radiation=str(generator.choice(["needed", "budget"])),
    )
    gains = random_gains(generator, thz, racks)
    dead = generator.random((racks, racks)) < 0.1 * (generator.random() < 0.2)
    dead |= dead.T
    gains[dead] *= 1e-12
    late = min(racks, int(generator.choice([0, 1, 2, 2, 3])))
    late_s = np.zeros(racks)
    late_s[generator.choice(racks, late, replace=False)] = generator.uniform(0, 0.1, late)
    scenario = Scenario(floor=Floor(rings=1, slots_per_ring=16), thz=thz)
    demand = demand_of(kind, racks, generator)
    try:
        schedule = run_collective(
            demand, np.arange(racks), find_method(kind, name), scenario, Topology(scenario.floor),
            channel_of(gains), late_s,
        )  # fmt: skip
    except ThzSyncError as error:
        assert re.search(r"rack \d+ -> rack \d+", str(error))  # noqa: PT017
        assert dead.any()
        return False
    assert int(schedule.chunks.sum()) == int(schedule.plan.chunks.sum())
    execute(schedule, generator)
    return True


def small_job(generator: np.random.Generator) -> dict[str, Any]:
    """One or two stages of some lanes whose AllReduce is long enough to be hit."""
    rings, lanes = int(generator.integers(1, 3)), int(generator.integers(2, 8))
    subbands = int(generator.integers(1, 5))
    training = {
        "microbatches": 1,
        "p2p_bytes": int(generator.integers(1, 200_000)),
        "a2a_bytes_per_rack": int(generator.integers(1, 300_000)),
        "moe_stages": [0],
        "allreduce_bytes": int(generator.integers(300_000, 3_000_000)),
        "allreduce_buckets": 1,
        "forward_s": 1e-4,
        "backward_s": 1e-4,
    }
    return {
        "name": "struck",
        "floor": {"rings": rings, "slots_per_ring": lanes},
        "thz": {
            "subbands": subbands,
            "round_overhead_s": float(generator.choice([0.0, 2e-5])),
            "fallback_timeout_s": 1e-3,
        },
        "channel": {"fluctuation_db": float(generator.choice([0.0, 3.0]))},
        "collectives": {
            "chunk_bytes": int(generator.choice([16_384, 65_536])),
            "allreduce": "streamed-and-ring",
            "a2a": "sustained",
            "p2p": "striped",
        },
        "coordinator": {"wired_to_thz": bool(generator.random() < 0.5)},
        "stragglers": {"probability": 0.2, "min_delay_s": 1e-5, "max_delay_s": 1e-3},
        "jobs": [{"name": "train", "training": training}],
    }


def random_fault(seed: int) -> str:
    """A fault in the middle of an AllReduce that has chunks on both fabrics or one; its kind."""
    generator = np.random.default_rng([11, seed])
    raw = small_job(generator)
    if seed // len(KINDS) % 2:
        raw["thz"] |= {"fallback_timeout_s": 0.0, "order": "urgency"}  # as in the preset
    healthy = simulate(build_scenario(raw, "healthy"), RandomPolicy(seed), 1, seed, references={})
    reduced = healthy.events.filter(pl.col("kind") == "allreduce")
    struck = reduced.row(int(generator.integers(len(reduced))), named=True)
    begin_ps, end_ps = struck["release_ps"], struck["end_ps"]
    middle_s = (begin_ps + generator.uniform(0.1, 0.9) * (end_ps - begin_ps)) * 1e-12
    kind = KINDS[seed % len(KINDS)]
    rack, other = generator.choice(struck["racks"], 2, replace=False).tolist()
    where: dict[str, Any] = {
        "transceiver-down": {"rack": rack},
        "subband-jammed": {"subband": int(generator.integers(raw["thz"]["subbands"]))},
        "fibre": {"rack": rack, "rate_share": float(generator.choice([0.0, 0.3]))},
        "pair-blocked": {"racks": [rack, other]},
    }[kind]
    lasts_s = float(generator.choice([2e-4, 5e-3, 0.05]))
    raw["faults"] = [{"kind": kind, "start_s": middle_s, "end_s": middle_s + lasts_s, **where}]
    run = simulate(build_scenario(raw, "struck"), RandomPolicy(seed), 1, seed, references={})
    verdict = audit(run)
    assert verdict.violations == [], f"fault {seed} ({kind}): {verdict.violations[:3]}"
    assert len(run.events) == len(healthy.events)
    return kind


@pytest.mark.parametrize("part", range(3))
def test_no_random_instance_of_the_new_methods_breaks_a_rule(part: int) -> None:
    assert sum(random_instance(20 * part + k) for k in range(20)) > 10


@pytest.mark.parametrize("seed", range(8))
def test_a_fault_in_the_middle_of_a_streamed_allreduce_loses_nothing(seed: int) -> None:
    random_fault(seed)


@pytest.mark.slow
def test_none_of_ten_thousand_instances_of_the_new_methods_breaks_a_rule() -> None:
    assert sum(random_instance(seed) for seed in range(INSTANCES)) > INSTANCES // 2


@pytest.mark.slow
def test_none_of_five_hundred_faults_loses_anything() -> None:
    assert len([random_fault(seed) for seed in range(FAULTS)]) == FAULTS


def _count(first_instance: int, first_fault: int) -> None:  # pragma: no cover - for long runs
    """Run everything from these numbers on, and say how far it has come."""
    carried = 0
    for seed in range(first_fault, FAULTS):
        random_fault(seed)
        if seed % 50 == 49:
            print(f"{seed + 1} faults, none lost anything", flush=True)
    for seed in range(first_instance, INSTANCES):
        carried += random_instance(seed)
        if seed % 500 == 499:
            print(f"{seed + 1} instances, {carried} carried out, none broke a rule", flush=True)


if __name__ == "__main__":
    _count(*(int(argument) for argument in [*sys.argv[1:], "0", "0"][:2]))
