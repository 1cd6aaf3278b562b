"""Result folders: whose they are, and that nobody else is writing there."""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from thzsync.errors import ThzSyncError
from thzsync.files import prepare_folder

RUN_TABLES: Final = (
    "iterations", "tasks", "events", "blocks", "flows", "chunks", "rounds", "transmissions",
    "links", "sendings",
)  # fmt: skip
_RUN_FILES: Final = (
    "run.json", "scenario.toml", *(f"{table}.parquet" for table in RUN_TABLES), ".incoming/**/*",
    ".progress/**/*",
)  # fmt: skip
_COMPARE_FILES: Final = (
    "compare.json", "scenario.toml", "iterations.parquet", "events.parquet",
    *(f"runs/*/{name}" for name in _RUN_FILES),
)  # fmt: skip
_SWEEP_FILES: Final = (
    "sweep.json", "scenario.toml", "table.parquet", "finished/*.parquet", "references/*.json",
    "failed/*.json", "figures/*_by_*.png", "figures/*_by_*.svg",
)  # fmt: skip
_PAGE: Final = "report.html"
_WRITTEN_BY: Final = b"Written by thzsync"
"""Every page of ours says so."""
_DRAWINGS: Final = ("*_vs_iteration", "synthesis", "weights", "answer")


@dataclass(frozen=True)
class Record:
    """A kind of result folder: the file by which it is known, and all that belongs to it."""

    name: str
    marker: str
    kinds: tuple[str, ...]
    """What the marker's ``kind`` may say."""
    files: tuple[str, ...]
    """Patterns, relative to the folder."""
    progress: str | None = None
    """Folder in which an unfinished record waits to be gone on with."""

    def lives_in(self, folder: Path) -> bool:
        """Whether the folder holds such a record, or one that was being written."""
        unfinished = self.progress is not None and (folder / self.progress).is_dir()
        return self.complete_in(folder) or unfinished or _unfinished(folder) == self.marker

    def started_in(self, folder: Path) -> bool:
        """Whether the folder holds finished parts of such a record, which took their time."""
        return self.progress is not None and any((folder / self.progress).glob("part-*"))

    def complete_in(self, folder: Path) -> bool:
        """Whether the folder holds such a record, and not just a file of that name."""
        try:
            document = json.loads((folder / self.marker).read_text("utf-8"))
        except (OSError, ValueError):
            return False
        return isinstance(document, dict) and document.get("kind") in self.kinds

    def found_in(self, folder: Path) -> Iterator[Path]:
        """Files in the folder that have the names of the record's."""
        for pattern in self.files:
            yield from (path for path in folder.glob(pattern) if path.is_file())

    def remove_from(self, folder: Path) -> None:
        """Delete the record and the folders that this leaves empty; nothing else."""
        _remove(folder, self.found_in(folder))


RUN: Final = Record("a run", "run.json", ("run",), _RUN_FILES, ".progress")
COMPARISON: Final = Record("a comparison", "compare.json", ("compare", "fabric"), _COMPARE_FILES)
REPRODUCTION: Final = Record(
    "a reproduction",
    "reproduce.json",
    ("reproduce",),
    (
        "reproduce.json",
        *(f"{part}/{name}" for part in ("synthesis", "weights") for name in ("*.json", "*.toml")),
        "weights/*.parquet",
        *(f"fabric/{name}" for name in _COMPARE_FILES),
        *(
            f"{part}/{name}"
            for part in ("ladder", "beyond")
            for name in (f"{part}.json", *_SWEEP_FILES)
        ),
        "readings/readings.json",
        "readings/measured/*.json",
    ),
)
SWEEP: Final = Record("a sweep", "sweep.json", ("sweep",), _SWEEP_FILES)
ANSWER: Final = Record(
    "an answer", "answer.json", ("ask",), ("answer.json", "answer.svg", "scenario.toml")
)
RECORDS: Final = (RUN, COMPARISON, REPRODUCTION, SWEEP, ANSWER)
UNFINISHED: Final = ".thzsync"
"""File that says whose a folder is before its record is complete."""


