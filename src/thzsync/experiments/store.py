"""Finished runs, each kept whole under its key: in memory, and in a folder if there is one."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final, TypeVar

import polars as pl

from thzsync.errors import ThzSyncError, in_one_line
from thzsync.experiments.parallel import Failure
from thzsync.experiments.references import FOUND
from thzsync.experiments.runs import Result, Task
from thzsync.files import write_atomically, write_document
from thzsync.records import Fidelity, References
from thzsync.records.format2 import filled
from thzsync.records.run import frame_bytes

FINISHED: Final = "finished"
REFERENCES: Final = "references"
FAILED: Final = "failed"
FIDELITY: Final = "fidelity"
"""Column with what was replayed of a run, as JSON: one file holds a run."""

Read = TypeVar("Read")


class Store:
    """What is known of some runs; a reader of the folder never sees half of one."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self._finished: dict[str, Result] = {}
        self._references: dict[str, References] = FOUND if folder is None else {}
        self.failures: dict[str, Failure] = {}

    def tidy(self) -> None:
        """Remove the temporary files of processes that were killed."""
        if self.folder is not None:
            for shelf in (FINISHED, REFERENCES, FAILED):
                for leftover in self.folder.glob(f"{shelf}/.*"):
                    leftover.unlink()

    def recall(self, tasks: Iterable[Task]) -> None:
        """Read from the folder what is finished of these; what is damaged counts as missing."""
        iterations = {task.key: task.iterations for task in tasks}
        results = self._read(FINISHED, ".parquet", iterations, _result)
        self._finished |= {
            key: result
            for key, result in results.items()
            if result.iterations["iteration"].n_unique() == iterations[key]
        }
        needed = dict.fromkeys(task.references for task in tasks)
        self._references |= self._read(REFERENCES, ".json", needed, _references)

    def recall_failures(self, keys: Iterable[str]) -> None:
        """Read why runs failed that are not finished; a resumed sweep tries them anew instead."""
        unfinished = [key for key in keys if key not in self._finished]
        self.failures |= self._read(FAILED, ".json", unfinished, _failure)

    def _read(
        self, shelf: str, suffix: str, keys: Iterable[str], read: Callable[[bytes], Read]
    ) -> dict[str, Read]:
        found: dict[str, Read] = {}
        if self.folder is None:
            return found
        for key in keys:
            try:
                content = (self.folder / shelf / f"{key}{suffix}").read_bytes()
            except FileNotFoundError:
                continue
            except OSError as error:
                raise ThzSyncError(f"{error.filename}: cannot be read ({error.strerror})") from None
            try:
                found[key] = read(content)
            except Exception:  # Polars raises many kinds for a damaged file
                continue
        return found

    def finished(self, key: str) -> Result | None:
        """The result of a run, if it is finished."""
        return self._finished.get(key)

    def count(self, keys: Iterable[str]) -> int:
        """How many of these runs are finished; with a folder, by what it holds."""
        if self.folder is not None:
            return sum((self.folder / FINISHED / f"{key}.parquet").exists() for key in keys)
        return sum(key in self._finished for key in keys)

    def references(self, key: str) -> References | None:
        """The references of a realisation, if they are known."""
        return self._references.get(key)

    def keep(self, key: str, result: Result | Failure) -> None:
        """Keep the result of a run, which cannot be lost after this, or why there is none."""
        if isinstance(result, Failure):
            self.failures[key] = result
            if self.folder is not None:
                told = {
                    "error": in_one_line(result.error),
                    "traceback": result.traceback.splitlines(),
                }
                write_document(self.folder / FAILED / f"{key}.json", told)
            return
        if self.folder is not None:
            write_atomically(self.folder / FINISHED / f"{key}.parquet", _content(result))
            (self.folder / FAILED / f"{key}.json").unlink(missing_ok=True)
        self._finished[key] = result

    def keep_references(self, key: str, found: References) -> None:
        """Keep the references of a realisation."""
        self._references[key] = found
        if self.folder is not None:
            content = json.dumps(found).encode()
            write_atomically(self.folder / REFERENCES / f"{key}.json", content)


def _content(result: Result) -> bytes:
    if result.fidelity is None:
        return frame_bytes(result.iterations)
    told = json.dumps(result.fidelity.document())
    return frame_bytes(result.iterations.with_columns(pl.lit(told).alias(FIDELITY)))


def _result(content: bytes) -> Result:
    frame = pl.read_parquet(io.BytesIO(content))
    told = frame[FIDELITY][0] if FIDELITY in frame.columns else None
    fidelity = None if told is None else Fidelity.of_document(json.loads(told))
    return Result(filled("iterations", frame.drop(FIDELITY, strict=False)), fidelity)


def _references(content: bytes) -> References:
    return {kind: (time_s, energy_j) for kind, (time_s, energy_j) in json.loads(content).items()}


def _failure(content: bytes) -> Failure:
    told: dict[str, Any] = json.loads(content)
    return Failure(ThzSyncError(told["error"]))
