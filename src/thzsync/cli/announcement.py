"""What long commands say before they start, and a reproduction after it has ended."""

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

WORTH_TELLING_S: Final = 30.0
"""Shorter runs are not announced."""
BETTER: Final = 0.7
"""Of the time: what saves less is not recommended."""
FLOWS: Final = {"optical.fidelity": "flow"}
"""What makes a long run shorter."""
BUSY_SHARE: Final = 0.8
"""Of the cores: the last runs of a batch leave some idle."""


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