@contextmanager
def claim_folder(
    path: str | Path | None, record: Record, force: bool = False, extend: bool = False
) -> Iterator[Path | None]:
    """Lock a folder for as long as its record is written, or refuse it.

    It must be absent, empty, or hold an unfinished record of the same kind; a finished one only
    where the caller means to ``extend`` it. ``force`` removes every other record of thzsync, and
    never a file that thzsync did not write. Pages of an older record are removed in any case.
    Without a path, nothing is locked.
    """
    if path is None:
        yield None
        return
    folder = prepare_folder(path)
    with locked(folder):
        refuse_folder(folder, record, force, extend)
        if not _continues(folder, record, extend):
            _make_room(folder, record)
        remove_pages(folder, record)
        if record is ANSWER:  # the page of a reproduction shows the answers in its folder
            remove_pages(folder.resolve().parent, REPRODUCTION)
        (folder / UNFINISHED).write_text(record.marker, "utf-8")
        try:
            yield folder
        finally:
            if record.complete_in(folder) or os.listdir(folder) == [UNFINISHED]:
                (folder / UNFINISHED).unlink()


def refuse_folder(
    path: str | Path | None, record: Record, force: bool = False, extend: bool = False
) -> None:
    """Raise if `claim_folder` would find something that must not be replaced."""
    if force or path is None or not Path(path).is_dir() or _continues(Path(path), record, extend):
        return
    if content := _content(Path(path)):
        others = any(other.lives_in(Path(path)) for other in RECORDS)
        remedy = "replace it with" if others else "write beside them with"
        raise ThzSyncError(f"{path}: holds {content}; name an empty folder, or {remedy} --force")


def _continues(folder: Path, record: Record, extend: bool) -> bool:
    """Whether the folder holds such a record to go on with."""
    return record.lives_in(folder) and (extend or not record.complete_in(folder))


def prepare_to_save(path: str | Path, record: Record) -> None:
    """Refuse a folder that is not absent, empty or of this kind; pages of an older record go."""
    folder = Path(path)
    if folder.is_dir() and not record.lives_in(folder) and (content := _content(folder)):
        raise ThzSyncError(f"{folder}: holds {content}; name an empty folder")
    remove_pages(folder, record)


def remove_pages(folder: Path, record: Record) -> None:
    """Delete the report and the figures that were drawn from a folder's record."""
    if record.lives_in(folder):
        _remove(folder, _pages(folder))


def _pages(folder: Path) -> Iterator[Path]:
    page = folder / _PAGE
    if page.is_file() and _WRITTEN_BY in page.read_bytes():
        yield page
    for name in _DRAWINGS:
        for suffix in ("pdf", "png"):
            yield from folder.glob(f"figures/{name}.{suffix}")


def _remove(folder: Path, files: Iterable[Path]) -> None:
    for path in list(files):
        path.unlink(missing_ok=True)
        for above in path.relative_to(folder).parents[:-1]:
            with suppress(OSError):
                (folder / above).rmdir()


def _content(folder: Path) -> str | None:
    """What a folder holds that nobody may overwrite by accident."""
    strangers = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
    if not strangers and not any(other.started_in(folder) for other in RECORDS):
        return None
    others = [other.name for other in RECORDS if other.lives_in(folder)]
    return others[0] if others else f"files that thzsync did not write ({strangers[0]})"


def _make_room(folder: Path, record: Record) -> None:
    for other in (other for other in RECORDS if other.lives_in(folder)):
        remove_pages(folder, other)
        other.remove_from(folder)
    for path in record.found_in(folder):
        raise ThzSyncError(
            f"{path}: was not written by thzsync and would be replaced; name another folder"
        )


def _unfinished(folder: Path) -> str | None:
    try:
        return (folder / UNFINISHED).read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return None


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock the folder itself, so that no lock file can be left behind; refuse if others do."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            os.close(handle)
            raise ThzSyncError(
                f"{folder}: another thzsync is writing there; wait for it, or name another folder"
            ) from None
        # Some network file systems cannot lock a folder; one writer at a time is then up to us.
    try:
        yield
    finally:
        os.close(handle)
