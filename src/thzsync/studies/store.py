"""Finished runs, each committed whole under its key: in memory, and in a folder if there is one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

from thzsync.errors import ThzSyncError
from thzsync.files import write_atomically, write_document
from thzsync.studies.task import read_table

FINISHED: Final = "finished"
REFERENCES: Final = "references"
FAILED: Final = "failed"


class Store:
    """What is known of a sweep's runs; a reader never sees half of one."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self._finished: dict[str, bytes] = {}
        self._references: dict[str, bytes] = {}
        self.failures: dict[str, str] = {}

    def tidy(self) -> None:
        """Remove the temporary files of processes that were killed."""
        if self.folder is None:
            return
        for shelf in (FINISHED, REFERENCES, FAILED):
            for leftover in self.folder.glob(f"{shelf}/.*"):
                leftover.unlink()

    def recall(self, keys: Iterable[str], realisations: Iterable[str], iterations: int) -> None:
        """Read from the folder what is finished of these; what is damaged counts as missing."""
        if self.folder is None:
            return
        self._take(FINISHED, ".parquet", keys, self._finished, lambda b: _whole(b, iterations))
        self._take(REFERENCES, ".json", realisations, self._references, _is_references)

    def recall_failures(self, keys: Iterable[str]) -> None:
        """Read why runs failed that are not finished; a resumed sweep tries them anew instead."""
        told: dict[str, bytes] = {}
        unfinished = [key for key in keys if key not in self._finished]
        if self.folder is not None:
            self._take(FAILED, ".json", unfinished, told, _is_failure)
        self.failures |= {key: json.loads(content)["error"] for key, content in told.items()}

    def _take(
        self,
        shelf: str,
        suffix: str,
        keys: Iterable[str],
        into: dict[str, bytes],
        good: Callable[[bytes], bool],
    ) -> None:
        assert self.folder is not None
        for key in keys:
            try:
                content = (self.folder / shelf / f"{key}{suffix}").read_bytes()
            except FileNotFoundError:
                continue
            except OSError as error:
                raise ThzSyncError(f"{error.filename}: cannot be read ({error.strerror})") from None
            if good(content):
                into[key] = content

    def finished(self, key: str) -> bytes | None:
        """The result of a run, if it is finished."""
        return self._finished.get(key)

    def count(self, keys: Iterable[str]) -> int:
        """How many of these runs are finished; with a folder, by what it holds."""
        if self.folder is not None:
            return sum((self.folder / FINISHED / f"{key}.parquet").exists() for key in keys)
        return sum(key in self._finished for key in keys)

    def references(self, key: str) -> bytes | None:
        """The references of a realisation, if they are known."""
        return self._references.get(key)

    def commit(self, key: str, content: bytes) -> None:
        """Keep the result of a run; after this it cannot be lost."""
        if self.folder is not None:
            write_atomically(self.folder / FINISHED / f"{key}.parquet", content)
            (self.folder / FAILED / f"{key}.json").unlink(missing_ok=True)
        self._finished[key] = content

    def commit_references(self, key: str, content: bytes) -> None:
        """Keep the references of a realisation."""
        self._references[key] = content
        if self.folder is not None:
            write_atomically(self.folder / REFERENCES / f"{key}.json", content)

    def fail(self, key: str, error: str, traceback: str) -> None:
        """Record why a run has no result; a resumed sweep tries it again."""
        self.failures[key] = error
        if self.folder is not None:
            told = {"error": error, "traceback": traceback.splitlines()}
            write_document(self.folder / FAILED / f"{key}.json", told)


def _whole(content: bytes, iterations: int) -> bool:
    try:
        return read_table(content)["iteration"].n_unique() == iterations
    except Exception:  # Polars raises many kinds for a damaged file
        return False


def _is_references(content: bytes) -> bool:
    return _object(content) is not None


def _is_failure(content: bytes) -> bool:
    return isinstance((_object(content) or {}).get("error"), str)


def _object(content: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(content)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
