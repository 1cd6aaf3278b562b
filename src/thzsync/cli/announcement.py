"""What commands say beside their results: how long they take, how near flows are to packets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from thzsync.arrays import size_text
from thzsync.cli.meter import span
from thzsync.cli.output import note, prepare_kernels
from thzsync.display import counted

if TYPE_CHECKING:
    from thzsync.experiments.runs import Task
    from thzsync.experiments.store import Store
    from thzsync.feasibility import Effort
    from thzsync.records.certificate import Certificate, Certified
    from thzsync.scenario import Scenario

WORTH_TELLING_S: Final = 30.0
"""Shorter runs are not announced."""
BETTER: Final = 0.7
"""Of the time: what saves less is not recommended."""
FLOWS: Final = {"optical.fidelity": "flow"}
"""What makes a long run shorter."""
BUSY_SHARE: Final = 0.8
"""Of the cores: the last runs of a batch leave some idle."""
BEYOND_TOLERANCE: Final = 3
"""Exit status where replayed events of flow fidelity differ too much from packets."""


def announcement(seeds: Mapping[str, int], quick: bool, workers: int | None) -> str:
    """Which figures will be made with how many seeds, and how long that takes about."""
    from thzsync.paper.catalogue import cpu_minutes
    from thzsync.workers import default_workers

    cores = min(workers or default_workers(), default_workers())
    work = sum(cpu_minutes(name, quick) * count for name, count in seeds.items())
    parts = ", ".join(f"{name} ({counted(count, 'seed')})" for name, count in seeds.items())
    minutes = max(1, round(work / (BUSY_SHARE * cores)))
    look = "A quick look at" if quick else "Reproducing"
    return f"{look} {parts}: about {counted(minutes, 'minute')} on {counted(cores, 'core')}."


def forewarning(
    effort: Effort,
    as_flows: Callable[[], Effort] | None,
    measure: Callable[[int], float] | None = None,
) -> str | None:
    """A line on a long run, with what would make it shorter; None for a short one.

    ``as_flows`` is what the same run would take in flow fidelity; None where it must not be used.
    How fast this machine is, is measured by going once through our yardstick.
    """
    if effort.seconds < WORTH_TELLING_S / 3:  # short on any machine
        return None
    from thzsync.feasibility.pace import pace

    here = (measure or pace)(1)
    if effort.seconds / here < WORTH_TELLING_S:
        return None
    time = span(effort.seconds / here)
    line = f"this takes about {time} and {size_text(effort.memory_bytes)} of memory"
    if effort.disk_bytes:
        line += f", and {size_text(effort.disk_bytes)} on disk"
    if as_flows is not None and (in_flows := as_flows()).seconds < BETTER * effort.seconds:
        line += f"; about {span(in_flows.seconds / here)} with --set optical.fidelity=flow"
    return line


def announce(tasks: Sequence[Task], workers: int | None, store: Store | None = None) -> None:
    """Say how long some runs take, if they take long, and compile kernels before they start."""
    from thzsync.experiments.estimate import estimate
    from thzsync.feasibility import Effort
    from thzsync.scenario.fidelity import needs_packets
    from thzsync.workers import default_workers

    count = workers or default_workers()

    def effort(changes: Mapping[str, str] | None = None) -> Effort:
        cost = estimate(tasks, store, changes)
        disk_bytes = cost.disk_bytes if store is not None and store.folder is not None else 0
        memory_bytes = min(count, cost.runs) * cost.memory_bytes
        return Effort(1, 1, cost.wall_s(count), 0.0, memory_bytes, disk_bytes)

    refused = any(needs_packets(task.scenario) for task in tasks)
    if warning := forewarning(effort(), None if refused else lambda: effort(FLOWS)):
        note(warning)
    prepare_kernels(workers)


def next_step(quick: bool, out: str | None) -> str:
    """Where to look now."""
    steps = ["docs/reproduction.md explains every number"]
    if quick:
        steps.insert(0, "without --quick, more seeds decide what is open here")
    if out is not None:
        steps.insert(0, f"`thzsync report {out}` makes the page to look at")
    return f"Next: {'; '.join(steps)}."


def tell_fidelity(found: Certificate | None, scenario: Scenario) -> bool:
    """Say how near flows are to packets; whether some type is beyond the tolerance.

    The library has warned of what is beyond.
    """
    if found is None:
        return False
    if not found.rows:
        off = scenario.optical.replayed_share == 0
        why = "optical.replayed_share is 0" if off else "no event had chunks on fibre"
        note(f"flow fidelity: not certified, since {why} and so none was replayed")
    for row in found.worst():
        places = sum(other.found.kind == row.found.kind for other in found.rows)
        note(f"flow fidelity: {_line(row, places)}{_doubt(row)}")
    return bool(found.exceeded)


def _line(row: Certified, places: int) -> str:
    kind, events, error, ci95 = row.found
    interval = "" if ci95 is None else f" ± {100 * ci95:.2f}"
    count = "1 event" if events == 1 else f"{events} events"
    where = f" {row.where}, the worst of {places}" if places > 1 else ""
    return f"{kind} {100 * error:+.2f}{interval} % against packets ({count} replayed){where}"


def _doubt(row: Certified) -> str:
    if row.verdict != "undecided":
        return ""
    single = row.found.ci95 is None
    why = "one event has no interval" if single else "the interval includes"
    what = "" if single else f" the tolerance ({100 * row.tolerance:g} %)"
    return f"; undecided, {why}{what}: raise optical.replayed_share to sharpen it"
