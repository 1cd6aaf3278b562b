"""Trace files with random damage; what is accepted is simulated."""

from __future__ import annotations

import gzip
import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.fuzz.harness import damaged, odd_value, scaled
from tests.fuzz.scenarios import AFFORDABLE, steps
from thzsync.auditor import audit
from thzsync.errors import ThzSyncError
from thzsync.feasibility import check_scenario
from thzsync.scenario import Scenario
from thzsync.scenario.files import build_scenario
from thzsync.simulation import simulate
from thzsync.streams import Streams
from thzsync.topology import Topology
from thzsync.workload import scenario_graph
from thzsync.workload.tracefile import Trace, write_trace


@cache
def _lines() -> tuple[str, ...]:
    """The lines of a sound trace of the tiny preset."""
    tiny = Scenario.preset("tiny")
    topology = Topology(tiny.floor)
    graph = scenario_graph(tiny, topology, Streams(0))
    with tempfile.TemporaryDirectory() as folder:
        write_trace(Path(folder, "t"), Trace(graph, topology.racks))
        return tuple(gzip.decompress(Path(folder, "t").read_bytes()).decode().splitlines())


def try_trace(rng: np.random.Generator) -> str:
    """Damage a trace, read it, and simulate what is left if that is cheap."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "t.jsonl.gz")
        content = mutant(rng)
        if rng.random() < 0.2:
            content = damaged(rng, content)
        packed = gzip.compress(content, compresslevel=1)
        file.write_bytes(damaged(rng, packed) if rng.random() < 0.1 else packed)
        scenario = build_scenario({"preset": "tiny", "jobs": [{"trace": str(file)}]}, "fuzz")
        check_scenario(scenario)
        if steps(scenario) > AFFORDABLE:
            return "accepted"
        try:
            run = simulate(scenario, str(rng.choice(["all-wired", "fixed-ratio"])), 1, 0, {})
        except ThzSyncError as error:
            raise AssertionError("accepted, but could not be run") from error
        assert audit(run).ok
        return "simulated"


def mutant(rng: np.random.Generator) -> bytes:
    """Some values of some lines changed; lines lost, repeated or moved."""
    lines: list[dict[str, Any]] = [json.loads(line) for line in _lines()]
    if rng.random() < 0.4:
        _change_amount(rng, lines[rng.integers(1, len(lines))])
    for _ in range(rng.integers(0, 3)):
        record = lines[rng.integers(len(lines))]
        key = str(rng.choice(list(record)))
        match rng.integers(8):
            case 0:
                record[key] = odd_value(rng)
            case 1:
                record.pop(key)
            case 2:
                lines.insert(int(rng.integers(len(lines))), record)
            case 3:
                lines.remove(record)
            case _:
                _change(rng, record, key)
    return "\n".join(json.dumps(line) for line in lines).encode()


def _change_amount(rng: np.random.Generator, record: dict[str, Any]) -> None:
    """Change how much or how long: many of these are accepted."""
    for key in ("duration_s", "release_s", "tensor_bytes", "stage", "microbatch", "label"):
        if key in record and rng.random() < 0.5:
            record[key] = scaled(rng, record[key], 2)
    if "bytes" in record:
        record["bytes"] = [scaled(rng, size, 1) for size in record["bytes"]]


def _change(rng: np.random.Generator, record: dict[str, Any], key: str) -> None:
    """Change a number, or one number of a list."""
    value = record[key]
    if isinstance(value, list) and value:
        value[rng.integers(len(value))] = scaled(rng, value[0], 1)
    elif isinstance(value, (int, float)):
        record[key] = scaled(rng, value, 2)
    else:
        record[key] = odd_value(rng)
