"""Importers by name. Each reads one format, and packages may add their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol, runtime_checkable

from thzsync.errors import ThzSyncError
from thzsync.importers.bounded import read_head
from thzsync.importers.ranks import Recording
from thzsync.registry import Registry

ENTRY_POINTS: Final = "thzsync.importers"
"""Entry-point group whose objects are :class:`Importer` instances."""


DEFAULT_FLOPS: Final = 989e12 * 0.4
"""Peak of an accelerator times the achieved share, as for built-in models [FLOP/s]."""


@dataclass(frozen=True)
class ReadOptions:
    """Options for reading files."""

    groups: Path | None = None
    """A file with the ranks of every group: {"name": [ranks]}."""
    world: int | None = None
    """Ranks of the job; a rank without a file does the same as the lowest rank with one."""
    element_bytes: int | None = None
    """Bytes per element, if sizes count elements; from the format when absent."""
    flops: float = DEFAULT_FLOPS
    """Speed of a rank, if a trace counts operations instead of time [FLOP/s]."""
    step: int | None = None
    """Training step of a file with several; all, or the median one, when absent."""
    skip_empty: bool = False
    """Skip collectives and messages without bytes instead of refusing them."""
    model: str | None = None
    """Built-in model that gives byte sizes if the trace has none."""
    p2p_bytes: int | None = None
    """Bytes from stage to stage per micro-batch, if the trace has none."""
    gradient_bytes: int | None = None
    """Gradients of one stage, if the trace has none [bytes]."""


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


def register_importer(importer: Importer) -> Importer:
    """Register an importer by its name, for this process."""
    return IMPORTERS.register(importer)


def _built_in() -> tuple[Importer, ...]:
    from thzsync.importers.chakra import ChakraImporter
    from thzsync.importers.kineto.importer import KinetoImporter
    from thzsync.importers.simai import SimAiImporter
    from thzsync.importers.timings import TimingsImporter

    # in the order in which ``auto`` tries them
    return TimingsImporter(), KinetoImporter(), SimAiImporter(), ChakraImporter()


def _check(thing: Any, place: str) -> None:
    if not isinstance(thing, Importer):
        raise ThzSyncError(
            f"{place}: found {type(thing).__name__}; give a thzsync.importers.Importer"
        )


IMPORTERS: Final = Registry("importer", ENTRY_POINTS, _built_in, _check, lambda i: i.name)


def importer_names() -> list[str]:
    """Names of all importers, built-in ones first."""
    return list(IMPORTERS.known())


def find_importer(name: str, paths: Sequence[Path]) -> Importer:
    """The importer of this name; ``auto`` is the one that recognises the first file."""
    if name != "auto":
        if name not in IMPORTERS.known():
            names = ", ".join(["auto", *importer_names()])
            raise ThzSyncError(f"--format: there is no importer {name!r}; use one of {names}")
        return IMPORTERS.known()[name]
    if not paths:
        raise ThzSyncError("no trace given; name the files of all ranks")
    for path in paths:
        head = read_head(path)
        for importer in IMPORTERS.known().values():
            if importer.recognises(path, head):
                return importer
    raise ThzSyncError(
        f"{paths[0]}: not a format that thzsync knows; name it with --format "
        f"({', '.join(importer_names())})"
    )
