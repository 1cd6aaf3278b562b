"""`thzsync reproduce`: the paper's figures, side by side with ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thzsync.cli.meter import watching
from thzsync.cli.output import (
    ForceOption,
    JsonOption,
    SetOption,
    change_scenario,
    note,
    table,
    with_interval,
)
from thzsync.cli.output import show as show_table
from thzsync.files import dump_json
from thzsync.folders import REPRODUCTION, claim_folder

if TYPE_CHECKING:
    from thzsync.experiments.compare import Comparison
    from thzsync.experiments.fabric import FabricFigure
    from thzsync.experiments.reproduction import Figure, SynthesisFigure
    from thzsync.experiments.weights import WeightsFigure
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

FULL_SEEDS = {"synthesis": 30, "fabric": 5, "weights": 5}
QUICK_SEEDS = {"synthesis": 5, "fabric": 1, "weights": 1}
QUICK_RACKS = (4, 12)
QUICK_ITERATIONS = 12

Advance = Callable[[str, int, int], None]


@reproduce_app.command("synthesis")
def reproduce_synthesis(
    seeds: SeedsOption = None,
    quick: QuickOption = False,
    workers: WorkersOption = None,
    changes: SetOption = None,
    out: OutOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Completion time of All-to-All and AllReduce methods on one THz ring."""
    _reproduce(["synthesis"], seeds, quick, workers, changes, out, force, json)


