"""Plan a sweep, do what is missing, and gather the result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from thzsync.errors import ThzSyncError
from thzsync.experiments.policies import given_policies
from thzsync.experiments.runs import Watch, execute
from thzsync.experiments.store import FAILED, FINISHED, REFERENCES, Store
from thzsync.files import write_atomically, write_document
from thzsync.folders import SWEEP, claim_folder
from thzsync.records.certificate import warn_beyond
from thzsync.records.run import environment
from thzsync.scenario import Scenario
from thzsync.studies.plan import Plan, make_plan
from thzsync.studies.result import Sweep, gather, read_document
from thzsync.studies.specification import Specification, read_specification, specify


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
        execute(plan.runs, store, workers, scheduler, watch)
        found = gather(plan, store)
        finish(found, store)
    warn_beyond(found.fidelity)
    return found


def plan_sweep(
    what: str | Path | Scenario | Specification,
    options: Mapping[str, Any],
    change: Callable[[Scenario], Scenario] | None = None,
) -> Plan:
    """The plan of a sweep; ``options`` come on top of what a specification says.

    ``change`` is made to the base before anything is set or varied.
    """
    base, found = None, None
    given = given_policies(options["policies"]) if options.get("policies") else {}
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
    if change is not None:
        base = change(base or Scenario.load(found.base))
    return make_plan(found, base, given)


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
        found = gather(plans[0], store)
        finish(found, store)
    return found


def _plan_of(folder: Path) -> Plan:
    document = read_document(folder)
    specification = specify(document.get("specification", {}), str(folder / "sweep.json"))
    return make_plan(specification, Scenario.load(folder / "scenario.toml"))
