"""`thzsync run` and `thzsync compare`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thzsync.cli.announcement import FLOWS, forewarning
from thzsync.cli.fidelity import BEYOND_TOLERANCE, tell_fidelity
from thzsync.cli.meter import following, watching
from thzsync.cli.output import (
    FIRST_HELP,
    POLICIES_HELP,
    SEEDS_HELP,
    ForceOption,
    IterationsOption,
    JsonOption,
    OutOption,
    ScenarioArgument,
    SchedulerOption,
    SeedOption,
    SetOption,
    WorkersOption,
    against,
    change_scenario,
    emit,
    load_scenario,
    note,
    policies_named,
    prepare_kernels,
    table,
    with_interval,
)
from thzsync.cli.signals import Wish, patient_interruption
from thzsync.display import Column, Interval, Table, counted, number, signed, sparkline
from thzsync.display.labels import policy_name
from thzsync.display.metrics import COMPLETION, ENERGY, EXPOSED, MAKESPAN, REWARD
from thzsync.display.table import Value
from thzsync.display.terminal import TerminalTable
from thzsync.errors import ThzSyncError
from thzsync.files import prepare_file
from thzsync.folders import COMPARISON, RUN, claim_folder, refuse_folder
from thzsync.names import POLICIES

if TYPE_CHECKING:
    from rich.console import RenderableType

    from thzsync.coordinator import Policy
    from thzsync.experiments.compare import Comparison
    from thzsync.feasibility import Effort
    from thzsync.records.journal import Journal, RunSpec
    from thzsync.scenario import Scenario
    from thzsync.simulation import Run
    from thzsync.simulation.metrics import Progress

COLUMNS = (
    "completion_ms",
    "energy_j",
    "optical_energy_j",
    "thz_energy_j",
    "reward",
    "makespan_ms",
    "exposed_ms",
    "thz_share",
)
COMPARED = (MAKESPAN, COMPLETION, ENERGY, REWARD, EXPOSED)
"""What a comparison prints of every policy; the last are the first to go on a narrow terminal."""
SPLIT_COLUMNS = ("thz_energy_j", "optical_energy_j")
"""Parts of another column: the first to go on a narrow terminal."""

WITH_RESUME = frozenset({"resume", "save", "json"})
"""Parameters of `run` that may be given with --resume; everything else lies in its folder."""


def run(
    context: typer.Context,
    scenario: ScenarioArgument = "paper",
    policy: Annotated[str, typer.Option(help=f"Policy: {', '.join(POLICIES)}.")] = "thz-sync",
    iterations: IterationsOption = 20,
    seed: SeedOption = 0,
    changes: SetOption = None,
    out: OutOption = None,
    force: ForceOption = False,
    resume: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Continue the interrupted run in DIR, with its settings."),
    ] = None,
    trace: Annotated[
        str | None,
        typer.Option(
            "--trace", metavar="FILE", help="Replay this trace instead of the scenario's jobs."
        ),
    ] = None,
    load: Annotated[
        str | None,
        typer.Option("--from", metavar="FILE", help="Start from a coordinator that --save wrote."),
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

    Ctrl-C ends the run early and keeps what is finished. With --out every finished iteration is
    written at once, and --resume continues an interrupted run to the same numbers. Exit status 3
    means that flow fidelity differs from packets by more than the tolerance.
    """
    from thzsync.records.journal import Journal, refuse_to_drop

    if resume is not None:
        _refuse_other_options(context)
        journal = Journal.open(resume)
        with claim_folder(resume, RUN, extend=True):
            _finish(None, journal, journal.spec, resume, save, json, _repeated(journal))
        return
    if out is not None and not force:
        refuse_to_drop(out)
    refuse_folder(out, RUN, force)
    setting = load_scenario(scenario, changes)
    if trace is not None:
        from thzsync.scenario import Job

        setting = setting.model_copy(update={"jobs": (Job(trace=trace),)})
        setting = change_scenario(setting, None, trace)
    spec, chosen, decisions = _begin(setting, policy, iterations, seed, load, frozen, out)
    if save is not None and not hasattr(chosen, "save"):
        raise ThzSyncError(f"--save: policy {policy} learns nothing that could be saved")
    if save is not None:
        prepare_file(save)
    with claim_folder(out, RUN, force):
        written = Journal.begin(out, spec) if out is not None else None
        _finish(chosen, written, spec, out, save, json, decisions)


def _refuse_other_options(context: typer.Context) -> None:
    """With --resume, options would be ignored; whether one was given, only the context knows."""
    given = [
        name
        for name in context.params
        if (source := context.get_parameter_source(name)) is not None and source.name != "DEFAULT"
    ]
    if not WITH_RESUME.issuperset(given):
        raise ThzSyncError("--resume: takes all from its folder; leave the other options out")


