"""Random floors, networks, jobs and faults: what is accepted delivers every chunk, and is audited.

Some scenarios name a table of racks or a file of another tool, and some of these are damaged.
"""

from __future__ import annotations

import re
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from tests.fuzz.harness import damaged, odd_value, scaled
from tests.fuzz.scenarios import AFFORDABLE, LATE_ERRORS, steps
from tests.fuzz.topologies import mutant
from tests.network.topologies import SAMPLES
from thzsync.auditor import audit
from thzsync.errors import ThzSyncError
from thzsync.feasibility import check_scenario
from thzsync.network import network_of
from thzsync.network.importers import read_wires
from thzsync.scenario import Scenario
from thzsync.scenario.files import build_scenario, parse_scenario
from thzsync.simulation import Run, simulate

POLICIES = ("all-wired", "all-wired", "fixed-ratio", "all-wireless", "thz-sync")
KIB = 1024
MOST_RACKS = 24
SIZES = [(rows, lanes) for rows in range(1, 9) for lanes in range(1, 13) if 4 <= rows * lanes <= 24]
"""Groups of a floor and racks of each."""


def try_network(rng: np.random.Generator) -> str:
    """Build, check, simulate one iteration, and audit the record."""
    with tempfile.TemporaryDirectory() as folder:
        scenario = build_scenario(_values(rng, Path(folder)), "fuzz")
        _check_dump(scenario)
        check_scenario(scenario)
        if steps(scenario) > 3 * AFFORDABLE:
            return "accepted"
        policy = str(rng.choice(POLICIES))
        try:
            run = simulate(scenario, policy, 1, int(rng.integers(100)), references={})
        except ThzSyncError as error:
            if not re.search(LATE_ERRORS, str(error)):
                raise AssertionError("accepted, but could not be run") from error
            return "ended early"
        _check_all_arrived(run)
        verdict = audit(run)
        assert verdict.ok, (policy, scenario, verdict.violations[:3])
        kind = scenario.network.kind
    return f"{kind}, {scenario.optical.fidelity}"


def _check_dump(scenario: Scenario) -> None:
    try:
        same = parse_scenario(scenario.to_toml(), "dump") == scenario
    except ThzSyncError as error:
        raise AssertionError("the dump of a scenario is refused") from error
    assert same


def _check_all_arrived(run: Run) -> None:
    """Every chunk was sent once, after it was ready."""
    flows, chunks = run.tables["flows"], run.tables["chunks"]
    assert len(chunks) == flows["chunks"].sum()
    assert not chunks.select("number", "flow", "chunk").is_duplicated().any()
    assert (chunks["end_ps"] > chunks["ready_ps"]).all()


def _values(rng: np.random.Generator, folder: Path) -> dict[str, Any]:
    """A scenario that mostly is right."""
    size = SIZES[rng.integers(len(SIZES))]
    network, racks = _network(rng, folder)
    if racks is not None:
        size = (1, racks) if rng.random() < 0.95 else size
    values = {
        "floor": _floor(rng, folder, *size),
        "network": network,
        "optical": _optical(rng),
        "thz": {"subbands": _one(rng, 2, 4), "fallback_timeout_s": 2e-3, "longest_round_s": 2e-3},
        "collectives": {"chunk_bytes": _one(rng, 64, 256) * KIB, "stall_limit_s": 2.0},
        "jobs": _jobs(rng, *size),
    }
    fibres = _fibres(values)
    faults = range(_one(rng, 0, 0, 0, 1, 2))
    values["faults"] = [_fault(rng, size[0] * size[1], fibres) for _ in faults]
    if rng.random() < 0.3:
        values["stragglers"] = {"probability": 0.2, "min_delay_s": 1e-4, "max_delay_s": 1e-3}
    if rng.random() < 0.15:
        _change(rng, values[_one(rng, "floor", "network")])
    return values


