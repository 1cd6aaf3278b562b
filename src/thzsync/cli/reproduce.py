"""`thzsync reproduce`: the paper's figures, side by side with ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from thzsync.cli.announcement import announcement, next_step
from thzsync.cli.meter import watching
from thzsync.cli.output import (
    ForceOption,
    JsonOption,
    SetOption,
    change_scenario,
    note,
    prepare_kernels,
    tell,
)
from thzsync.cli.output import show as show_table
from thzsync.display.terminal import TerminalTable
from thzsync.files import dump_json
from thzsync.folders import REPRODUCTION, claim_folder

if TYPE_CHECKING:
    from thzsync.display import Table
    from thzsync.experiments.compare import Comparison
    from thzsync.paper.figure import Figure
    from thzsync.scenario import Scenario

reproduce_app = typer.Typer(
    help="Reproduce the paper's figures side by side.", no_args_is_help=True, add_completion=False
)

QuickOption = Annotated[
    bool, typer.Option("--quick", help="Fewer seeds, sizes and iterations: a first look.")
]
SeedsOption = Annotated[
    int | None, typer.Option(min=1, help="Paired seeds; as in the paper when absent.")
]
WorkersOption = Annotated[
    int | None, typer.Option(min=1, help="Processes; as many as cores when absent.")
]
OutOption = Annotated[
    str | None, typer.Option(metavar="DIR", help="Where to write results for `thzsync report`.")
]

FULL_SEEDS = {
    "synthesis": 30, "fabric": 5, "weights": 5, "ladder": 5, "beyond": 5, "readings": 2,
}  # fmt: skip
QUICK_SEEDS = {
    "synthesis": 5, "fabric": 3, "weights": 3, "ladder": 1, "beyond": 1, "readings": 1,
}  # fmt: skip
QUICK_RACKS = (4, 12)
QUICK_ITERATIONS = 6

Advance = Callable[[str, float, int], None]
Document = dict[str, Any]


COMMANDS: Final = {
    "synthesis": "Completion time of All-to-All and AllReduce methods on one THz ring.",
    "fabric": "The policies over 20 iterations of the training trace.",
    "weights": "How the reward's weights move THz-SynC between delay and energy.",
    "ladder": "From the paper's coordinator to ours, one departure at a time; goes on where it "
    "stopped.",
    "beyond": "Delay and energy: published, the paper's mechanisms well learnt, and ours.",
    "readings": "Which readings of the paper come nearest to all its numbers; goes on where it "
    "stopped.",
    "all": "Every figure (quick: without ladder and readings); what is finished is kept if you "
    "stop early.",
}
"""What can be reproduced; all of them take the same options."""


def _add_command(name: str, summary: str) -> None:
    def command(
        seeds: SeedsOption = None,
        quick: QuickOption = False,
        workers: WorkersOption = None,
        changes: SetOption = None,
        out: OutOption = None,
        force: ForceOption = False,
        json: JsonOption = False,
    ) -> None:
        names = [name]
        if name == "all":
            names = ["synthesis", "fabric", "weights", *([] if quick else ["ladder", "readings"])]
        _reproduce(names, seeds, quick, workers, changes, out, force, json)

    reproduce_app.command(name, help=summary)(command)


for _name, _summary in COMMANDS.items():
    _add_command(_name, _summary)


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
    from thzsync.paper.fabric import FabricFigure
    from thzsync.paper.figure import add_part, made_from, refuse_other_parts
    from thzsync.report.story import STORIES
    from thzsync.report.tables import marked
    from thzsync.studies.execution import Tally
    from thzsync.workers import one_team

    settings = {name: change_scenario(_preset(name), changes) for name in names}
    documents, known = {}, None
    usual = QUICK_SEEDS if quick else FULL_SEEDS
    counts = {name: seeds or usual[name] for name in names}
    origins = {name: made_from(settings[name], counts[name], quick) for name in names}
    if out is not None and not force:
        refuse_other_parts(out, origins)
    with claim_folder(out, REPRODUCTION, force, extend=True), one_team():
        note(announcement(counts, quick, workers))
        prepare_kernels(workers)
        for name, count in counts.items():
            with watching(name) as watch:

                def show(part: str, done: float, total: int, watch: Any = watch) -> None:
                    watch(Tally(done, total, part=part))

                figure = _figure(name, count, quick, workers, settings[name], show, out, known)
            known = figure.comparison if isinstance(figure, FabricFigure) else known
            documents[name] = figure.document()
            if out is not None:
                note(f"{name} written to {add_part(out, name, figure, origins[name])}")
            if not as_json:
                for made in TABLES[name](documents[name]):
                    show_table(TerminalTable(marked(made, quick)))
    if as_json:
        typer.echo(dump_json(documents if len(names) > 1 else documents[names[0]]))
        return
    for name in names:
        tell(STORIES[name](documents[name]))
    note(next_step(quick, out))


def _preset(figure: str) -> Scenario:
    from thzsync.scenario import Scenario

    presets = {"synthesis": "single-ring", "beyond": "beyond"}
    return Scenario.preset(presets.get(figure, "paper"))


def _figure(
    name: str,
    seeds: int,
    quick: bool,
    workers: int | None,
    setting: Scenario,
    show: Advance,
    out: str | None,
    known: Comparison | None,
) -> Figure:
    """Make one figure; ``known`` is what an earlier one has compared."""
    iterations = QUICK_ITERATIONS if quick else 20
    if name == "synthesis":
        from thzsync.paper.figure import synthesis_figure

        sizes: dict[str, Any] = {"racks": QUICK_RACKS} if quick else {}
        return synthesis_figure(
            seeds, setting, quick, workers=workers, progress=lambda d, t: show(name, d, t), **sizes
        )
    if name == "fabric":
        from thzsync.paper.fabric import reproduce_fabric as run_fabric

        def rescue(partial: Comparison) -> None:
            if out is not None:  # readable as a comparison until the figure takes its place
                partial.save(f"{out}/fabric")

        return run_fabric(seeds, iterations, workers, setting, show, quick, rescue)
    if name == "beyond":
        from thzsync.paper.beyond import reproduce_beyond as run_beyond

        place = None if out is None else f"{out}/beyond"
        return run_beyond(seeds, iterations, workers, setting, show, quick, place)
    if name == "readings":
        from thzsync.paper.reading_figure import reproduce_readings as run_readings

        place = None if out is None else f"{out}/readings"
        return run_readings(seeds, iterations, workers, setting, show, quick, place)
    if name == "ladder":
        from thzsync.paper.ladder import reproduce_ladder as run_ladder

        place = None if out is None else f"{out}/ladder"
        return run_ladder(seeds, iterations, workers, setting, show, quick, place)
    from thzsync.paper.weights import reproduce_weights as run_weights

    return run_weights(seeds, iterations, workers, setting, show, quick, known)


def _synthesis_tables(document: Document) -> list[Table]:
    from thzsync.paper import synthesis_tables

    title = f"Collective synthesis on one THz ring, means of {document['seeds']} seeds, ± 95 %"
    caption = "bound: no schedule can be faster; deviation: ours against the paper"
    return [
        synthesis_tables.synthesis(document["rows"], title, caption),
        synthesis_tables.ablations(document["ablations"], "slower than Proposed, 12 racks"),
    ]


def _fabric_tables(document: Document) -> list[Table]:
    from thzsync.paper import tables

    first, seeds = document["first_iteration"] + 1, len(document["seeds"])
    window = f"Means from iteration {first} on, ± 95 %, {seeds} paired seeds; {_oracle(document)}"
    keys = tables.policy_keys(deviation=False)
    return [
        tables.policies(document["rows"], window).only(
            *keys, "makespan_ms", "exposed_ms", "regret"
        ),
        tables.choices(document["oracle"]["choices"]),
        tables.regrets(document),
        tables.gains(document["gains"]),
        tables.claims(document["claims"].items(), seeds),
    ]


def _oracle(document: Document) -> str:
    best = document["oracle"]
    text = (
        f"regret: reward below the best fixed choice per type in hindsight, which reaches "
        f"{best['completion_ms']:.0f} ms, {best['energy_j']:.2f} J, reward {best['reward']:.3f}"
    )
    single = best.get("per_event")
    if single is None:
        return text
    return text + (
        f"; in one iteration it scores {single['fixed']:.3f}, and deciding every event by its "
        f"true outcome {single['lookahead']:.3f}"
    )


def _weights_tables(document: Document) -> list[Table]:
    from thzsync.paper import tables

    return [tables.weights(document["rows"])]


def _beyond_tables(document: Document) -> list[Table]:
    from thzsync.paper import tables

    return [
        tables.beyond(document["rows"]),
        tables.claims(document["claims"].items(), len(document["seeds"])),
    ]


def _ladder_tables(document: Document) -> list[Table]:
    from thzsync.paper import letter_tables

    return [letter_tables.ladder(document)]


def _readings_tables(document: Document) -> list[Table]:
    from thzsync.paper.letter_tables import reading_numbers, readings

    return [readings(document), reading_numbers(document)]


TABLES: Final = {
    "synthesis": _synthesis_tables,
    "fabric": _fabric_tables,
    "weights": _weights_tables,
    "beyond": _beyond_tables,
    "ladder": _ladder_tables,
    "readings": _readings_tables,
}
"""What is printed of each figure's document."""
