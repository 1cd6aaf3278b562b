"""`thzsync run` and `thzsync compare`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from thzsync.cli.output import (
    JsonOption,
    ScenarioArgument,
    SeedOption,
    emit,
    load_scenario,
    note,
    progress,
    table,
    with_interval,
)
from thzsync.display import Column, signed, sparkline
from thzsync.errors import ThzSyncError
from thzsync.files import prepare_folder

if TYPE_CHECKING:
    from thzsync.display.terminal import TerminalTable
    from thzsync.experiments.compare import Comparison
    from thzsync.simulation import Run
    from thzsync.simulation.metrics import Progress

POLICIES = ("thz-sync", "shared-bandit", "ddqn", "fixed-ratio", "all-wired", "all-wireless")
COLUMNS = (
    "completion_ms",
    "energy_j",
    "optical_energy_j",
    "thz_energy_j",
    "reward",
    "makespan_ms",
    "thz_share",
)
SPLIT_COLUMNS = ("thz_energy_j", "optical_energy_j")
"""Parts of another column: the first to go on a narrow terminal."""

IterationsOption = Annotated[int, typer.Option(min=1, help="Training iterations to simulate.")]
OutOption = Annotated[str | None, typer.Option(metavar="DIR", help="Where to write the record.")]


def run(
    scenario: ScenarioArgument = "paper",
    policy: Annotated[str, typer.Option(help=f"Who decides: {', '.join(POLICIES)}.")] = "thz-sync",
    iterations: IterationsOption = 20,
    seed: SeedOption = 0,
    out: OutOption = None,
    trace: Annotated[
        str | None,
        typer.Option(
            "--trace", metavar="FILE", help="Replay this trace as the scenario's only job."
        ),
    ] = None,
    load: Annotated[
        str | None, typer.Option("--from", metavar="FILE", help="Start from a saved coordinator.")
    ] = None,
    frozen: Annotated[
        bool, typer.Option("--frozen", help="With --from: decide without learning or exploring.")
    ] = False,
    save: Annotated[
        str | None, typer.Option("--save", metavar="FILE", help="Save the trained coordinator.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Simulate training iterations under one policy.

    Ctrl-C ends the run after the last finished iteration; what is finished is kept.
    """
    from thzsync.coordinator import Policy, make_policy
    from thzsync.simulation import simulate
    from thzsync.streams import Streams

    setting = load_scenario(scenario)
    if trace is not None:
        from thzsync.scenario import Job

        setting = setting.model_copy(update={"jobs": (Job(trace=trace),)})
    if out is not None:
        prepare_folder(out)
    if load is None and frozen:
        raise ThzSyncError("--frozen: give the coordinator to deploy with --from FILE")
    chosen: Policy
    if load is None:
        chosen = make_policy(policy, setting, Streams(seed))
    else:
        from thzsync.coordinator.saved import load_policy

        chosen = load_policy(load, setting, Streams(seed), frozen=frozen, expected=policy)
    keep = getattr(chosen, "save", None)
    if save is not None and keep is None:
        raise ThzSyncError(f"--save: policy {policy} learns nothing that could be saved")
    with progress(f"{policy}: first iteration", total=iterations) as advance:

        def show(done: Progress) -> None:
            advance(
                description=f"{policy}: {done.completion_ms:.0f} ms, {done.energy_j:.2f} J, "
                f"reward {done.reward:.3f}"
            )

        record = simulate(setting, chosen, iterations, seed, progress=show, keep_partial=True)
    if out is not None:
        note(f"record written to {record.save(out)}")
    if save is not None and keep is not None:
        keep(save)
    emit(_run_document(record), json, lambda: _run_table(record))
    if record.iterations.height < iterations:
        note(f"interrupted after {record.iterations.height} of {iterations} iterations")
        raise typer.Exit(130)


def _run_document(record: Run) -> dict[str, Any]:
    rows = record.iterations.select("iteration", *COLUMNS).to_dicts()
    means = {name: record.summary[name] for name in COLUMNS}
    return record.provenance() | {"rows": rows, "mean": means}


def _run_table(record: Run) -> TerminalTable:
    rows = [
        list(row.values()) for row in record.iterations.select("iteration", *COLUMNS).to_dicts()
    ]
    rows.append(["mean", *(record.summary[name] for name in COLUMNS)])
    title = f"{record.policy} on {record.scenario.name}, seed {record.seed}"
    rewards = record.iterations["reward"].to_list()
    caption = f"reward by iteration {sparkline(rewards)}" if len(rewards) > 1 else None
    return table(title, ["iteration", *COLUMNS], rows, caption, SPLIT_COLUMNS)


def compare(
    scenario: ScenarioArgument = "paper",
    policies: Annotated[
        str, typer.Option(help="Names separated by commas, or all; the first is the reference.")
    ] = "all",
    seeds: Annotated[int, typer.Option(min=1, help="Realisations, seeds 0 to N-1.")] = 5,
    iterations: IterationsOption = 20,
    first: Annotated[
        int, typer.Option(min=0, help="First iteration (from 0) that counts in the means.")
    ] = 0,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes; as many as cores when absent.")
    ] = None,
    out: OutOption = None,
    json: JsonOption = False,
) -> None:
    """Compare policies on the same realisations, with paired 95 % intervals."""
    from thzsync.experiments.compare import compare as run_all

    setting = load_scenario(scenario)
    if first >= iterations:
        raise ThzSyncError(f"--first: found {first}; use less than --iterations ({iterations})")
    names = () if policies == "all" else tuple(p.strip() for p in policies.split(","))
    if out is not None:
        prepare_folder(out)

    def rescue(partial: Comparison) -> None:
        if out is not None:
            note(f"finished seeds written to {partial.save(out, partial.document(first))}")

    with progress("runs") as advance:
        result = run_all(
            setting,
            names,
            seeds,
            iterations,
            workers,
            lambda done, total: advance(0, f"{done} of {total} runs"),
            rescue,
        )
    document = result.document(first)
    if out is not None:
        note(f"comparison written to {result.save(out, document)}")
    emit(document, json, lambda: _compare_table(result, document))


def _compare_table(result: Comparison, document: dict[str, Any]) -> TerminalTable:
    shown = ("completion_ms", "energy_j", "reward", "makespan_ms")
    rows = []
    for row in document["rows"]:
        means = [with_interval(row, m) for m in shown]
        reference = row["policy"] == document["against"]
        paired = None if reference else with_interval(row, "diff_completion_ms")
        rows.append([row["policy"], *means, paired])
    beyond = Column(f"ms beyond {document['against']}", show=signed, priority=1)
    title = f"{result.scenario.name}: {len(result.seeds)} paired seeds, mean ± 95 %"
    return table(title, ["policy", *shown, beyond], rows, first_to_go=("makespan_ms",))
