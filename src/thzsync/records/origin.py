"""Which version began a run in progress, and what is said where this one cannot go on with it.

A file that another version would have written otherwise looks like a damaged one. What is on disk
tells them apart: the version that the beginning names, and the names of files, which have changed
under one version number while that version was being made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from thzsync.errors import ThzSyncError
from thzsync.version import __version__


class StartedElsewhere(ThzSyncError):
    """Another version began a run, and this one cannot go on with it."""

    @classmethod
    def because(cls, folder: Path, version: str, reason: str) -> StartedElsewhere:
        """With the remedy, as for every error; ``version`` began the run."""
        who = "another version of thzsync"
        if version != __version__:
            who = f"thzsync {version}, and this is {__version__}"
        return cls(
            f"{folder}: was begun by {who} ({reason}); go on with that version, or begin anew "
            f"with `thzsync run ... --out {folder} --force`"
        )


def version_of(document: Mapping[str, Any]) -> str:
    """The version that wrote a document, as its environment says; this one if it says nothing."""
    environment = document.get("environment")
    told = environment.get("thzsync") if isinstance(environment, dict) else None
    return told if isinstance(told, str) else __version__


@contextmanager
def blaming(folder: Path, version: str) -> Iterator[None]:
    """Let errors name the version that began a run, if it is another, and not damage alone."""
    try:
        yield
    except StartedElsewhere:
        raise
    except ThzSyncError as error:
        if version == __version__:
            raise
        found = error.lines[0].removeprefix(f"{folder}: ")
        what, _, _remedy = found.rpartition("; ")
        raise StartedElsewhere.because(folder, version, what or found) from None
