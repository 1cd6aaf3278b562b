"""`thzsync run`: training iterations under one policy."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from thzsync.cli import output
from thzsync.cli.announcement import BEYOND_TOLERANCE, FLOWS, forewarning, tell_fidelity
from thzsync.cli.meter import following
from thzsync.display import number, sparkline
from thzsync.errors import ThzSyncError
from thzsync.files import prepare_file
from thzsync.folders import RUN, claim_folder, refuse_folder
from thzsync.names import POLICIES

if TYPE_CHECKING:
    from rich.console import RenderableType

    from thzsync.coordinator import Policy
    from thzsync.feasibility import Asked, Effort
    from thzsync.records.journal import Journal, RunSpec
    from thzsync.simulation import Run
    from thzsync.simulation.metrics import Progress

COLUMNS = (
    "completion_ms", "energy_j", "optical_energy_j", "thz_energy_j", "reward", "makespan_ms",
    "exposed_ms", "thz_share",
)  # fmt: skip
SPLIT_COLUMNS = ("thz_energy_j", "optical_energy_j")
"""Parts of another column: the first to go on a narrow terminal."""

WITH_RESUME = frozenset({"resume", "save", "json"})
"""Parameters of `run` that may be given with --resume; everything else lies in its folder."""


def run(
    context: typer.Context,
    scenario: output.ScenarioArgument = "paper",
    policy: Annotated[str, Option(help=f"Policy: {', '.join(POLICIES)}.")] = "thz-sync",
    iterations: output.IterationsOption = 20,
    seed: output.SeedOption = 0,
    changes: output.SetOption = None,
    pipelined: output.PipelinedOption = False,
    overlay: output.OverlayOption = None,
    out: output.OutOption = None,
    force: output.ForceOption = False,
    resume: Annotated[
        str | None,
        Option(metavar="DIR", help="Continue the interrupted run in DIR, with its settings."),
    ] = None,
    trace: Annotated[
        str | None,
        Option("--trace", metavar="FILE", help="Replay this trace instead of the scenario's jobs."),
    ] = None,
    load: Annotated[
        str | None,
        Option("--from", metavar="FILE", help="Start from a coordinator that --save wrote."),
    ] = None,
    frozen: Annotated[
        bool, Option("--frozen", help="With --from: decide without learning or exploring.")
    ] = False,
    save: Annotated[
        str | None, Option("--save", metavar="FILE", help="Save the trained coordinator.")
    ] = None,
    json: output.JsonOption = False,
) -> None:
    """Simulate a training job under one policy: time, energy and reward of every iteration.

    Ctrl-C ends the run early and keeps what is finished. With --out every finished iteration is
    written at once, and --resume continues an interrupted run to the same numbers. Exit status 3
    means that flow fidelity differs from packets by more than the tolerance.
    """
    from thzsync.execution.carrier import carrier_facts
    from thzsync.records.journal import Journal, RunSpec, refuse_to_drop
    from thzsync.simulation.simulator import first_policy
    from thzsync.wireless.discipline import declarations

    if resume is not None:
        _refuse_other_options(context)
        journal = Journal.open(resume)
        with claim_folder(resume, RUN, extend=True):
            _finish(None, journal, journal.spec, resume, save, json, _repeated(journal, save))
        return
    if out is not None and not force:
        refuse_to_drop(out)
    refuse_folder(out, RUN, force)
    setting = output.load_scenario(scenario, changes, output.all_overlays(pipelined, overlay))
    if trace is not None:
        from thzsync.scenario import Job

        setting = setting.model_copy(update={"jobs": (Job(trace=trace),)})
        setting = output.change_scenario(setting, None, trace)
    if load is None and frozen:
        raise ThzSyncError("--frozen: give the coordinator to deploy with --from FILE")
    declared = declarations(), carrier_facts(setting)
    spec = RunSpec(setting, policy, seed, iterations, {}, frozen, load, *declared)
    chosen = first_policy(spec)
    _prepare_to_save(chosen, save)
    spec, decisions = _begin(spec, chosen, out)
    with claim_folder(out, RUN, force):
        written = Journal.begin(out, spec) if out is not None else None
        _finish(chosen, written, spec, out, save, json, decisions)


def _refuse_other_options(context: typer.Context) -> None:
    """With --resume, options would be ignored; whether one was given, only the context knows."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    given = {name for name, source in sources.items() if source and source.name != "DEFAULT"}
    if given - WITH_RESUME:
        raise ThzSyncError("--resume: takes all from its folder; leave the other options out")


def _prepare_to_save(policy: Policy, file: str | None) -> None:
    """Refuse before the run what cannot be saved after it."""
    if file is not None:
        from thzsync.coordinator.saved import learning_policy

        learning_policy(policy)
        prepare_file(file)


