"""What figures have in common: what is asked of them, what they say, where they are kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from thzsync.errors import ThzSyncError
from thzsync.experiments.comparison import Comparison
from thzsync.files import write_document
from thzsync.records.run import environment
from thzsync.scenario import Scenario

Row = dict[str, Any]
Progress = Callable[[str, float, int], None]
"""Is told a part, how many of its runs are done, and how many there are."""

CONVERGED: Final = 10
"""First iteration (from 0) of the window over which the paper averages: 11 to 20."""


@dataclass(frozen=True)
class Request:
    """What is asked of a figure."""

    scenario: Scenario
    seeds: int
    iterations: int = 20
    workers: int | None = None
    progress: Progress | None = None
    quick: bool = False
    """Whether it is a first look with fewer seeds, sizes and iterations than the paper's."""
    folder: Path | None = None
    """Where finished runs are kept, and found again."""
    known: Comparison | None = None
    """What an earlier figure has compared."""

    @property
    def first(self) -> int:
        """The first iteration that counts."""
        return first_averaged(self.iterations)

    def part(self, name: str) -> Callable[[float, int], None]:
        """Who is told how far a part of the figure is."""
        return lambda done, total: self.progress(name, done, total) if self.progress else None


def first_averaged(iterations: int) -> int:
    """The first iteration that counts: the paper's, or the second half of a shorter run."""
    return CONVERGED if iterations > CONVERGED else iterations // 2


class Figure(Protocol):
    """A reproduced figure."""

    def document(self) -> Row:
        """The figure as plain values."""
        ...

    def save(self, folder: str | Path) -> Path:
        """Write the figure and the records it was made from."""
        ...


def facts(kind: str, scenario: Scenario, quick: bool) -> Row:
    """What the document of every figure says beside its rows."""
    return {
        "kind": kind,
        "quick": quick,
        "scenario": scenario.name,
        "scenario_sha256": scenario.digest,
        "environment": environment(),
    }


def read_index(folder: str | Path) -> dict[str, Any]:
    """How every part of a reproduction folder was made; nothing of a part of an older version."""
    index = Path(folder) / "reproduce.json"
    if not index.exists():
        return {}
    try:
        document = json.loads(index.read_text("utf-8"))
        return {str(part): document.get("made", {}).get(part) for part in document["parts"]}
    except (AttributeError, OSError, ValueError, KeyError, TypeError):
        raise ThzSyncError(f"{index}: damaged; remove it or name another folder") from None


def made_from(scenario: Scenario, seeds: int, quick: bool) -> dict[str, Any]:
    """What decides the numbers of a part."""
    return {"scenario_sha256": scenario.digest, "seeds": seeds, "quick": quick}


def refuse_other_parts(folder: str | Path, wanted: Mapping[str, Any]) -> None:
    """Refuse to replace parts that were made otherwise; the same ones may be made again."""
    held = read_index(folder)
    for name, made in wanted.items():
        if held.get(name) not in (None, made):
            raise ThzSyncError(
                f"{folder}: holds {name} of other seeds, sizes or another scenario; name another "
                "folder, or replace it with --force"
            )


def add_part(folder: str | Path, name: str, figure: Figure, made: object = None) -> Path:
    """Save a figure in its subfolder and list it in the folder's index."""
    root = Path(folder)
    figure.save(root / name)
    parts = read_index(root) | {name: made}
    write_document(
        root / "reproduce.json", {"kind": "reproduce", "parts": list(parts), "made": parts}
    )
    return root
