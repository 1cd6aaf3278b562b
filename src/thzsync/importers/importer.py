"""Importers by name. Each reads one format, and packages may add their own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final, Protocol, runtime_checkable

from thzsync.errors import ThzSyncError
from thzsync.importers.bounded import read_head
from thzsync.importers.options import ReadOptions
from thzsync.importers.ranks import Recording

ENTRY_POINTS: Final = "thzsync.importers"
"""Entry-point group whose objects are :class:`Importer` instances."""


@runtime_checkable
class Importer(Protocol):
    """A format of traces."""

    name: str
    """Name for ``--format``."""
    title: str
    """Name for people."""

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether a file that begins with ``head`` (unpacked) is of this format."""

    def read(self, paths: Sequence[Path], options: ReadOptions) -> Recording:
        """The contents of the files; a wrong file raises ThzSyncError."""


_added: dict[str, Importer] = {}


def register_importer(importer: Importer) -> Importer:
    """Register an importer by its name, for this process."""
    if _importers().get(importer.name, importer) is not importer:
        raise ThzSyncError(f"importer {importer.name!r} exists already; choose another name")
    _added[importer.name] = importer
    _importers.cache_clear()
    return importer


@cache
def _importers() -> dict[str, Importer]:
    from importlib.metadata import entry_points

    from thzsync.importers.catalogue import BUILT_IN

    found: dict[str, Importer] = {i.name: i for i in BUILT_IN}
    for entry in entry_points(group=ENTRY_POINTS):
        importer = entry.load()
        if not isinstance(importer, Importer) or importer.name in found:
            raise ThzSyncError(
                f"entry point {entry.name!r} of {ENTRY_POINTS}: it must name a new "
                "thzsync.importers.Importer"
            )
        found[importer.name] = importer
    return found | _added


def importer_names() -> list[str]:
    """Names of all importers, built-in ones first."""
    return list(_importers())


def find_importer(name: str, paths: Sequence[Path]) -> Importer:
    """The importer of this name; ``auto`` is the one that recognises the first file."""
    if name == "auto":
        return _sniffed(paths)
    importer = _importers().get(name)
    if importer is None:
        names = ", ".join(["auto", *importer_names()])
        raise ThzSyncError(f"--format: there is no importer {name!r}; use one of {names}")
    return importer


def _sniffed(paths: Sequence[Path]) -> Importer:
    if not paths:
        raise ThzSyncError("no trace given; name the files of all ranks")
    for path in paths:
        head = read_head(path)
        for importer in _importers().values():
            if importer.recognises(path, head):
                return importer
    raise ThzSyncError(
        f"{paths[0]}: not a format that thzsync knows; name it with --format "
        f"({', '.join(importer_names())})"
    )
