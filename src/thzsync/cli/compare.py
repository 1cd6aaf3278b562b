"""`thzsync compare`: policies in the same realisations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from thzsync.cli import output
from thzsync.cli.announcement import BEYOND_TOLERANCE, announce, tell_fidelity
from thzsync.cli.meter import watching
from thzsync.display import Column, Interval, Table, counted, signed
from thzsync.display.labels import policy_name
from thzsync.display.metrics import COMPLETION, ENERGY, EXPOSED, MAKESPAN, REWARD
from thzsync.display.table import Value
from thzsync.display.terminal import TerminalTable
from thzsync.errors import ThzSyncError, interrupted
from thzsync.folders import COMPARISON, claim_folder, refuse_folder

if TYPE_CHECKING:
    from thzsync.experiments.compare import Comparison
    from thzsync.experiments.runs import Task
    from thzsync.experiments.store import Store

COMPARED = (MAKESPAN, COMPLETION, ENERGY, REWARD, EXPOSED)
"""What is printed of every policy; the last are the first to go on a narrow terminal."""


def compare(
    scenario: output.ScenarioArgument = "paper",
    policies: Annotated[str, Option(help=output.POLICIES_HELP)] = "all",
    seeds: Annotated[int, Option(min=1, help=output.SEEDS_HELP)] = 5,
    iterations: output.IterationsOption = 20,
    first: Annotated[int, Option(min=0, help=output.FIRST_HELP)] = 0,
    workers: output.WorkersOption = None,
    scheduler: output.SchedulerOption = None,
    changes: output.SetOption = None,
    pipelined: output.PipelinedOption = False,
    overlay: output.OverlayOption = None,
    out: output.OutOption = None,
    force: output.ForceOption = False,
    json: output.JsonOption = False,
) -> None:
    """Compare policies in the same realisations: whose iterations are shorter, and how surely.

    Differences are paired by seed and have 95 % intervals. Exit status 3 means that flow fidelity
    differs from packets by more than the tolerance.
    """
    from thzsync.experiments.compare import comparison_of, tasks_of, whole_seeds
    from thzsync.experiments.policies import given_policies
    from thzsync.experiments.store import Store
    from thzsync.records.certificate import warn_beyond

    refuse_folder(out, COMPARISON, force)
    setting = output.load_scenario(scenario, changes, output.all_overlays(pipelined, overlay))
    if first >= iterations:
        raise ThzSyncError(f"--first: found {first}; use less than --iterations ({iterations})")
    given = given_policies(output.policies_named(policies))
    tasks, store = tasks_of(setting, given, range(seeds), iterations), Store()

    def rescue() -> None:
        if out is not None and whole_seeds(tasks, store):
            partial = comparison_of(tasks, store)
            output.note(f"finished seeds written to {partial.save(out, partial.document(first))}")

    with claim_folder(out, COMPARISON, force):
        carry_out("compare", tasks, store, workers, scheduler, rescue)
        result = comparison_of(tasks, store)
        document = result.document(first)
        if out is not None:
            result.save(out, document)
            output.note(f"comparison written to {out}")
    for failure in result.failures:
        output.note(f"failed: {failure['policy']}, seed {failure['seed']}: {failure['error']}")
    output.emit(document, json, lambda: _table(result, document))
    warn_beyond(result.fidelity)
    if tell_fidelity(result.fidelity, setting):
        raise typer.Exit(BEYOND_TOLERANCE)


def carry_out(
    what: str,
    tasks: Sequence[Task],
    store: Store,
    workers: int | None,
    scheduler: str | None,
    rescue: Callable[[], None],
) -> None:
    """Do what a store does not hold and show how far it is; if interrupted, call ``rescue``."""
    from thzsync.experiments.runs import execute

    if scheduler is None:
        announce(tasks, workers, store)
    try:
        with watching(what) as watch:
            execute(tasks, store, workers, scheduler, watch)
    except BaseException as error:
        if interrupted(error):
            rescue()
        raise


def _table(result: Comparison, document: dict[str, Any]) -> TerminalTable:
    from thzsync.assumptions import assumptions
    from thzsync.experiments.statistics import paired_pct

    first, reference = document["first_iteration"], document["against"]
    columns = [
        Column("Policy", left=True),
        Column(output.against(reference), "%", show=signed),
        *(Column(m.short, m.unit, priority=k) for k, m in enumerate(COMPARED)),
    ]
    theirs = result.seed_means(reference, MAKESPAN.key, first)
    rows: list[list[Value]] = []
    for row in document["rows"]:
        ours = result.seed_means(row["policy"], MAKESPAN.key, first)
        paired = None if row["policy"] == reference else Interval(*paired_pct(ours, theirs))
        rows.append(
            [
                policy_name(row),
                paired,
                *(Interval(row[m.key], row[f"ci95_{m.key}"]) for m in COMPARED),
            ]
        )
    title = f"{result.scenario.name}: {counted(len(result.seeds), 'paired seed')}, mean ± 95 %"
    caption = (
        "The difference is that of iteration times in the same seeds; below 0 is faster. "
        f"Fibre: {assumptions(result.scenario)['Fibre']}."
    )
    return TerminalTable(Table(title, tuple(columns), rows, caption))
