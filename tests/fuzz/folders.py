"""Recorded runs with random damage: refused, or exactly what was recorded.

A forger who seals a damaged record again gets further: then only the audit's facts may break.
"""

from __future__ import annotations

import io
import json
import shutil
import tempfile
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tests.fuzz.harness import damaged, odd_value, scaled
from thzsync.auditor import audit
from thzsync.records.folder import FILES, INCOMING, sealed
from thzsync.report import open_results
from thzsync.scenario import Scenario
from thzsync.simulation import Run, simulate


@cache
def _recorded(seed: int) -> tuple[tuple[str, bytes], ...]:
    """The files of an honest run."""
    run = simulate(Scenario.preset("tiny"), "fixed-ratio", 1, seed, references={})
    with tempfile.TemporaryDirectory() as folder:
        place = run.save(Path(folder, "run"))
        return tuple((file.name, file.read_bytes()) for file in sorted(place.iterdir()))


@cache
def _tables() -> dict[str, pl.DataFrame]:
    return {
        name.removesuffix(".parquet"): pl.read_parquet(content)
        for name, content in _recorded(0)
        if name.endswith(".parquet")
    }


def try_folder(rng: np.random.Generator) -> str:
    """Damage a record, read it as every command does, and audit what is accepted."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "run")
        folder.mkdir()
        for name, content in _recorded(0):
            (folder / name).write_bytes(content)
        forged = rng.random() < 0.5
        if forged:
            _forge(rng, folder)
        else:
            _damage(rng, folder)
        run = Run.load(folder)
        if not forged:
            same = all(run.tables[n].equals(frame) for n, frame in _tables().items())
            assert same, "a damaged record was taken for a whole one"
            return "unharmed"
        if rng.random() < 0.2:
            open_results(folder)
        return "believed" if audit(run).ok else "caught"


def _damage(rng: np.random.Generator, folder: Path) -> None:
    """As accidents do: bytes changed, files lost, or of another run, or half moved."""
    file = folder / str(rng.choice([name for name, _ in _recorded(0)]))
    match rng.integers(5):
        case 0:
            file.unlink()
        case 1:
            file.write_bytes(dict(_recorded(1))[file.name])
        case 2:
            (folder / INCOMING).mkdir()
            shutil.move(file, folder / INCOMING / file.name)
        case _:
            file.write_bytes(damaged(rng, file.read_bytes()))


def _forge(rng: np.random.Generator, folder: Path) -> None:
    """As a forger does: change a table, the scenario or what ``run.json`` says, and seal it."""
    marker = folder / "run.json"
    told = json.loads(marker.read_text())
    match rng.integers(4):
        case 0:
            _change_document(rng, told)
        case 1:
            file = folder / "scenario.toml"
            file.write_bytes(damaged(rng, file.read_bytes()))
        case _:
            name = str(rng.choice(list(_tables())))
            (folder / f"{name}.parquet").write_bytes(_parquet(_changed(rng, _tables()[name])))
    if isinstance(told.get(FILES), dict):
        for name in told[FILES]:
            if (folder / name).is_file():
                told[FILES][name] = sha256((folder / name).read_bytes()).hexdigest()
    marker.write_text(json.dumps(sealed(told)))


def _change_document(rng: np.random.Generator, values: dict[str, Any]) -> None:
    key = str(rng.choice(list(values)))
    if isinstance(values[key], dict) and values[key] and rng.random() < 0.7:
        _change_document(rng, values[key])
    elif rng.random() < 0.2:
        del values[key]
    else:
        value = odd_value(rng)
        huge = isinstance(value, int) and abs(value) > 2**70  # no JSON of ours has such numbers
        values[key] = 2**62 if huge else value


def _changed(rng: np.random.Generator, frame: pl.DataFrame) -> pl.DataFrame:
    """Rows lost, repeated or shuffled; a column lost; a value, a sign or a whole column changed."""
    column = str(rng.choice(frame.columns))
    match rng.integers(8):
        case 0:
            return frame.head(int(rng.integers(frame.height + 1)))
        case 1:
            return pl.concat((frame, frame.tail(int(rng.integers(1, 4)))))
        case 2:
            return frame.sample(fraction=1.0, shuffle=True, seed=int(rng.integers(2**31)))
        case 3:
            return frame.drop(column)
        case 4:
            return frame.with_columns(pl.lit(None, dtype=frame.schema[column]).alias(column))
        case _:
            return _with_odd_value(rng, frame, column)


def _with_odd_value(rng: np.random.Generator, frame: pl.DataFrame, column: str) -> pl.DataFrame:
    if not frame.height:
        return frame
    values, row = frame[column].to_list(), int(rng.integers(frame.height))
    if isinstance(values[row], list):
        if values[row]:
            at = int(rng.integers(len(values[row])))
            values[row] = [*values[row]]
            values[row][at] = scaled(rng, values[row][at], 2)
    else:
        values[row] = scaled(rng, values[row], 2) if rng.random() < 0.5 else odd_value(rng)
    try:
        changed = pl.Series(column, values, dtype=frame.schema[column], strict=True)
    except (OverflowError, TypeError, pl.exceptions.PolarsError):
        return frame.with_columns(pl.lit(None, dtype=frame.schema[column]).alias(column))
    return frame.with_columns(changed)


def _parquet(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()