def _one(rng: np.random.Generator, *choices: Any) -> Any:
    return choices[rng.integers(len(choices))]


def _change(rng: np.random.Generator, table: dict[str, Any]) -> None:
    """Change one key a little or into something odd, or lose it."""
    key = _one(rng, *table)
    match rng.integers(4):
        case 0:
            del table[key]
        case 1:
            table[key] = odd_value(rng)
        case _:
            table[key] = scaled(rng, table[key], 1.5)


def _floor(rng: np.random.Generator, folder: Path, rows: int, lanes: int) -> dict[str, Any]:
    match rng.integers(4):
        case 0:
            return {
                "kind": "rings",
                "rings": rows,
                "slots_per_ring": lanes + int(rng.integers(3)),
                "racks_per_ring": lanes,
            }
        case 1:
            return {
                "kind": "rows",
                "rows": rows,
                "racks_per_row": lanes,
                "cold_aisle_m": rng.uniform(0, 3),
                "hot_aisle_m": rng.uniform(0, 3),
            }
        case 2:
            return {
                "kind": "grid",
                "rows": rows,
                "columns": lanes,
                "spacing_m": rng.uniform(0.6, 4),
            }
    floor = {"kind": "table", "racks_per_row": lanes}
    places = np.round(rng.uniform(0, 30, (rows * lanes, 2)), 2).tolist()
    if rng.random() < 0.3:
        return floor | {"positions_m": places}
    return floor | {"file": str(_table(rng, folder, places))}


def _table(rng: np.random.Generator, folder: Path, places: list[list[float]]) -> Path:
    """A file with the places of racks; one in five is damaged."""
    if rng.random() < 0.5:
        file, text = folder / "floor.toml", f"positions_m = {places}\n"
    else:
        rows = "".join(f"{x},{y}\n" for x, y in places)
        file, text = folder / "floor.csv", f"x_m,y_m\n{rows}"
    content = text.encode()
    file.write_bytes(damaged(rng, content) if rng.random() < 0.2 else content)
    return file


def _network(rng: np.random.Generator, folder: Path) -> tuple[dict[str, Any], int | None]:
    """A network, and how many racks it has where only a file knows."""
    if rng.random() < 0.25:
        return _file(rng, folder)
    kind = _one(rng, "rings", "leaf-spine", "leaf-spine", "fat-tree", "rail-optimised")
    if kind == "rings":
        return {"kind": kind}, None
    network = {
        "kind": kind,
        "routing": _one(rng, "ecmp", "spray"),
        "oversubscription": float(_one(rng, 0.5, 1, 1.7, 2, 8)),
        "access_length_m": float(_one(rng, 0, 5, 100)),
        "switch_length_m": float(_one(rng, 0, 30, 2000)),
    }
    if kind == "fat-tree":
        return network | {"radix": _one(rng, 4, 4, 6, 6, 8)}, None
    network |= {"racks_per_leaf": int(rng.integers(1, 9)), "spines": int(rng.integers(1, 5))}
    several = "planes" if kind == "leaf-spine" else "nics_per_rack"
    return network | {several: int(rng.integers(1, 4))}, None


def _file(rng: np.random.Generator, folder: Path) -> tuple[dict[str, Any], int | None]:
    """A file of another tool; one in five is changed."""
    name = str(rng.choice(list(SAMPLES)))
    text = SAMPLES[name]
    if rng.random() < 0.2:
        text = mutant(rng, text)
    path, racks = folder / name, None
    path.write_text(text, encoding="utf-8", errors="replace")
    with suppress(ThzSyncError):
        racks = read_wires(path).racks
    paths = _one(rng, "auto", "auto", "up-down", "shortest")
    network = {"kind": "file", "file": str(path), "paths": paths}
    fits = racks is not None and racks <= MOST_RACKS
    return network | {"routing": _one(rng, "ecmp", "spray")}, racks if fits else None


