"""Figures that are made of a sweep's contenders: all meet the same realisations.

What is finished is kept under its key and is not done again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeVar

from thzsync.drawing import save_picture
from thzsync.experiments.runs import Tally, execute
from thzsync.files import write_document
from thzsync.paper.figure import Request, Row, facts
from thzsync.studies.result import Sweep, gather
from thzsync.studies.specification import Contender
from thzsync.studies.sweeping import plan_sweep, prepared

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture


@dataclass(frozen=True)
class SweepFigure:
    """A figure whose numbers are a sweep's."""

    sweep: Sweep
    quick: bool = False

    kind: ClassVar[str]
    picture: ClassVar[str]
    """Name of the picture's file."""

    def numbers(self) -> Row:
        """What the document of this figure alone holds."""
        raise NotImplementedError

    def draw(self, document: Row) -> Picture:
        """The figure as a picture."""
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
        target = self.sweep.save(folder)
        document = self.document()
        write_document(target / f"{self.kind}.json", document)
        save_picture(self.draw(document), target / "figures" / f"{self.picture}.svg")
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
