"""Saved policies with random damage, signed again or not; what is accepted decides and learns."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.coordinator.environment import ToyFloor
from tests.coordinator.test_store import save, trained
from tests.fuzz.harness import damaged, odd_value
from thzsync.arrays import AnyArray
from thzsync.coordinator.saved import load_policy
from thzsync.coordinator.store import read_policy, write_policy
from thzsync.scenario import Scenario
from thzsync.streams import Streams

NAMES = ("thz-sync", "shared-bandit", "ddqn")


@cache
def _saved(name: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        save(trained(name, 12), Path(folder, "p"))
        return Path(folder, "p").read_bytes()


def try_policy(rng: np.random.Generator) -> str:
    """Damage a policy, load it, and let it play a few events."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "p")
        file.write_bytes(_saved(str(rng.choice(NAMES))))
        if rng.random() < 0.2:
            file.write_bytes(damaged(rng, file.read_bytes()))
        else:
            _sign(rng, file)
        policy = load_policy(file, Scenario.paper(), Streams(0), frozen=bool(rng.integers(2)))
        ToyFloor(1).play(policy, 6)
    return "accepted"


def _sign(rng: np.random.Generator, file: Path) -> None:
    """Change some of the content and give it a checksum that fits."""
    name, shape, progress, arrays = read_policy(file)
    for _ in range(rng.integers(1, 3)):
        if rng.random() < 0.2:
            _change_value(rng, [shape, progress][rng.integers(2)])
        else:
            key = str(rng.choice(list(arrays)))
            arrays[key] = _changed(rng, arrays[key])
    if rng.random() < 0.05:
        arrays.pop(str(rng.choice(list(arrays))))
    write_policy(file, name, shape, progress, arrays)


def _change_value(rng: np.random.Generator, values: dict[str, Any]) -> None:
    key = str(rng.choice(list(values)))
    if isinstance(values[key], dict) and values[key] and rng.random() < 0.8:
        _change_value(rng, values[key])
        return
    value = odd_value(rng)
    finite = not isinstance(value, float) or np.isfinite(value)
    values[key] = value if finite else None


def _changed(rng: np.random.Generator, array: AnyArray) -> AnyArray:
    """Another shape, type or value."""
    match rng.integers(7):
        case 0:
            return array[: int(rng.integers(len(array) + 1))]
        case 1:
            return np.concatenate((array, array))
        case 2:
            return array.ravel()
        case 3:
            return array.astype(rng.choice(["float32", "int64", "uint8", "float64"]))
        case 4:
            return array.reshape(*array.shape[::-1])
        case _:
            return _with_odd_number(rng, array)


def _with_odd_number(rng: np.random.Generator, array: AnyArray) -> AnyArray:
    changed = array.copy()
    if changed.size:
        whole = np.array([-(2**63), -2, -1, 0, 1, 5, 10**6, 2**62])
        real = np.array([np.nan, np.inf, -np.inf, 1e300, 1e99, -1e99, 0.0, -1.0, 1e-300])
        pool = whole if changed.dtype.kind == "i" else real
        changed.flat[rng.integers(changed.size)] = rng.choice(pool)
    return changed