def _optical(rng: np.random.Generator) -> dict[str, Any]:
    """Buffers of two packets to some hundreds."""
    packet = _one(rng, 4, 16, 64) * KIB
    queue = packet * _one(rng, 1, 2, 5, 40)
    shared = packet * int(rng.integers(2, 6)) if rng.random() < 0.3 else 8 * queue
    return {
        "access_bps": _one(rng, 10e9, 25e9, 100e9),
        "inter_bps": _one(rng, 25e9, 100e9),
        "switch_delay_s": _one(rng, 0.0, 5e-7),
        "packet_bytes": packet,
        "nic_queue_bytes": queue,
        "output_queue_bytes": queue,
        "shared_buffer_bytes": max(shared, 2 * packet),
        "rack_reserve": _one(rng, 0.0, 0.25, 0.25, 0.6),
        "background": {"load": _one(rng, 0.0, 0.0, 0.02, 0.2), "burst_bytes": 64 * KIB},
        "fidelity": _one(rng, "packet", "packet", "flow", "auto"),
    }


def _jobs(rng: np.random.Generator, rows: int, lanes: int) -> list[dict[str, Any]]:
    """One job on the floor, on a part of it, or on listed racks; sometimes two."""
    if rng.random() < 0.4 and rows > 1:
        return [_job(rng, "a", min(rows, 2), {"rings": rows})]
    racks = rng.permutation(rows * lanes)
    used = int(rng.integers(2, len(racks) + 1))
    jobs = []
    for name, own in zip("ab", np.split(racks, [used]), strict=True):
        stages = _one(rng, 1, 2, 3)
        if len(own) >= 2 * stages:
            listed = own[: len(own) // stages * stages].reshape(stages, -1).tolist()
            jobs.append(_job(rng, name, stages, {"stages": listed}))
    return jobs or [_job(rng, "a", 1, {})]


def _job(rng: np.random.Generator, name: str, stages: int, where: dict[str, Any]) -> dict[str, Any]:
    training = {
        "microbatches": _one(rng, 1, 2),
        "p2p_bytes": int(rng.integers(1, 300)) * KIB,
        "a2a_bytes_per_rack": int(rng.integers(1, 500)) * KIB,
        "moe_stages": [stages - 1] if rng.random() < 0.7 else [],
        "allreduce_bytes": int(rng.integers(1, 600)) * KIB,
        "allreduce_buckets": _one(rng, 0, 1, 2),
        "forward_s": 1e-4,
        "backward_s": 2e-4,
    }
    return {"name": name, "training": training, **where}


def _fibres(values: dict[str, Any]) -> list[list[int]]:
    """Switches that are joined; a pair that perhaps is not where the network is refused."""
    with suppress(ThzSyncError):
        network = network_of(build_scenario(values, "fibres"))
        between = np.flatnonzero(np.minimum(network.from_switch, network.to_switch) >= 0)
        ends = np.stack((network.from_switch, network.to_switch), axis=1)[between]
        return [*ends[network.rate_bps[between] > 0].tolist(), [0, 1]]
    return [[0, 1]]


def _fault(rng: np.random.Generator, racks: int, fibres: list[list[int]]) -> dict[str, Any]:
    """Something fails for a while; sometimes what does not exist."""
    start_s = float(rng.uniform(0, 2e-3))
    span = {"start_s": start_s, "end_s": start_s + float(rng.uniform(1e-4, 5e-3))}
    rack = int(rng.integers(racks + (rng.random() < 0.1)))
    match rng.integers(5):
        case 0:
            return {"kind": "transceiver-down", "rack": rack, **span}
        case 1:
            return {"kind": "compute-frozen", "rack": rack, **span}
        case 2:
            where: dict[str, Any] = {"rack": rack}
        case _:
            where = {"rings": _one(rng, *fibres)}
    return {"kind": "fibre", **where, "rate_share": _one(rng, 0.0, 0.1, 0.5), **span}
