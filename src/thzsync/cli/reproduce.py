"""`thzsync reproduce`: the paper's figures, side by side with ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

import typer
from typer import Option

from thzsync.cli import output
from thzsync.cli.announcement import announcement, next_step
from thzsync.cli.meter import watching
from thzsync.display.terminal import TerminalTable
from thzsync.files import dump_json
from thzsync.folders import REPRODUCTION, claim_folder
from thzsync.paper.catalogue import FIGURES, QUICK_ITERATIONS, all_figures, reproduce, seeds_of

reproduce_app = typer.Typer(
    help="Reproduce the paper's figures side by side.", no_args_is_help=True, add_completion=False
)
ALIASES: Final = {"ablation": "ladder", "interpretations": "readings"}
"""Names in the field's words, and those that folders and documents have."""


def _add_command(name: str, summary: str) -> None:
    def command(
        seeds: Annotated[
            int | None, Option(min=1, help="Paired seeds. Default: as in the paper.")
        ] = None,
        quick: Annotated[
            bool, Option("--quick", help="Fewer seeds, sizes and iterations: a first look.")
        ] = False,
        workers: output.WorkersOption = None,
        changes: output.SetOption = None,
        out: output.OutOption = None,
        force: output.ForceOption = False,
        json: output.JsonOption = False,
    ) -> None:
        names = all_figures(quick) if name == "all" else [ALIASES.get(name, name)]
        _reproduce(names, seeds, quick, workers, changes, out, force, json)

    reproduce_app.command(name, help=summary, hidden=name in ALIASES.values())(command)


for _name, _figure in FIGURES.items():
    _add_command(_name, _figure.summary)
for _name, _old in ALIASES.items():
    _add_command(_name, FIGURES[_old].summary)
_add_command(
    "all",
    "Every figure (quick: without ablation and interpretations). Finished figures are kept if you "
    "stop early.",
)


def _reproduce(
    names: list[str],
    seeds: int | None,
    quick: bool,
    workers: int | None,
    changes: list[str] | None,
    out: str | None,
    force: bool,
    as_json: bool,
) -> None:
    from thzsync.experiments.runs import Tally
    from thzsync.paper.fabric import FabricFigure
    from thzsync.paper.figure import Request, add_part, made_from, refuse_other_parts
    from thzsync.paper.printed import PRINTED
    from thzsync.report.story import STORIES
    from thzsync.report.tables import marked
    from thzsync.scenario import Scenario
    from thzsync.workers import one_team

    settings = {
        name: output.change_scenario(Scenario.preset(FIGURES[name].preset), changes)
        for name in names
    }
    counts = {name: seeds or seeds_of(name, quick) for name in names}
    documents, known = {}, None
    origins = {name: made_from(settings[name], counts[name], quick) for name in names}
    if out is not None and not force:
        refuse_other_parts(out, origins)
    with claim_folder(out, REPRODUCTION, force, extend=True), one_team():
        output.note(announcement(counts, quick, workers))
        output.prepare_kernels(workers)
        for name, count in counts.items():
            with watching(name) as watch:

                def progress(part: str, done: float, total: int, watch: Any = watch) -> None:
                    watch(Tally(done, total, part=part))

                folder = None if out is None else Path(out) / name
                iterations = QUICK_ITERATIONS if quick else 20
                asked = (settings[name], count, iterations, workers, progress, quick)
                figure = reproduce(name, Request(*asked, folder, known))
            known = figure.comparison if isinstance(figure, FabricFigure) else known
            documents[name] = figure.document()
            if out is not None:  # its tables are on the page that `thzsync report` writes
                output.note(f"{name} written to {add_part(out, name, figure, origins[name])}")
            elif not as_json:
                for made in PRINTED[name](documents[name]):
                    output.show(TerminalTable(marked(made, quick)))
    if as_json:
        typer.echo(dump_json(documents if len(names) > 1 else documents[names[0]]))
        return
    for name in names:
        output.tell(STORIES[name](documents[name]))
    output.note(next_step(quick, out))