@reproduce_app.command("fabric")
def reproduce_fabric(
    seeds: SeedsOption = None,
    quick: QuickOption = False,
    workers: WorkersOption = None,
    changes: SetOption = None,
    out: OutOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Six policies over 20 iterations of the training trace."""
    _reproduce(["fabric"], seeds, quick, workers, changes, out, force, json)


@reproduce_app.command("weights")
def reproduce_weights(
    seeds: SeedsOption = None,
    quick: QuickOption = False,
    workers: WorkersOption = None,
    changes: SetOption = None,
    out: OutOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """How the reward's weights move THz-SynC between delay and energy."""
    _reproduce(["weights"], seeds, quick, workers, changes, out, force, json)


@reproduce_app.command("all")
def reproduce_all(
    seeds: SeedsOption = None,
    quick: QuickOption = False,
    workers: WorkersOption = None,
    changes: SetOption = None,
    out: OutOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Every figure; what is finished is kept if you stop early."""
    _reproduce(["synthesis", "fabric", "weights"], seeds, quick, workers, changes, out, force, json)


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
    from thzsync.experiments.reproduction import add_part
    from thzsync.studies.execution import Tally

    settings = {name: change_scenario(_preset(name), changes) for name in names}
    documents = {}
    with claim_folder(out, REPRODUCTION, force):
        for name in names:
            count = seeds or (QUICK_SEEDS if quick else FULL_SEEDS)[name]
            with watching(name) as watch:

                def show(part: str, done: int, total: int, watch: Any = watch) -> None:
                    watch(Tally(done, total, part=part))

                figure, tables = _figure(name, count, quick, workers, settings[name], show, out)
            documents[name] = figure.document()
            if out is not None:
                note(f"{name} written to {add_part(out, name, figure)}")
            if not as_json:
                for made in tables:
                    show_table(made)
    if as_json:
        typer.echo(dump_json(documents if len(names) > 1 else documents[names[0]]))


def _preset(figure: str) -> Scenario:
    from thzsync.scenario import Scenario

    return Scenario.preset("single-ring" if figure == "synthesis" else "paper")


def _figure(
    name: str,
    seeds: int,
    quick: bool,
    workers: int | None,
    setting: Scenario,
    show: Advance,
    out: str | None,
) -> tuple[Figure, list[Any]]:
    iterations = QUICK_ITERATIONS if quick else 20
    if name == "synthesis":
        from thzsync.experiments.reproduction import synthesis_figure

        sizes = {"racks": QUICK_RACKS} if quick else {}
        synthesis = synthesis_figure(
            seeds, setting, workers=workers, progress=lambda d, t: show(name, d, t), **sizes
        )
        return synthesis, _synthesis_tables(synthesis)
    if name == "fabric":
        from thzsync.experiments.fabric import reproduce_fabric as run_fabric

        def rescue(partial: Comparison) -> None:
            if out is not None:  # readable as a comparison until the figure takes its place
                partial.save(f"{out}/fabric")

        fabric = run_fabric(seeds, iterations, workers, setting, show, quick, rescue)
        return fabric, _fabric_tables(fabric)
    from thzsync.experiments.weights import reproduce_weights as run_weights

    weights = run_weights(seeds, iterations, workers, setting, show)
    return weights, [_weights_table(weights)]


def _synthesis_tables(figure: SynthesisFigure) -> list[Any]:
    document = figure.document()
    title = f"Collective synthesis on one THz ring, means of {figure.seeds} seeds"
    caption = (
        "ci95: half-width of the 95 % interval; bound: no schedule can be faster; "
        "deviation: ours against the paper"
    )
    ablations = "How much slower without a part of Proposed, 12 racks"
    return [
        _rows_table(title, document["rows"], caption),
        _rows_table(ablations, document["ablations"]),
    ]


def _rows_table(title: str, rows: list[dict[str, Any]], caption: str | None = None) -> Any:
    cells = [
        [
            "late racks" if value is True else "" if value is False else value
            for value in row.values()
        ]
        for row in rows
    ]
    return table(title, list(rows[0]) if rows else [], cells, caption)


def _fabric_tables(figure: FabricFigure) -> list[Any]:
    rows = []
    for row in figure.rows():
        cells: list[object] = [row["policy"]]
        for metric in ("completion_ms", "energy_j", "reward"):
            cells += [with_interval(row, metric), row[f"paper_{metric}"]]
        rows.append([*cells, f"{row['oracle_gap_pct']:+.1f} %"])
    comparison = figure.comparison
    oracle = figure.oracle
    choices = ", ".join(
        f"{kind} {share:.0%} on THz at {power:.0%} power"
        for kind, (share, power) in oracle.choices.items()
    )
    foresight = ""
    if oracle.per_event is not None:
        foresight = (
            f"; in one iteration it scores {oracle.per_event['fixed']:.3f}, and deciding every "
            f"event by its true outcome {oracle.per_event['lookahead']:.3f}"
        )
    columns = ["policy", "completion_ms", "paper", "energy_j", "paper", "reward", "paper", "regret"]
    main = table(
        f"Iterations {figure.first + 1} on, {len(comparison.seeds)} paired seeds",
        columns,
        rows,
        f"regret: reward below the best fixed choice per type in hindsight, which reaches "
        f"{oracle.completion_ms:.0f} ms, {oracle.energy_j:.2f} J, reward {oracle.reward:.3f} "
        f"({choices}){foresight}",
    )
    gains = [
        [g["policy"], with_interval(g, "gain_pct", ".1f"), g["paper_pct"]] for g in figure.gains()
    ]
    claims = [[claim, "holds" if holds else "does not hold"] for claim, holds in figure.claims()]
    return [
        main,
        table("THz-SynC's collectives complete earlier, in %", ["than", "ours", "paper"], gains),
        table("What the paper's text claims of THz-SynC, paired over seeds", ["claim", ""], claims),
    ]


def _weights_table(figure: WeightsFigure) -> Any:
    rows = [
        [
            f"{row['time_weight']:g} / {row['energy_weight']:g}",
            with_interval(row, "completion_ms"),
            row["paper_completion_ms"],
            with_interval(row, "energy_j"),
            row["paper_energy_j"],
        ]
        for row in figure.rows()
    ]
    columns = ["time / energy weight", "completion_ms", "paper", "energy_j", "paper"]
    return table("THz-SynC at other reward weights, last iterations", columns, rows)
