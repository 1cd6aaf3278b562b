"""Plan a sweep, do what is missing, and gather the result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from thzsync.display.metrics import MAKESPAN
from thzsync.errors import ThzSyncError
from thzsync.experiments.policies import by_name
from thzsync.experiments.runs import Task, Watch, execute
from thzsync.experiments.store import FAILED, FINISHED, REFERENCES, Store
from thzsync.files import write_atomically, write_document
from thzsync.folders import SWEEP, claim_folder
from thzsync.records.certificate import warn_beyond
from thzsync.records.run import environment
from thzsync.scenario import Scenario
from thzsync.studies.plan import Plan, make_plan
from thzsync.studies.result import Sweep, gather, read_document
from thzsync.studies.specification import BreakEven, Specification, read_specification, specify
from thzsync.workers import one_team


def sweep(
    what: str | Path | Scenario | Specification,
    axes: Mapping[str, Sequence[Any]] | None = None,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    out: str | Path | None = None,
    resume: bool = False,
    force: bool = False,
    watch: Watch | None = None,
    **options: Any,
) -> Sweep:
    """Run every point of some axes under every policy in every seed.

    ``what`` is a scenario, a preset's name, or a specification (an object or a TOML file); further
    ``options`` are those of ``Specification``: zipped, set, policies (also objects and classes, as
    in ``compare``), contenders, seeds, iterations, first. ``out`` keeps every run as it is
    finished, and ``resume`` does only what is missing there. ``scheduler`` is a Dask cluster's
    address. Warns if runs in flow fidelity are beyond their tolerance.
    """
    chosen = {"axes": dict(axes)} if axes is not None else {}
    plan = plan_sweep(what, chosen | options)
    with prepared(plan, out, resume, force) as store:

        def do(runs: Sequence[Task]) -> None:
            execute(runs, store, workers, scheduler, watch)

        found = carried_out(plan, store, do)
        finish(found, store)
    warn_beyond(found.fidelity)
    return found


def break_even(
    what: str | Path | Scenario | Specification,
    key: str,
    low: float | str,
    high: float | str,
    axes: Mapping[str, Sequence[Any]] | None = None,
    *,
    metric: str = MAKESPAN.key,
    tolerance: float = BreakEven.model_fields["tolerance"].default,
    **options: Any,
) -> Sweep:
    """Find where two policies are equal along a key, per combination of values of other axes.

    ``low`` and ``high`` are the ends of the range, numbers or quantities such as ``"50 Gb/s"``. The
    policies are the best fibre-only one and THz-SynC unless ``options`` name two; the first is the
    reference. Values are evaluated until they are as near to the break-even, and to both ends of
    its 95 % interval, as the ``tolerance``, a share of the range. The result is the sweep over all
    evaluated values, and its ``break_evens`` say where the order turns, if it does. Further
    ``options`` are those of ``sweep``.
    """
    sought = {"key": key, "low": low, "high": high, "metric": metric, "tolerance": tolerance}
    return sweep(what, axes, break_even=sought, **options)


def carried_out(plan: Plan, store: Store, do: Callable[[Sequence[Task]], None]) -> Sweep:
    """Have the runs of a plan done, and of a break-even those at the values that follow."""
    sought = plan.specification.break_even
    if sought is None:
        do(plan.runs)
        return gather(plan, store)
    with one_team():
        do(plan.runs)
        found = gather(plan, store)
        while asked := _further(plan, found, sought.key):
            further = make_plan(plan.specification, plan.base, asked, plan.given)
            store.recall(further.runs)
            do(further.runs)
            plan = plan.joined(further, sought.key)
            found = gather(plan, store)
    return found


def _further(plan: Plan, found: Sweep, key: str) -> list[dict[str, Any]]:
    """The points to evaluate next; none that was tried already, as one where runs failed."""
    points = list(zip(plan.points, plan.changes, strict=True))
    asked = []
    for finding in found.break_evens:
        held = finding.held.items()
        panel = [both for both in points if all(both[0][name] == value for name, value in held)]
        tried = {point[key] for point, _ in panel}
        asked += [panel[0][1] | {key: x} for x in finding.between() if x not in tried]
    return asked


def plan_sweep(
    what: str | Path | Scenario | Specification,
    options: Mapping[str, Any],
    change: Callable[[Scenario], Scenario] | None = None,
    plugins: Sequence[str] = (),
) -> Plan:
    """The plan of a sweep; ``options`` come on top of what a specification says.

    ``plugins`` are added to the base, and ``change`` is made to it, before anything is set or
    varied.
    """
    base, found = None, None
    given = by_name(options.get("policies", ()))
    options = {**options, **({"policies": tuple(given)} if given else {})}
    if isinstance(what, Scenario):
        base = what
    else:
        found = what if isinstance(what, Specification) else read_specification(what)
    if found is None:
        named = str(what) if base is None else base.name
        found = specify({"base": named, **options}, "sweep")
    elif options:
        found = found.overridden(options)
    if base is None:
        base = Scenario.load(found.base, plugins)
    if change is not None:
        base = change(base)
    return make_plan(found, base, given=given)


@contextmanager
def prepared(
    plan: Plan, out: str | Path | None, resume: bool = False, force: bool = False
) -> Iterator[Store]:
    """A store for the plan's runs, with what its folder holds already."""
    with claim_folder(out, SWEEP, force, extend=True) as folder:
        store = Store(folder)
        if folder is not None:
            _begin(plan, folder, resume, force)
            if resume:
                _refuse_unknown(plan)
                store.tidy()
                store.recall(plan.runs)
        yield store


