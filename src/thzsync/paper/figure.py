"""What figures have in common: what is asked of them, what they say, where they are kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from thzsync.arrays import FloatArray
from thzsync.drawing import save_picture
from thzsync.errors import ThzSyncError
from thzsync.experiments.comparison import Comparison
from thzsync.experiments.runs import Tally, execute
from thzsync.experiments.statistics import interval95
from thzsync.files import write_atomically, write_document
from thzsync.records.run import environment
from thzsync.scenario import Scenario
from thzsync.studies.result import Sweep, gather
from thzsync.studies.specification import Contender
from thzsync.studies.sweeping import plan_sweep, prepared

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

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


class Figure:
    """A reproduced figure."""

    kind: ClassVar[str]

    def document(self) -> Row:
        """The figure as plain values."""
        raise NotImplementedError

    def files(self) -> Iterable[tuple[str, bytes]]:
        """Names and contents of what is kept beside the summary."""
        return ()

    def save(self, folder: str | Path) -> Path:
        """Write the summary and the records it was made from."""
        target = Path(folder)
        for name, content in self.files():
            write_atomically(target / name, content)
        write_document(target / f"{self.kind}.json", self.document())
        return target


def intervals(values: Mapping[str, FloatArray]) -> Row:
    """Means over the seeds, each with the half-width of its 95 % interval."""
    row: Row = {}
    for key, of_seeds in values.items():
        row[key], row[f"ci95_{key}"] = interval95(of_seeds)
    return row


def facts(kind: str, scenario: Scenario, quick: bool) -> Row:
    """What the document of every figure says beside its rows."""
    return {
        "kind": kind,
        "quick": quick,
        "scenario": scenario.name,
        "scenario_sha256": scenario.digest,
        "environment": environment(),
    }


@dataclass(frozen=True)
class SweepFigure(Figure):
    """A figure whose numbers are a sweep's: all contenders meet the same realisations."""

    sweep: Sweep
    quick: bool = False

    picture: ClassVar[str]
    """Name of the picture's file."""

    def numbers(self) -> Row:
        """What the document of this figure alone holds."""
        raise NotImplementedError

    @staticmethod
    def draw(document: Row) -> Picture:
        """The picture of a document."""
        raise NotImplementedError

    def document(self) -> Row:
        """The figure as plain values."""
        told = {
            "first_iteration": self.sweep.specification.first,
            "iterations": self.sweep.specification.iterations,
            "failures": list(self.sweep.failures),
            "missing": self.sweep.missing,
        }
        return facts(self.kind, self.sweep.scenario, self.quick) | told | self.numbers()

    def save(self, folder: str | Path) -> Path:
        """Write the summary, the table and the picture."""
        target = super().save(self.sweep.save(folder))
        picture = self.draw(self.document())
        save_picture(picture, target / "figures" / f"{self.picture}.svg")
        return target


Made = TypeVar("Made", bound=SweepFigure)


def run_contenders(figure: type[Made], contenders: Sequence[Contender], request: Request) -> Made:
    """Run what is missing, seed by seed, so that an interruption leaves whole seeds."""
    options = {
        "contenders": [contender.model_dump() for contender in contenders],
        "seeds": list(range(request.seeds)),
        "iterations": request.iterations,
        "first": request.first,
    }
    plan = plan_sweep(request.scenario, options)
    show, before = request.part(figure.kind), 0
    with prepared(plan, request.folder, resume=True) as store:
        for seed in plan.specification.seeds:
            runs = list({run.key: run for run in plan.runs if run.seed == seed}.values())

            def watch(tally: Tally, before: int = before) -> None:
                show(before + tally.done, len(plan.keys))

            execute(runs, store, request.workers, watch=watch)
            before += len(runs)
        return figure(gather(plan, store), request.quick)


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
    present = read_index(folder)
    for name, made in wanted.items():
        if present.get(name) not in (None, made):
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
