"""`thzsync sweep`: a scenario at many values, under several policies, in many seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from thzsync.cli import output
from thzsync.cli.announcement import BEYOND_TOLERANCE, tell_fidelity
from thzsync.cli.compare import carry_out
from thzsync.cli.meter import span
from thzsync.display import counted
from thzsync.display.terminal import TerminalTable
from thzsync.errors import ThzSyncError

if TYPE_CHECKING:
    from thzsync.experiments.runs import Task
    from thzsync.experiments.store import Store
    from thzsync.studies.plan import Plan
    from thzsync.studies.result import Sweep

MOST_RUNS = 1000
"""Runs that a plan may have without --yes."""
MOST_SENTENCES = 4
"""Break-evens that are told in words; the table has all."""


def sweep(
    what: Annotated[
        str | None,
        Argument(metavar="SPEC|SCENARIO", help="TOML file of a sweep or a scenario, or a preset."),
    ] = None,
    changes: Annotated[
        list[str] | None,
        Option(
            "--set",
            metavar="KEY=A,B,C",
            help="Values of a key, such as thz.subbands=1,2,4. Repeatable.",
        ),
    ] = None,
    zipped: Annotated[
        list[str] | None,
        Option("--zip", metavar="KEY,KEY", help="Keys whose values change together."),
    ] = None,
    break_even: Annotated[
        str | None,
        Option(
            metavar="KEY=LOW..HIGH",
            help="Find the value of a key at which two policies are equal, such as "
            "thz.noise_figure_db=0..20. Without --policies: THz-SynC and the best fibre-only one.",
        ),
    ] = None,
    metric: Annotated[
        str | None,
        Option(help="With --break-even: what to compare, such as energy_j. Default: makespan_ms."),
    ] = None,
    tolerance: Annotated[
        float | None,
        Option(help="With --break-even: how exactly, as a share of the range. Default: 0.02."),
    ] = None,
    plugin: output.PluginOption = None,
    pipelined: output.PipelinedOption = False,
    overlay: output.OverlayOption = None,
    policies: Annotated[str | None, Option(help=output.POLICIES_HELP)] = None,
    seeds: Annotated[int | None, Option(min=1, help=output.SEEDS_HELP)] = None,
    iterations: Annotated[int | None, Option(min=1, help="Training iterations per run.")] = None,
    first: Annotated[int | None, Option(min=0, help=output.FIRST_HELP)] = None,
    workers: output.WorkersOption = None,
    scheduler: output.SchedulerOption = None,
    shard: Annotated[
        str | None, Option(metavar="I/N", help="Do only part I of N. Join the parts with --merge.")
    ] = None,
    parts: Annotated[
        list[str] | None,
        Option("--merge", metavar="DIR", help="Folder of a part to join in --out. Repeatable."),
    ] = None,
    out: Annotated[str | None, Option(metavar="DIR", help="Folder for finished runs.")] = None,
    resume: Annotated[
        bool, Option("--resume", help="Do only the runs that are missing in --out.")
    ] = False,
    force: output.ForceOption = False,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Print the plan and its estimated cost, and stop.")
    ] = False,
    yes: Annotated[bool, Option("--yes", help=f"Allow more than {MOST_RUNS} runs.")] = False,
    json: output.JsonOption = False,
) -> None:
    """Compare policies at many values of scenario keys: who is faster where, and how surely.

    Differences are paired by seed and have 95 % intervals. With --out every finished run is
    written at once, and --resume continues after an interruption.

    --break-even searches a range of a key: it evaluates both ends, then halves the gaps between
    values in which the better policy changes, or whether the seeds decide. Several values after
    --set give a break-even for each.

    Exit status 3 means that flow fidelity differs from packets by more than the tolerance.
    """
    from thzsync.experiments.store import Store
    from thzsync.scenario.overlays import with_overlays
    from thzsync.studies.result import gather
    from thzsync.studies.specification import read_assignments
    from thzsync.studies.sweeping import carried_out, finish, merge, plan_sweep, prepared

    if parts:
        output.load_plugins(plugin)
        found = merge(parts, _needed(out, "--merge"), resume, force)
        _show(found, out, json)
        return
    if what is None:
        raise ThzSyncError("sweep: name a specification, a scenario file or a preset")
    options = read_assignments(changes or [], zipped or [])
    given = {
        "policies": None if policies is None else output.policies_named(policies),
        "seeds": seeds, "iterations": iterations, "first": first,
    }  # fmt: skip
    options |= {key: value for key, value in given.items() if value is not None}
    options |= _sought(break_even, metric, tolerance)
    over = output.all_overlays(pipelined, overlay)
    plan = plan_sweep(what, options, lambda base: with_overlays(base, over), plugin or ())
    runs = plan.runs if shard is None else plan.shard(*_shard(shard))
    if dry_run:
        known = Store(Path(out) if out is not None and resume else None)
        known.recall(plan.runs)  # looking changes nothing in the folder
        _show_plan(plan, runs, known, workers, json)
        return
    if shard is not None:
        _needed(out, "--shard")
        if plan.specification.break_even is not None:
            raise ThzSyncError(
                "--shard: a break-even cannot be cut, since its values follow from each other; "
                "use --workers or --scheduler"
            )
    if plan.expected_runs > MOST_RUNS and not yes:
        raise ThzSyncError(
            f"the plan has {plan.expected_runs} runs; look at it with --dry-run, then add --yes"
        )
    with prepared(plan, out, resume, force) as store:
        keys = list(plan.keys)

        def rescue() -> None:
            kept = f"{store.count(keys)} of {len(keys)} runs are kept in {out}"
            lost = "nothing is kept; with --out DIR a sweep can be resumed"
            output.note(lost if out is None else f"{kept}; go on with --resume")

        def do(part: Sequence[Task]) -> None:
            keys[:] = dict.fromkeys([*keys, *(task.key for task in part)])
            carry_out("sweep", part, store, workers, scheduler, rescue)

        if shard is None:
            found = carried_out(plan, store, do)
        else:
            do(runs)
            found = gather(plan, store)
        finish(found, store)
    _show(found, out, json)


def _sought(
    text: str | None, metric: str | None, tolerance: float | None
) -> dict[str, dict[str, object]]:
    """The part of a specification that asks for a break-even."""
    from thzsync.studies.specification import read_break_even

    given = {"metric": metric, "tolerance": tolerance}
    given = {name: value for name, value in given.items() if value is not None}
    if text is None:
        for name in given:
            raise ThzSyncError(f"--{name}: belongs to --break-even KEY=LOW..HIGH; add that")
        return {}
    return {"break_even": read_break_even(text) | given}


def _needed(out: str | None, option: str) -> str:
    if out is None:
        raise ThzSyncError(f"{option}: say with --out DIR where the runs are kept")
    return out


def _shard(text: str) -> tuple[int, int]:
    part, slash, parts = text.partition("/")
    if not slash or not part.isdecimal() or not parts.isdecimal():
        raise ThzSyncError(f"--shard: found {text!r}; write I/N, such as 1/4")
    return int(part), int(parts)


def _show(found: Sweep, out: str | None, as_json: bool) -> None:
    from thzsync.records.certificate import warn_beyond

    if out is not None:
        output.note(f"sweep written to {out}")
    output.emit(found.document(), as_json, lambda: _answer(found))
    warn_beyond(found.fidelity)
    beyond = tell_fidelity(found.fidelity, found.scenario)
    for failure in found.failures[:3]:
        place = ", ".join([*(f"{key}={failure[key]}" for key in found.axes), failure["policy"]])
        output.note(f"failed: {place}, seed {failure['seed']}: {failure['error']}")
    if found.failures:
        failed = counted(len(found.failures), "run")
        output.note(
            f"{failed} failed; when the cause is removed, --resume does only what is missing"
        )
        raise typer.Exit(1)
    if found.missing:
        output.note(f"not there yet: {counted(found.missing, 'run')}")
    if beyond:
        raise typer.Exit(BEYOND_TOLERANCE)


def _answer(found: Sweep) -> TerminalTable:
    """The table of every point; or what is known of break-evens, in words first."""
    from thzsync.studies.break_even_text import break_even_table, headline, sentence

    if not found.break_evens:
        return _table(found)
    told = [headline(found.break_evens), *map(sentence, found.break_evens[:MOST_SENTENCES])]
    for line in dict.fromkeys(told):
        output.tell(line)
    typer.echo()
    made = break_even_table(found.break_evens)
    title = f"{found.scenario.name}: break-even, {found.seeds_text}"
    columns = tuple(replace(c, priority=k if k > 3 else 0) for k, c in enumerate(made.columns))
    caption = f"{found.specification.question} {made.caption} {_assumed(found)}".strip()
    return TerminalTable(replace(made, title=title, columns=columns, caption=caption))


def _table(found: Sweep) -> TerminalTable:
    """The page's table of every point; on a narrow terminal its last columns are left out."""
    from thzsync.report.sweep_tables import point_table

    made = point_table(found)
    place = len(found.axes) + 1
    columns = [replace(c, priority=k if k > place else 0) for k, c in enumerate(made.columns)]
    columns[place] = replace(columns[place], name=output.against(found.policies[0]))
    points = counted(len(found.points), "point")
    title = f"{found.scenario.name}: {points}, {found.seeds_text}, mean ± 95 %"
    caption = f"{found.specification.question} {_assumed(found)}".strip()
    shown = replace(made, title=title, columns=tuple(columns), caption=caption)
    return TerminalTable(shown if len(found.policies) > 1 else shown.without([place]))


