"""A deliberate fault, and how it is put into a copy of the sources."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src"
PACKAGE = SOURCES / "thzsync"


@dataclass(frozen=True)
class Mutant:
    """One change of one file that the named tests must notice."""

    file: str
    """Below ``src/thzsync``."""
    old: str
    """Text that stands in the file exactly once."""
    new: str
    tests: tuple[str, ...]
    """Test files, or single tests as ``file::name``."""
    why: str
    """What is wrong with it."""

    @property
    def name(self) -> str:
        """What tables and test reports call it."""
        return f"{self.file}: {self.why}"

    @property
    def in_kernels(self) -> bool:
        """Whether its file holds kernels, which would have to be compiled again."""
        return "from thzsync.jit import" in self.original and not self.file.startswith("jit/")

    @property
    def original(self) -> str:
        """The file as it is."""
        return (PACKAGE / self.file).read_text("utf-8")

    def plant(self, sources: Path) -> None:
        """Put it into a copy of the sources.

        Machine code is stored under time and size of the sources (see ``thzsync.jit``). A file
        without kernels keeps both, so that code of its neighbours need not be compiled again.
        """
        if self.original.count(self.old) != 1:
            raise ValueError(f"{self.name}: its old text must stand in the file exactly once")
        target = sources / "thzsync" / self.file
        times = target.stat()
        text = self.original.replace(self.old, self.new)
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
