"""Whether a whole run has room here: its estimate beside this machine's memory and disk."""

from __future__ import annotations

import shutil
from bisect import bisect_left
from dataclasses import replace
from pathlib import Path
from typing import Final

from thzsync.arrays import memory_bytes, size_text
from thzsync.display import counted
from thzsync.errors import ThzSyncError
from thzsync.feasibility.effort import Asked, Effort, effort_of
from thzsync.scenario.fidelity import in_flows, needs_packets

DOUBT: Final = 1.2
"""An estimate may be too large by this; only what is larger still is refused."""
COPIES: Final = 2
"""The journal of a run stays until its record is complete."""


def check_memory(asked: Asked, effort: Effort) -> None:
    """Refuse a run that surely does not fit into memory, with what would."""
    here = memory_bytes()
    if effort.memory_bytes <= DOUBT * here:
        return
    remedies = _remedies(asked, here) or ["fewer racks", "larger chunks"]
    raise ThzSyncError(
        f"{asked.scenario.name}: {counted(asked.iterations, 'iteration')} would take about "
        f"{size_text(effort.memory_bytes)} of memory and this machine has {size_text(here)}; "
        f"use {' or '.join(remedies)}"
    )


def scarce_disk(effort: Effort, folder: str | Path) -> str | None:
    """What to say if the record hardly fits into the folder's disk."""
    there = Path(folder).absolute()
    while not there.exists():
        there = there.parent
    free, needed = shutil.disk_usage(there).free, COPIES * effort.disk_bytes
    if free >= needed:
        return None
    return (
        f"warning: {folder}: {size_text(free)} are free, and writing the record takes about "
        f"{size_text(needed)}; use fewer iterations or another disk"
    )


def _remedies(asked: Asked, here: int) -> list[str]:
    """Changes by which the run fits."""
    found = []
    if fewer := _fitting_iterations(asked, here):
        found.append(f"at most {counted(fewer, 'iteration')}")
    if asked.kept and _fits(replace(asked, kept=False), here):
        found.append("no --out")
    scenario = asked.scenario
    flows = scenario.with_(optical__fidelity="flow")
    if not in_flows(scenario) and needs_packets(scenario) is None:
        found += ["--set optical.fidelity=flow"] * _fits(replace(asked, scenario=flows), here)
    return found


def _fitting_iterations(asked: Asked, here: int) -> int:
    """The most that fit."""

    def too_many(iterations: int) -> bool:
        return not _fits(replace(asked, iterations=iterations), here)

    return bisect_left(range(1, asked.iterations), True, key=too_many)


def _fits(asked: Asked, here: int) -> bool:
    return effort_of(asked).memory_bytes <= here