def _repeated(journal: Journal) -> int:
    """Decisions of an interrupted run, which repeats them all; how long it takes is told."""
    from thzsync.feasibility import Asked, effort_of
    from thzsync.simulation.simulator import first_policy

    begun = journal.spec
    with journal.reading():
        policy = first_policy(begun)
    effort = effort_of(
        Asked.of(begun.scenario, policy, begun.iterations, True, begun.seed, begun.frozen)
    )
    if warning := forewarning(effort, None):  # it cannot change to flows any more
        note(warning)
    prepare_kernels()
    return effort.decisions


def _begin(
    setting: Scenario,
    policy: str,
    iterations: int,
    seed: int,
    load: str | None,
    frozen: bool,
    out: str | None,
) -> tuple[RunSpec, Policy, int]:
    """What is to be simulated, who decides and how often; all of it is possible."""
    from thzsync.coordinator import own_scenario
    from thzsync.feasibility import Asked, check_memory, effort_of, scarce_disk
    from thzsync.records.journal import RunSpec
    from thzsync.scenario.fidelity import needs_packets
    from thzsync.simulation.simulator import REFERENCE_ITERATIONS, checked_references, first_policy

    if load is None and frozen:
        raise ThzSyncError("--frozen: give the coordinator to deploy with --from FILE")
    spec = RunSpec(setting, policy, seed, iterations, {}, frozen, load)
    chosen = first_policy(spec)
    asked = Asked.of(setting, chosen, iterations, out is not None, seed, frozen)
    effort = effort_of(asked)
    check_memory(asked, effort)

    def as_flows() -> Effort:
        return effort_of(replace(asked, scenario=asked.scenario.with_(FLOWS)))

    if warning := forewarning(effort, None if needs_packets(setting) else as_flows):
        note(warning)
    if out is not None and (scarce := scarce_disk(effort, out)):
        note(scarce)
    prepare_kernels()
    one = REFERENCE_ITERATIONS / effort.reference_decisions
    with following("references: all-wired", total=REFERENCE_ITERATIONS) as advance:
        references = checked_references(setting, seed, iterations, lambda: advance(one))
    own = own_scenario(chosen, setting)
    return replace(spec, scenario=own, references=references), chosen, effort.decisions


def _finish(
    policy: Policy | None,
    journal: Journal | None,
    spec: RunSpec,
    out: str | None,
    save: str | None,
    json: bool,
    decisions: int,
) -> None:
    """Simulate to the end or until interrupted, and write down what is finished."""
    with patient_interruption() as wish:
        record, policy = _simulate(policy, journal, spec, wish, decisions)
        wish.finishing = True
        complete = not record.missing(spec.iterations)
        if out is not None:
            note(f"record written to {record.save(out)}")
        if save is not None and hasattr(policy, "save"):
            policy.save(save)
        if journal is not None and complete:
            journal.close()
        emit(_run_document(record), json, lambda: _run_tables(record))
        share = record.scenario.optical.replayed_share
        beyond = tell_fidelity(record.certificate, share)
    if not complete:
        more = f"; go on with `thzsync run --resume {out}`" if out is not None else ""
        finished = record.iterations["iteration"].n_unique()
        note(f"interrupted after {finished} of {spec.iterations} iterations{more}")
        raise typer.Exit(130)
    if beyond:
        raise typer.Exit(BEYOND_TOLERANCE)


def _simulate(
    policy: Policy | None, journal: Journal | None, spec: RunSpec, wish: Wish, decisions: int
) -> tuple[Run, Policy]:
    from thzsync.simulation import simulate
    from thzsync.simulation.simulator import resume

    name, one = spec.policy, spec.iterations / decisions
    first = "first iteration" if policy is not None else "repeating what is finished"
    with following(f"{name}: {first}", total=spec.iterations) as advance:

        def show(done: Progress) -> None:
            advance(
                0,
                f"{name}: {number(done.completion_ms)} ms, {number(done.energy_j)} J, "
                f"reward {number(done.reward)}",
            )

        def stop() -> bool:
            advance(one)  # so that the bar moves, and the time left is known, in long iterations
            return wish.asked()

        if policy is None:
            assert journal is not None
            return resume(journal, show, stop, lambda: advance(one))
        record = simulate(
            spec.scenario,
            policy,
            spec.iterations,
            spec.seed,
            spec.references,
            show,
            journal=journal,
            stop=stop,
            detailed=journal is not None,
        )
        return record, policy


