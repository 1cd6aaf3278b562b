"""Gain files with random damage, in all three formats."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tests.fuzz.harness import damaged, odd_value
from thzsync.arrays import NEVER_PS
from thzsync.channel.components import Antennas
from thzsync.channel.file import ANGLES, BEAMS, load_gains
from thzsync.scenario.antennas import Gaussian

RACKS, SUBBANDS = 4, 2


def try_gains(rng: np.random.Generator) -> str:
    """Write a damaged file, read it, and ask it at some instants."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"gains.{rng.choice(['csv', 'parquet', 'npz'])}")
        _write(path, mutant(rng))
        if rng.random() < 0.4:
            path.write_bytes(damaged(rng, path.read_bytes()))
        gains = load_gains(path, RACKS, SUBBANDS, Antennas(Gaussian(), 10.0, 25.0))
    src, dst = np.repeat(np.arange(RACKS), RACKS), np.tile(np.arange(RACKS), RACKS)
    for time_ps in (0, 1, 10**12, NEVER_PS - 1):
        found = gains.gains(src, dst, time_ps)
        assert ((found >= 0) & (found <= 1)).all()
        assert gains.next_change_ps(time_ps) > time_ps
    return "accepted"


def mutant(rng: np.random.Generator) -> dict[str, list[Any]]:
    """Every pair and subband, some rows and values changed."""
    low, high = np.triu_indices(RACKS, k=1)
    table: dict[str, list[Any]] = {
        "rack_a": np.repeat(low, SUBBANDS).tolist(),
        "rack_b": np.repeat(high, SUBBANDS).tolist(),
        "subband": np.tile(range(SUBBANDS), len(low)).tolist(),
        "gain_db": (-80 - 20 * rng.random(len(low) * SUBBANDS)).tolist(),
    }
    if rng.random() < 0.5:
        table["time_s"] = [0.0] * len(table["rack_a"])
    if rng.random() < 0.5:
        _spread(rng, table)
    for _ in range(rng.integers(0, 3)):
        _change(rng, table)
    return table


def _spread(rng: np.random.Generator, table: dict[str, list[Any]]) -> None:
    """Two rows for every link, in beams or at angles."""
    table |= {name: 2 * column for name, column in table.items()}
    count = len(table["rack_a"])
    table["gain_db"] = (-80 - 20 * rng.random(count)).tolist()
    if rng.random() < 0.5:
        table |= {name: [float(2 * k >= count) for k in range(count)] for name in BEAMS}
    else:
        table |= {name: (-180 + 360 * rng.random(count)).tolist() for name in ANGLES}


def _change(rng: np.random.Generator, table: dict[str, list[Any]]) -> None:
    row = int(rng.integers(len(table["rack_a"])))
    name = str(rng.choice(list(table)))
    match rng.integers(6):
        case 0:
            table[name][row] = odd_value(rng)
        case 1:  # a row twice, perhaps later
            for column in table.values():
                column.append(column[row])
            if "time_s" in table:
                table["time_s"][-1] = float(rng.choice([0.0, 0.5, 1e5, 1e7, -1.0]))
        case 2:
            for column in table.values():
                del column[row]
        case 3 if name != "rack_a":
            del table[name]
        case 4:
            table[name] = [odd_value(rng)] * len(table[name])
        case _:
            table["gain_db" if "gain_db" in table else name][row] = float("-inf")


def _write(path: Path, table: dict[str, list[Any]]) -> None:
    """As a careless program would: what does not fit a column becomes text."""
    if path.suffix == ".npz":
        columns = {n: _array(v) for n, v in table.items()}
        np.savez(path, **columns)
        return
    frame = pl.DataFrame({n: _series(v) for n, v in table.items()})
    if path.suffix == ".csv":
        frame.write_csv(path)
    else:
        frame.write_parquet(path)


def _array(values: list[Any]) -> Any:
    try:
        return np.array(values)
    except (OverflowError, ValueError):
        return np.array(list(map(str, values)))


def _series(values: list[Any]) -> pl.Series:
    kinds = {type(value) for value in values}
    if kinds <= {int, float, type(None)}:
        try:
            return pl.Series([None if v is None else float(v) for v in values], dtype=pl.Float64)
        except OverflowError:
            pass
    return pl.Series(list(map(str, values)))
