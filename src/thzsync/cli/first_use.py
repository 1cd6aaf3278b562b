"""The first command of an installation: kernels are compiled once, before workers start.

Worker processes would each compile the same. Two short runs call all kernels as any run does.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from thzsync.jit import about_to_compile, code_folder
from thzsync.workers import default_workers

KERNELS: Final = (
    "optical/kernel.advance",
    "transfers/batch.rows_of",
    "wireless/forming.form_round",
    "wireless/streaming.stream",
    "coordinator/search.search_all",
    "coordinator/posterior.factorise",
)
"""``folder/module.function`` of the largest or last kernels; where they are stored, all are."""
RUNS: Final = (("all-wireless", 1), ("thz-sync", 3))
"""Policy and iterations of the runs that call all kernels, on a tiny floor."""


def missing() -> list[str]:
    """Kernels whose machine code is not stored, but could be."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return []
    sources = Path(__file__).parents[1]
    places = [(kernel, *kernel.split("/")) for kernel in KERNELS]
    folders = {folder: code_folder(sources / folder) for _, folder, _ in places}
    return [
        kernel
        for kernel, folder, name in places
        if (stored := folders[folder]) is not None and not any(stored.glob(f"{name}-*.nbi"))
    ]


def prepare(workers: int | None = None) -> None:
    """Compile what is missing, before several workers would each compile it.

    In one process: Numba's files of stored code are not made for several writers. With one worker
    nothing is done: the kernels are compiled when they are needed.
    """
    count = default_workers() if workers is None else workers
    if count < 2 or not missing():
        return
    from thzsync.scenario import Scenario
    from thzsync.simulation import simulate

    about_to_compile()
    for policy, iterations in RUNS:
        simulate(Scenario.preset("tiny"), policy, iterations)