def _run_document(record: Run) -> dict[str, Any]:
    rows = record.iterations.select("iteration", *COLUMNS).to_dicts()
    means = {name: record.summary[name] for name in COLUMNS}
    return record.provenance() | {"rows": rows, "mean": means, "collectives": _collectives(record)}


def _collectives(record: Run) -> list[dict[str, Any]]:
    from thzsync.simulation.results import by_collective

    return by_collective(record.events)


def _run_tables(record: Run) -> RenderableType:
    from rich.console import Group

    columns = ["collective", "events", "completion_ms", "algbw [GB/s]", "busbw [GB/s]"]
    rows = [list(row.values()) for row in _collectives(record)]
    return Group(_run_table(record), "", table("by collective", columns, rows))


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
    policies: Annotated[str, typer.Option(help=POLICIES_HELP)] = "all",
    seeds: Annotated[int, typer.Option(min=1, help=SEEDS_HELP)] = 5,
    iterations: IterationsOption = 20,
    first: Annotated[int, typer.Option(min=0, help=FIRST_HELP)] = 0,
    workers: WorkersOption = None,
    scheduler: SchedulerOption = None,
    changes: SetOption = None,
    out: OutOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Compare policies on the same realisations, with paired 95 % intervals.

    Exit status 3 means that flow fidelity differs from packets by more than the tolerance.
    """
    from thzsync.experiments.compare import compare as run_all
    from thzsync.experiments.compare import known_policies
    from thzsync.studies.execution import Tally

    refuse_folder(out, COMPARISON, force)
    setting = load_scenario(scenario, changes)
    if first >= iterations:
        raise ThzSyncError(f"--first: found {first}; use less than --iterations ({iterations})")
    names = known_policies(policies_named(policies))

    def rescue(partial: Comparison) -> None:
        if out is not None:
            note(f"finished seeds written to {partial.save(out, partial.document(first))}")

    if scheduler is None:
        _announce_comparison(setting, names, seeds, iterations, workers)
        prepare_kernels(workers)
    with claim_folder(out, COMPARISON, force), watching("compare") as watch:
        total = seeds * len(names)
        result = run_all(
            setting,
            names,
            seeds,
            iterations,
            workers,
            lambda done, total: watch(Tally(done, total)),
            rescue,
            scheduler,
            lambda done, most: watch(Tally(0, total, prepared=done, to_prepare=most)),
        )
        document = result.document(first)
        if out is not None:
            result.save(out, document)
    if out is not None:
        note(f"comparison written to {out}")
    for failure in result.failures:
        note(f"failed: {failure['policy']}, seed {failure['seed']}: {failure['error']}")
    emit(document, json, lambda: _compare_table(result, document))
    if tell_fidelity(result.fidelity, setting.optical.replayed_share):
        raise typer.Exit(BEYOND_TOLERANCE)


def _announce_comparison(
    setting: Scenario, policies: Sequence[str], seeds: int, iterations: int, workers: int | None
) -> None:
    from thzsync.experiments.outlook import comparison_effort
    from thzsync.scenario.fidelity import needs_packets
    from thzsync.workers import default_workers

    def effort(of: Scenario) -> Effort:
        return comparison_effort(of, policies, seeds, iterations, workers or default_workers())

    as_flows = None if needs_packets(setting) else lambda: effort(setting.with_(FLOWS))
    if warning := forewarning(effort(setting), as_flows):
        note(warning)


def _compare_table(result: Comparison, document: dict[str, Any]) -> TerminalTable:
    from thzsync.assumptions import assumptions
    from thzsync.experiments.statistics import paired_pct

    first, reference = document["first_iteration"], document["against"]
    columns = [
        Column("Policy", left=True),
        Column(against(reference), "%", show=signed),
        *(Column(m.short, m.unit, priority=k) for k, m in enumerate(COMPARED)),
    ]
    theirs = result.seed_means(reference, MAKESPAN.key, first)
    rows: list[list[Value]] = []
    for row in document["rows"]:
        ours = result.seed_means(row["policy"], MAKESPAN.key, first)
        paired = None if row["policy"] == reference else Interval(*paired_pct(ours, theirs))
        rows.append([policy_name(row), paired, *(with_interval(row, m.key) for m in COMPARED)])
    title = f"{result.scenario.name}: {counted(len(result.seeds), 'paired seed')}, mean ± 95 %"
    caption = (
        "The difference is that of iteration times in the same seeds; below 0 is faster. "
        f"Fibre: {assumptions(result.scenario)['Fibre']}."
    )
    return TerminalTable(Table(title, tuple(columns), rows, caption))
