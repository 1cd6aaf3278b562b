"""`thzsync reproduce`: the paper's figures, side by side with ours."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from thzsync.cli.output import JsonOption, emit, progress, results, table

reproduce_app = typer.Typer(
    help="Reproduce the paper's figures side by side.", no_args_is_help=True, add_completion=False
)

QuickOption = Annotated[bool, typer.Option("--quick", help="Fewer seeds and sizes, a first look.")]
WorkersOption = Annotated[
    int | None, typer.Option(min=1, help="Processes; as many as cores when absent.")
]

SYNTHESIS_COLUMNS = (
    "collective",
    "method",
    "racks",
    "stragglers",
    "mean_ms",
    "ci95_ms",
    "bound_ms",
    "paper_ms",
    "deviation_pct",
)
QUICK_SEEDS = 5
QUICK_RACKS = (4, 12)


@reproduce_app.command("synthesis")
def reproduce_synthesis_figure(
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Paired seeds per setting; 30 in the paper.")
    ] = None,
    quick: QuickOption = False,
    workers: WorkersOption = None,
    json: JsonOption = False,
) -> None:
    """Completion time of All-to-All and AllReduce methods on one THz ring."""
    from thzsync.experiments.synthesis import RACKS, SEEDS, ablation_rows, reproduce_synthesis

    count = seeds or (QUICK_SEEDS if quick else SEEDS)
    sizes = QUICK_RACKS if quick else RACKS
    with progress("synthesis", total=None) as advance:

        def show(done: int, total: int) -> None:
            advance(description=f"synthesis: {done} of {total} instances")

        rows = reproduce_synthesis(count, sizes, workers=workers, progress=show)
    ablations = ablation_rows(rows)
    emit(
        {"seeds": count, "rows": rows, "ablations": ablations},
        json,
        lambda: _synthesis_table(rows, count),
    )
    if not json:
        results().print(_ablation_table(ablations))


def _synthesis_table(rows: list[dict[str, Any]], seeds: int) -> Any:
    cells = [
        ["late racks" if name == "stragglers" and row[name] else _plain(row[name]) for name in row]
        for row in rows
    ]
    return table(
        f"Collective synthesis on one THz ring, means of {seeds} seeds",
        SYNTHESIS_COLUMNS,
        cells,
        "ci95: half-width of the 95 % interval; bound: no schedule can be faster; "
        "deviation: ours against the paper",
    )


def _ablation_table(rows: list[dict[str, Any]]) -> Any:
    columns = (
        "collective",
        "stragglers",
        "method",
        "increase_pct",
        "paper_least_pct",
        "paper_most_pct",
    )
    cells = [
        ["late racks" if name == "stragglers" and row[name] else _plain(row[name]) for name in row]
        for row in rows
    ]
    return table("How much slower without a part of Proposed, 12 racks", columns, cells)


def _plain(value: Any) -> Any:
    return "" if value is False else value
