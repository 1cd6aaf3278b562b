"""A deliberate fault, and how it is put into a copy of the sources."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests.mutants.anchor import replaced

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src"


@dataclass(frozen=True)
class Mutant:
    """One change of one function that the named tests must notice."""

    module: str
    """As it is imported."""
    function: str
    """Its qualified name."""
    old: str
    """An expression or statements that the function has exactly once, in any layout."""
    new: str
    tests: tuple[str, ...]
    """Test files, or single tests as ``file::name``."""
    why: str
    """What is wrong with it."""

    @property
    def name(self) -> str:
        """What tables and test reports call it."""
        return f"{self.module}: {self.why}"

    @property
    def file(self) -> str:
        """Where its module is, below the sources."""
        return self.module.replace(".", "/") + ".py"

    @property
    def in_kernels(self) -> bool:
        """Whether its file holds kernels, which would have to be compiled again."""
        return "thzsync.jit import" in self.original and not self.module.startswith("thzsync.jit")

    @cached_property
    def original(self) -> str:
        """The file as it is."""
        return (SOURCES / self.file).read_text("utf-8")

    @property
    def planted(self) -> str:
        """The file with the fault."""
        return replaced(self.original, self.function, self.old, self.new)

    def plant(self, sources: Path) -> None:
        """Put it into a copy of the sources.

        Machine code is stored under time and size of the sources (see ``thzsync.jit``). A file
        without kernels keeps both, so that code of its neighbours need not be compiled again.
        """
        target = sources / self.file
        times = target.stat()
        text = self.planted
        target.write_text(text if self.in_kernels else _as_long_as(self.original, text), "utf-8")
        if not self.in_kernels:
            os.utime(target, ns=(times.st_atime_ns, times.st_mtime_ns))
        for stored in (target.parent / "__pycache__").glob(f"{target.stem}.*.pyc"):
            stored.unlink()


def copy_sources(folder: Path) -> Path:
    """The sources with their stored machine code, in a folder of their own."""
    return Path(shutil.copytree(SOURCES, folder / "src"))


def _as_long_as(original: str, text: str) -> str:
    """The text with blanks at its end, or with a shorter docstring at its beginning."""
    missing = len(original.encode()) - len(text.encode())
    if missing >= 0:
        return text + " " * missing
    return '"""' + text[len('"""') - missing :]
