"""Small result directories for the report's tests, made by real runs of the tiny scenario."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from thzsync.experiments.compare import Comparison, compare
from thzsync.scenario import Scenario
from thzsync.studies import Sweep

POLICIES = ("fixed-ratio", "all-wired", "all-wireless")
ITERATIONS = 3
SEEDS = 2
HOSTILE = "<img src=x onerror=window.pwned=1>{{script}}"
"""A policy's name that would run a script if it were ever taken for HTML."""
HOSTILE_SCENARIO = "</script><script>window.pwned=2</script>&amp;"

FLOORS: dict[str, dict[str, Any]] = {
    "rings": {"floor": {"kind": "rings", "rings": 2, "slots_per_ring": 3}},
    "rows": {
        "floor": {"kind": "rows", "rows": 2, "racks_per_row": 3},
        "network": {"kind": "leaf-spine", "racks_per_leaf": 3, "spines": 2},
    },
    "grid": {
        "floor": {"kind": "grid", "rows": 2, "columns": 3},
        "network": {"kind": "fat-tree", "radix": 4},
    },
    "table": {
        "floor": {
            "kind": "table",
            "positions_m": [(0, 0), (3, 1), (5, 0.5), (1, 4), (4, 3.5), (9, 2)],
            "racks_per_row": 3,
        },
        "network": {"kind": "rail-optimised", "nics_per_rack": 2, "racks_per_leaf": 3, "spines": 2},
    },
}
"""Floors of six racks, each with another network."""


def tiny_comparison() -> Comparison:
    scenario = Scenario.preset("tiny").model_copy(update={"name": HOSTILE_SCENARIO})
    return compare(scenario, POLICIES, SEEDS, ITERATIONS, workers=1)


def with_iterations(sweep: Sweep) -> Sweep:
    """The same made-up sweep in which an iteration takes as long as its collectives."""
    return replace(sweep, frame=sweep.frame.with_columns(makespan_ms=pl.col("completion_ms")))


def renamed(comparison: Comparison, old: str, new: str) -> Comparison:
    """The same comparison in which one policy goes by another name."""

    def named(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(pl.col("policy").replace(old, new))

    return replace(
        comparison,
        policies=tuple(new if p == old else p for p in comparison.policies),
        iterations=named(comparison.iterations),
        events=named(comparison.events),
        details={
            new if p == old else p: replace(run, policy=new if p == old else p)
            for p, run in comparison.details.items()
        },
    )


def crowded(comparison: Comparison) -> Comparison:
    """Six policies within a few per cent of one another, as learners at their best are."""
    names = ("thz-sync", "shared-bandit", "ddqn", "fixed-ratio", "all-wired", "all-wireless")
    own = comparison.iterations.filter(pl.col("policy") == comparison.policies[0])
    frames = [
        own.with_columns(
            pl.lit(name).alias("policy"), pl.col("completion_ms", "energy_j") * (1 + 0.004 * k)
        )
        for k, name in enumerate(names[:-1])
    ]
    far = own.with_columns(pl.lit(names[-1]).alias("policy"), pl.col("completion_ms") * 2)
    return replace(comparison, policies=names, iterations=pl.concat([*frames, far]), details={})


def save_fabric(comparison: Comparison, folder: Path) -> Path:
    """A comparison with published values beside its rows."""
    document = comparison.document(first=1)
    for row in document["rows"]:
        row["paper_completion_ms"] = 1.1 * row["completion_ms"]
        row["paper_energy_j"] = 0.9 * row["energy_j"]
        row["paper_reward"] = None
    document |= {
        "kind": "fabric",
        "gains": [
            {"policy": "all-wired", "gain_pct": 12.5, "ci95_gain_pct": 1.0, "paper_pct": 22.7}
        ],
        "oracle": {"reward": -0.5, "completion_ms": 10.0, "energy_j": 0.1, "choices": {}},
    }
    return comparison.save(folder, document)


def synthesis_row(method: str, racks: int, late: bool, **values: Any) -> dict[str, Any]:
    mean_ms = 2.0 * racks + 50 * late + 5 * (method != "proposed")
    return {
        "collective": "a2a",
        "method": method,
        "racks": racks,
        "stragglers": late,
        "mean_ms": mean_ms,
        "ci95_ms": 0.5,
        "bound_ms": 0.8 * mean_ms,
        "paper_ms": None,
        "deviation_pct": None,
    } | values


SYNTHESIS = [
    synthesis_row(method, racks, late, paper_ms=25.0 if racks == 12 else None)
    for late in (False, True)
    for method in ("proposed", "cyclic")
    for racks in (4, 8, 12)
]
ABLATIONS = [
    {
        "collective": "a2a",
        "method": "equal-power",
        "stragglers": False,
        "increase_pct": 21.5,
        "paper_least_pct": 13.3,
        "paper_most_pct": 28.1,
    }
]
WEIGHTS = [
    {
        "time_weight": time,
        "energy_weight": round(1 - time, 1),
        "completion_ms": 1000 + 300 * (0.7 - time),
        "energy_j": 14 - 4 * (0.7 - time),
        "ci95_completion_ms": 10.0,
        "ci95_energy_j": None,
        "paper_completion_ms": 1040.0 if time == 0.7 else None,
        "paper_energy_j": 14.32 if time == 0.7 else None,
    }
    for time in (0.7, 0.5, 0.3)
]


def save_json(folder: Path, kind: str, **content: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{kind}.json").write_text(json.dumps({"kind": kind, **content}), "utf-8")
    return folder


def save_reproduction(comparison: Comparison, folder: Path) -> Path:
    save_json(folder, "reproduce", parts=["synthesis", "fabric", "weights"])
    save_json(folder / "synthesis", "synthesis", rows=SYNTHESIS, ablations=ABLATIONS)
    save_json(folder / "weights", "weights", rows=WEIGHTS)
    save_fabric(comparison, folder / "fabric")
    return folder
