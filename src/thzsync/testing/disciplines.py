"""What every discipline must keep."""

from __future__ import annotations

from functools import partial
from typing import Final

import polars as pl

from thzsync.errors import ThzSyncError
from thzsync.synthesis import FlowMethod
from thzsync.synthesis.exchanges import FreeTransfers
from thzsync.synthesis.method import Planner
from thzsync.synthesis.registry import METHODS
from thzsync.synthesis.trees import Trees
from thzsync.testing.floors import RandomPolicy, check_run, small_floors
from thzsync.wireless.discipline import DISCIPLINES, Discipline

NAME: Final = "conformance"
PLANS: Final[dict[str, Planner]] = {
    "p2p": FreeTransfers("p2p"),
    "a2a": FreeTransfers("a2a"),
    "allreduce": Trees(),
}


def check_discipline(discipline: Discipline, seed: int = 0) -> int:
    """Simulate small floors whose collectives all use it; returns its transmissions.

    Every chunk must be delivered, two runs must be the same, and the audit must find that each run
    keeps to what the discipline declares. A fault in the middle of a run is one of the cases.
    """
    place, count = f"discipline {discipline.name!r}", 0
    with DISCIPLINES.temporarily(discipline), METHODS.temporarily(*_methods(discipline.name)):
        for k, scenario in small_floors(seed, collectives__a2a=NAME, collectives__allreduce=NAME,
                                        collectives__p2p=NAME):  # fmt: skip
            run = check_run(place, scenario, k, partial(RandomPolicy, k))
            count += run.tables["transmissions"].height
            used = run.tables["rounds"].filter(pl.col("discipline") != discipline.name)
            if used.height:
                raise ThzSyncError(f"{place}: rounds of the run name {used['discipline'][0]!r}")
    if not count:
        raise ThzSyncError(f"{place}: it began no transmission")
    return count


def _methods(discipline: str) -> list[FlowMethod]:
    return [FlowMethod(kind, NAME, plan, discipline, "") for kind, plan in PLANS.items()]