def _repeated(journal: Journal, save: str | None) -> int:
    """Decisions of an interrupted run, which repeats them all; how long it takes is told."""
    from thzsync.feasibility import effort_of
    from thzsync.simulation.simulator import first_policy

    with journal.reading():
        policy = first_policy(journal.spec)
    _prepare_to_save(policy, save)
    effort = effort_of(_asked(journal.spec, policy, kept=True))
    if warning := forewarning(effort, None):  # it cannot change to flows any more
        output.note(warning)
    output.prepare_kernels()
    return effort.decisions


def _asked(spec: RunSpec, policy: Policy, kept: bool) -> Asked:
    from thzsync.feasibility import Asked

    return Asked.of(spec.scenario, policy, spec.iterations, kept, spec.seed, spec.frozen)


def _begin(spec: RunSpec, policy: Policy, out: str | None) -> tuple[RunSpec, int]:
    """The run with its references, and how often its policy decides; all of it is possible."""
    from thzsync.coordinator import own_scenario
    from thzsync.feasibility import check_memory, effort_of, scarce_disk
    from thzsync.scenario.fidelity import needs_packets
    from thzsync.simulation.simulator import REFERENCE_ITERATIONS, checked_references

    setting, asked = spec.scenario, _asked(spec, policy, kept=out is not None)
    effort = effort_of(asked)
    check_memory(asked, effort)

    def as_flows() -> Effort:
        return effort_of(replace(asked, scenario=asked.scenario.with_(FLOWS)))

    if warning := forewarning(effort, None if needs_packets(setting) else as_flows):
        output.note(warning)
    if out is not None and (scarce := scarce_disk(effort, out)):
        output.note(scarce)
    output.prepare_kernels()
    one = REFERENCE_ITERATIONS / effort.reference_decisions
    with following("references: all-wired", total=REFERENCE_ITERATIONS) as advance:
        found = checked_references(setting, spec.seed, spec.iterations, lambda: advance(one))
    own = own_scenario(policy, setting)
    return replace(spec, scenario=own, references=found), effort.decisions


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
    from thzsync.coordinator import save_policy

    with patient_interruption() as stopping:
        record, policy = _simulate(policy, journal, spec, stopping, decisions)
        stopping.finishing = True
        complete = not record.missing(spec.iterations)
        if out is not None:
            output.note(f"record written to {record.save(out)}")
        if save is not None:
            save_policy(policy, save, record.scenario)
        if journal is not None and complete:
            journal.close()
        document = _document(record)
        output.emit(document, json, lambda: _tables(record, document))
        beyond = tell_fidelity(record.certificate, record.scenario)
    if not complete:
        more = f"; go on with `thzsync run --resume {out}`" if out is not None else ""
        finished = record.iterations["iteration"].n_unique()
        output.note(f"interrupted after {finished} of {spec.iterations} iterations{more}")
        raise typer.Exit(130)
    if beyond:
        raise typer.Exit(BEYOND_TOLERANCE)


def _simulate(
    policy: Policy | None,
    journal: Journal | None,
    spec: RunSpec,
    stopping: Stopping,
    decisions: int,
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
            return stopping.asked

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


def _document(record: Run) -> dict[str, Any]:
    from thzsync.simulation.results import by_collective

    told = record.provenance()
    told.pop("disciplines", None)  # of the record, not of its results
    return told | {
        "rows": record.iterations.select("iteration", *COLUMNS).to_dicts(),
        "mean": {name: record.summary[name] for name in COLUMNS},
        "collectives": by_collective(record.events),
    }


def _tables(record: Run, document: dict[str, Any]) -> RenderableType:
    from rich.console import Group

    rows = [list(row.values()) for row in document["rows"]]
    rows.append(["mean", *document["mean"].values()])
    title = f"{record.policy} on {record.scenario.name}, seed {record.seed}"
    rewards = record.iterations["reward"].to_list()
    caption = f"reward by iteration {sparkline(rewards)}" if len(rewards) > 1 else None
    iterations = output.table(title, ["iteration", *COLUMNS], rows, caption, SPLIT_COLUMNS)
    columns = ["collective", "events", "completion_ms", "algbw [GB/s]", "busbw [GB/s]"]
    by_kind = [list(row.values()) for row in document["collectives"]]
    return Group(iterations, "", output.table("by collective", columns, by_kind))


@dataclass
class Stopping:
    """Whether the user has asked to stop."""

    asked: bool = False
    finishing: bool = False
    """Set once the work is done and only has to be written down: nothing interrupts that."""

    def hear(self, number: int, frame: FrameType | None) -> None:
        """The handler: the first signal is granted at the next decision, the second one now."""
        if self.asked and not self.finishing:
            raise KeyboardInterrupt
        if not self.asked:
            output.note("stopping at the next decision; what is finished is kept")
        self.asked = True


@contextmanager
def patient_interruption() -> Iterator[Stopping]:
    """Ctrl-C and SIGTERM stop at the next decision for as long as the block lasts."""
    stopping = Stopping()
    if threading.current_thread() is not threading.main_thread():
        yield stopping  # only the main thread may handle signals
        return
    before = {n: signal.signal(n, stopping.hear) for n in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopping
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
