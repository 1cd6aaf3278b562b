"""The whole paper in one folder: every figure in a subfolder, and an index."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from thzsync.errors import ThzSyncError
from thzsync.files import write_atomically, write_document
from thzsync.paper.synthesis import ablation_rows, reproduce_synthesis
from thzsync.records.run import environment
from thzsync.scenario import Scenario


class Figure(Protocol):
    """A reproduced figure."""

    def document(self) -> dict[str, Any]:
        """The figure as plain values."""
        ...

    def save(self, folder: str | Path) -> Path:
        """Write the figure and the records it was made from."""
        ...


@dataclass(frozen=True)
class SynthesisFigure:
    """Completion times of all synthesis methods on one ring."""

    scenario: Scenario
    seeds: int
    rows: list[dict[str, Any]]
    quick: bool = False
    """Whether it is a first look with fewer seeds and sizes than the paper's."""

    def document(self) -> dict[str, Any]:
        """The figure as plain values."""
        return {
            "kind": "synthesis",
            "quick": self.quick,
            "scenario": self.scenario.name,
            "scenario_sha256": self.scenario.digest,
            "seeds": self.seeds,
            "rows": self.rows,
            "ablations": ablation_rows(self.rows),
            "environment": environment(),
        }

    def save(self, folder: str | Path) -> Path:
        """Write the rows with the scenario they were made from."""
        target = Path(folder)
        write_atomically(target / "scenario.toml", self.scenario.to_toml().encode())
        write_document(target / "synthesis.json", self.document())
        return target


def synthesis_figure(
    seeds: int, scenario: Scenario | None = None, quick: bool = False, **options: Any
) -> SynthesisFigure:
    """Run the synthesis experiment on its preset, or on a variant of it."""
    setting = scenario or Scenario.preset("single-ring")
    rows = reproduce_synthesis(seeds, scenario=setting, **options)
    return SynthesisFigure(setting, seeds, rows, quick)


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
