"""Small sweeps for the tests: seconds, not minutes."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import polars as pl

from thzsync.experiments.comparison import METRICS
from thzsync.scenario import Scenario
from thzsync.studies import Specification, Sweep

ROOT = Path(__file__).parents[2]
THZSYNC = [sys.executable, "-m", "thzsync"]
POLICIES = ("all-wired", "fixed-ratio")

SMALL: dict[str, Any] = {
    "axes": {"thz.max_power_w": [0.05, 0.2]},
    "policies": list(POLICIES),
    "seeds": 2,
    "iterations": 1,
}
"""Eight runs of the preset ``tiny``."""

SMALL_COMMAND = [
    *("sweep", "tiny", "--set", "thz.max_power_w=0.05,0.2"),
    *("--policies", ",".join(POLICIES), "--seeds", "2", "--iterations", "1"),
]
"""The same on the command line."""


def environment() -> dict[str, str]:
    """For a process that is to use this source tree."""
    return os.environ | {"PYTHONPATH": str(ROOT / "src")}


def stored(folder: Path) -> dict[str, bytes]:
    """The finished runs in a sweep's folder."""
    return {path.name: path.read_bytes() for path in (folder / "finished").glob("[!.]*")}


def outcome(folder: Path) -> bytes:
    """What must be equal whoever computed it."""
    return (folder / "table.parquet").read_bytes()


def made_up(spec: Specification) -> Sweep:
    """The first policy takes 10 ms, the others 20 ms minus 2 per subband and a bit per seed."""
    first, *others = (contender.name for contender in spec.all)
    points = tuple(spec.points())
    rows = [
        {**point, "policy": policy, "seed": seed, "iteration": 0}
        | dict.fromkeys(METRICS, 1.0)
        | {"completion_ms": 10.0 if policy == first else slope(point) + 0.1 * seed}
        for point in points
        for policy in (first, *others)
        for seed in spec.seeds
    ]
    return Sweep(spec, Scenario.preset("tiny"), points, pl.DataFrame(rows))


def slope(point: dict[str, Any]) -> float:
    return 20.0 - 2.0 * float(point["thz.subbands"])
