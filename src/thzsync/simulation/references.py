"""Reference costs of a realisation: what its events cost under All-Wired, and nothing else.

The run is that of :func:`thzsync.simulation.simulate` to the last bit. But nobody looks at the
situations, no rows are kept, and no event is checked packet by packet.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from thzsync.execution import Finished
from thzsync.records import References
from thzsync.scenario import Scenario
from thzsync.simulation.engine import Engine
from thzsync.simulation.jobs import JobRun
from thzsync.simulation.metrics import event_cost, wired_bytes_per_flow
from thzsync.simulation.results import Row, mean_of_rows, not_finite
from thzsync.workload import Event

Step = Callable[[], object]
"""Called before every decision, for counting them."""
REFERENCE_ITERATIONS: Final = 3
"""Iterations of All-Wired over which the reward's references are averaged."""


def reference_costs(scenario: Scenario, seed: int, step: Step | None = None) -> References:
    """Mean time [s] and energy [J] per collective type of All-Wired in the same realisation.

    ``step`` is called before every decision.
    """
    engine = _AllWired(scenario, seed, step or (lambda: None))
    engine.proceed()
    found = mean_of_rows(engine.rows)
    for kind, costs in found.items():
        for name, value in zip(("time", "energy"), costs, strict=True):
            if not math.isfinite(value):
                raise not_finite(f"All-Wired, {kind}", f"mean {name}", value)
    return found


class _AllWired(Engine):
    """An engine that puts every chunk on fibre and keeps the costs of events alone."""

    def __init__(self, scenario: Scenario, seed: int, step: Step) -> None:
        super().__init__(scenario, seed, REFERENCE_ITERATIONS, detailed=False)
        self.packet_check = None  # the run itself has a certificate
        self.rows: list[Row] = []
        """Events of the iterations that have ended."""
        self._count = step
        self._begun: dict[int, tuple[JobRun, Event]] = {}
        self._of_iteration: list[list[Row]] = [[] for _ in self.jobs]

    def _activate(self, index: int, number: int) -> None:
        self._count()
        run, world, now_ps = self.jobs[index], self.world, self.now_ps
        event = run.node(number)
        assert isinstance(event, Event)
        delays_ps = world.event_delays_ps(event, run.iteration, now_ps)
        offer = world.offer(event, delays_ps, now_ps)
        graph = offer.transfers(np.zeros((offer.units, 1), dtype=np.int64))
        silent_w = np.zeros(len(event.racks))
        work = self.executor.start(graph, delays_ps, silent_w, self._rank(run, event))
        self._begun[work.number] = run, event
        self._faults.leave_dead_fibres(work)

    def _event_done(self, done: Finished) -> None:
        run, event = self._begun.pop(done.work.number)
        fibre = self.world.fibre_use(done.work.graph, wired_bytes_per_flow(done))
        cost = event_cost(done, fibre, self.world, self._weights, None)
        row = event.kind, cost.completion_s * 1e3, cost.counted_j
        self._of_iteration[run.index].append(row)
        self._complete(run, event.id)

    def _record_iteration(self, run: JobRun) -> None:
        self.rows += self._of_iteration[run.index]
        self._of_iteration[run.index].clear()