def _refuse_unknown(plan: Plan) -> None:
    """Refuse policies of which nobody can tell whether finished runs are of the same ones."""
    for run in plan.runs:
        if run.own is not None and not run.own.lasting:
            raise ThzSyncError(
                f"resume: policy {run.policy!r} cannot be recognised, since it is defined inside a "
                "function or a prompt; define it at the top of a module"
            )


def _begin(plan: Plan, folder: Path, resume: bool, force: bool) -> None:
    if SWEEP.complete_in(folder) and not resume:
        if not force:
            raise ThzSyncError(
                f"{folder}: holds a sweep; continue it with --resume, or start anew with --force"
            )
        SWEEP.remove_from(folder)
    document = {
        "kind": "sweep",
        "format": 1,
        "complete": False,
        "specification": plan.specification.model_dump(mode="json"),
        "plan_sha256": plan.digest,
        "environment": environment(),
    }
    write_atomically(folder / "scenario.toml", plan.base.to_toml().encode())
    write_document(folder / "sweep.json", document)


def finish(found: Sweep, store: Store) -> None:
    """Write table, summary and pictures into the store's folder."""
    if store.folder is not None:
        from thzsync.studies.picture import save_pictures

        save_pictures(found, store.folder)
        found.save(store.folder)


def merge(
    parts: Sequence[str | Path], out: str | Path, resume: bool = False, force: bool = False
) -> Sweep:
    """Join the folders of a sweep's shards in a new folder."""
    folders = [Path(part) for part in parts]
    plans = [_plan_of(folder) for folder in folders]
    for folder, plan in zip(folders, plans, strict=True):
        if plan.digest != plans[0].digest:
            raise ThzSyncError(f"{folder}: is of another sweep than {folders[0]}; merge one sweep")
    with prepared(plans[0], out, resume, force) as store:
        assert store.folder is not None
        for folder in folders:
            for shelf in (FINISHED, REFERENCES, FAILED):
                for file in sorted((folder / shelf).glob("[!.]*")):
                    write_atomically(store.folder / shelf / file.name, file.read_bytes())
        store.recall(plans[0].runs)
        store.recall_failures(plans[0].keys)
        found = carried_out(plans[0], store, lambda runs: None)
        finish(found, store)
    return found


def _plan_of(folder: Path) -> Plan:
    document = read_document(folder)
    specification = specify(document.get("specification", {}), str(folder / "sweep.json"))
    return make_plan(specification, Scenario.load(folder / "scenario.toml"))