def _assumed(found: Sweep) -> str:
    from thzsync.assumptions import assumptions
    from thzsync.report.sweep import swept_scenarios

    told = assumptions(*swept_scenarios(found))
    return " ".join(f"{name}: {told[name]}." for name in ("Fibre", "Energy"))


def _show_plan(
    plan: Plan, runs: Sequence[Task], known: Store, workers: int | None, as_json: bool
) -> None:
    from thzsync.experiments.estimate import estimate
    from thzsync.feasibility.pace import pace
    from thzsync.workers import default_workers

    cost = estimate(runs, known)
    more = plan.expected_runs / len(plan.keys)  # runs of a break-even follow from the first ones
    cost = replace(
        cost, cpu_s=more * cost.cpu_s / pace(1), disk_bytes=round(more * cost.disk_bytes)
    )
    count = workers or default_workers()
    total = round(more * len({run.key for run in runs}))
    done = total - round(more * cost.runs)
    document = {
        "axes": {key: [p[key] for p in plan.points] for key in plan.specification.keys},
        "points": len(plan.points),
        "policies": [contender.name for contender in plan.specification.all],
        "seeds": list(plan.specification.seeds),
        "iterations": plan.specification.iterations,
        "runs": total,
        "done": done,
        "cpu_s": cost.cpu_s,
        "wall_s": cost.wall_s(count),
        "disk_bytes": cost.disk_bytes,
        "workers": count,
    }
    finished = f", {done} of them done" if done else ""
    upto = "" if more == 1 else "about "
    caption = (
        f"{upto}{counted(total, 'run')}{finished}: about {span(cost.wall_s(count))} with "
        f"{counted(count, 'worker')} "
        f"({span(cost.cpu_s)} of CPU) and {cost.disk_bytes / 2**20:.1f} MiB"
    )
    output.emit(document, as_json, lambda: _plan_table(plan, caption))


def _plan_table(plan: Plan, caption: str) -> TerminalTable:
    asked = plan.specification
    axes = {" with ".join(group): next(iter(group.values())) for group in asked.groups}
    axes |= {"policies": tuple(c.name for c in asked.all), "seeds": asked.seeds}
    rows: list[list[object]] = [
        [name, len(values), ", ".join(map(str, values))] for name, values in axes.items()
    ]
    if (sought := asked.break_even) is not None:
        rows[0][1:] = [f"about {sought.values}", f"{sought.low}..{sought.high}, as they are found"]
    rows.append(["iterations", asked.iterations, ""])
    return output.table(f"Plan on {plan.base.name}", ["axis", "count", "values"], rows, caption)
