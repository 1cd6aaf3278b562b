"""Training jobs on both fabrics: a simulation that stops wherever somebody has to decide.

The engine walks every job's training graph. When an event is released it describes the situation
and waits for an action; then the event's transfer graph goes to the executor, and time runs on.
Things of one instant are done together: what ends may release what begins, and transmissions are
formed only when everything that is ready at the instant is known.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace
from enum import Enum

from thzsync.arrays import IntArray, to_ps
from thzsync.coordinator import Action, Outcome, Situation
from thzsync.errors import ThzSyncError
from thzsync.execution import Agenda, Executor, Finished, Priority, Work
from thzsync.execution.faults import FaultTimeline
from thzsync.records import SUMMARY, Recorder, References, Run
from thzsync.records.run import until_last_iteration
from thzsync.scenario import Scenario
from thzsync.scenario.fidelity import in_flows
from thzsync.simulation.jobs import JobRun
from thzsync.simulation.metrics import (
    Progress,
    Weights,
    event_cost,
    last_arrivals_s,
    wired_bytes_per_flow,
)
from thzsync.simulation.packet_check import PacketCheck
from thzsync.simulation.rows import iteration_row, write_event, write_task
from thzsync.simulation.sampling import LinkSampler
from thzsync.simulation.world import World
from thzsync.wireless.discipline import declarations
from thzsync.workload import Compute, Event, job_graph


class Phase(Enum):
    """Where the engine stands within an instant."""

    OPENING = "iterations have begun; their first events are decided before time moves"
    MOVING = "time moves to the next thing that happens"
    SETTLING = "everything that follows at this instant is done"


@dataclass(frozen=True, eq=False)
class Pending:
    """An event that waits for its decision."""

    job: JobRun
    event: Event
    situation: Situation
    delays_ps: IntArray


@dataclass(frozen=True, eq=False)
class Decided:
    """An event that is being carried out."""

    pending: Pending
    action: Action


class Engine:
    """The state of one run; its clock never goes back."""

    def __init__(
        self,
        scenario: Scenario,
        seed: int,
        iterations: int,
        references: References | None = None,
        detailed: bool = True,
    ) -> None:
        self.world = World.build(scenario, seed)
        self.references = references or {}
        self.recorder = Recorder() if detailed else Recorder(SUMMARY)
        self.agenda = Agenda()
        self.executor = Executor(
            self.world.fabric,
            self.world.overlay,
            self.agenda,
            to_ps(scenario.thz.fallback_timeout_s),
            self.world.cut,
        )
        self.packet_check = PacketCheck(self.world) if in_flows(scenario) else None
        """Has events replayed packet by packet, where the fibres carry flows."""
        self.outcomes: list[Outcome] = []
        """What became of earlier decisions; whoever reads them takes them out."""
        self.finished: list[Progress] = []
        """Iterations that have ended; whoever reads them takes them out."""
        self.pending: Pending | None = None
        self._weights = Weights(scenario.reward.time_weight, scenario.reward.energy_weight)
        self._decided: dict[int, Decided] = {}
        self._decisions = 0
        self._phase = Phase.OPENING
        self._released: list[tuple[int, int]] = []
        self._stall_ps = to_ps(scenario.collectives.stall_limit_s)
        self._carried = -1
        self._faults = FaultTimeline(
            scenario, self.agenda, self.executor, self.world.fabric, self.world.overlay
        )
        self.sampler = LinkSampler(self.world.fabric, self.agenda, self.recorder)
        self.jobs = [
            JobRun(index, job, job.iterations or iterations, self.recorder.another())
            for index, job in enumerate(scenario.jobs)
        ]
        self._running = len(self.jobs)
        for run in self.jobs:
            if run.job.start_s == 0:
                self._begin_iteration(run)
            else:
                at_ps = to_ps(run.job.start_s)
                self.agenda.add(at_ps, Priority.RELEASE, self._begin_iteration, run)

    @property
    def now_ps(self) -> int:
        """The clock [ps]."""
        return self.executor.now_ps

    # -- the door: situations out, actions in ---------------------------------------------------

    def proceed(self) -> Situation | None:
        """Run until an event must be decided; None when all jobs have done their iterations."""
        while self.pending is None:
            if self._released and self._phase is not Phase.MOVING:
                self.pending = self._activate(*heapq.heappop(self._released))
            elif not self._running:
                return None
            else:
                self._step()
        return self.pending.situation

    def decide(self, action: Action) -> None:
        """Carry out the pending event by this action."""
        if self.pending is None:
            raise ThzSyncError("action: no event waits for a decision; ask for a situation first")
        pending, world = self.pending, self.world
        action.check(pending.situation)
        graph = pending.situation.offer.lower(action.thz_chunks)
        budget_w = action.power * world.scenario.thz.max_power_w
        work = self.executor.start(graph, pending.delays_ps, budget_w, self._rank(pending))
        self._decided[work.number] = Decided(pending, action)
        if self.packet_check is not None:
            self.packet_check.started(work)
        self.pending = None
        self._faults.leave_dead_fibres(work)

    def _rank(self, pending: Pending) -> int:
        """The event's place on THz: what no compute waits for lets the others pass."""
        if self.world.scenario.thz.order == "age":
            return 0
        return int(not pending.job.graph.gates_compute[pending.event.id])

    def _activate(self, index: int, number: int) -> Pending:
        run, world, now = self.jobs[index], self.world, self.now_ps
        event = run.node(number)
        assert isinstance(event, Event)
        delays = world.delays_ps(event, run.iteration, now)
        offer = world.offer(event, delays, now)
        prices = self._weights.prices(self.references.get(event.kind))
        situation = world.situation(self._decisions, offer, delays, now, prices)
        self._decisions += 1
        return Pending(run, event, situation, delays)

    # -- the clock ------------------------------------------------------------------------------

    def _step(self) -> None:
        """One piece of the way to the next decision."""
        executor, agenda = self.executor, self.agenda
        if self._phase is not Phase.SETTLING:
            until = min(agenda.next_ps, executor.progress_ps + self._stall_ps)
            self._take(executor.advance(until))
            agenda.run_due(executor.now_ps)
            self._phase = Phase.SETTLING
            if self._released:
                return
        # What ends now may make chunks ready now: a round must see all of them, or it would be
        # formed from half of what is ready and hold up the rest until its end.
        now_ps = executor.now_ps
        self._take(executor.advance(now_ps))
        if not agenda.run_due(now_ps) and not self._released:
            executor.dispatch()
            self._close_instant(now_ps)

    def _close_instant(self, now_ps: int) -> None:
        if now_ps - self.executor.progress_ps >= self._stall_ps:
            self._check_progress()
        ended = [run for run in self.jobs if run.iteration >= 0 and run.iteration_done]
        for run in ended:
            self._end_iteration(run)
        self._phase = Phase.OPENING if ended else Phase.MOVING

    def _take(self, finished: list[Finished]) -> None:
        for done in finished:
            self._event_done(done)

    # -- jobs -----------------------------------------------------------------------------------

    def _begin_iteration(self, run: JobRun) -> None:
        world = self.world
        graph = job_graph(run.job, world.topology, world.streams, run.iteration + 1)
        self.executor.progress_ps = self.now_ps
        for number in run.begin(graph, self.now_ps, world.fabric.network.links):
            self._release(run, number)

    def _end_iteration(self, run: JobRun) -> None:
        self.sampler.cut()
        end_ps, floor = self.now_ps, self.world.scenario.floor
        makespan_ps = end_ps - run.start_ps
        progress = run.tally.progress(run.job.name, run.iteration, makespan_ps)
        row = iteration_row(
            progress,
            run.tally,
            run.start_ps,
            end_ps,
            computing_s=run.graph.critical_path_s(),
            slots=floor.racks * self.world.scenario.thz.subbands,
            optical_utilisation=run.tally.busiest(self.world.fabric.network.rate_bps, makespan_ps),
        )
        run.recorder.add("iterations", **row)
        self.recorder.extend(run.recorder)
        self.finished.append(progress)
        if run.over:
            self._running -= 1
            run.iteration = -1
        else:
            self._begin_iteration(run)

    def _release(self, run: JobRun, number: int) -> None:
        node = run.node(number)
        if isinstance(node, Compute):
            start, duration = self.now_ps, to_ps(node.duration_s)
            done = (run, node, start)
            self.agenda.add(start + duration, Priority.COMPUTE_END, self._compute_done, done)
            return
        nominal = run.start_ps + to_ps(node.release_s)
        if nominal > self.now_ps:
            self.agenda.add(nominal, Priority.RELEASE, self._put_released, (run.index, number))
        else:
            self._put_released((run.index, number))

    def _put_released(self, node: tuple[int, int]) -> None:
        heapq.heappush(self._released, node)  # events of one instant go by job and number

    def _compute_done(self, done: tuple[JobRun, Compute, int]) -> None:
        run, task, start_ps = done
        run.tally.computed.append((task, start_ps, self.now_ps))
        write_task(run.recorder, run.iteration, task, start_ps, self.now_ps)
        self._complete(run, task.id)

    def _event_done(self, done: Finished) -> None:
        decided = self._decided.pop(done.work.number)
        if self.packet_check is not None:
            self.packet_check.finished(done)
        pending, world = decided.pending, self.world
        run, event = pending.job, pending.event
        graph, wired = done.work.graph, wired_bytes_per_flow(done)
        world.fabric.network.add_load(run.tally.load_bytes, graph.src, graph.dst, wired)
        optical_j = world.optical_energy_j(graph, wired)
        reference = self.references.get(event.kind)
        cost = event_cost(done, int(wired.sum()), optical_j, self._weights, reference)
        run.tally.costs.append(cost)
        write_event(run.recorder, run.iteration, event, decided.action, done, cost)
        self.outcomes.append(
            Outcome(
                pending.situation.decision,
                cost.completion_s,
                cost.energy_j,
                cost.reward,
                *last_arrivals_s(done),
            )
        )
        self._complete(run, event.id)

    def _complete(self, run: JobRun, number: int) -> None:
        self.executor.progress_ps = self.now_ps
        for released in run.complete(number):
            self._release(run, released)

    # -- when nothing moves ---------------------------------------------------------------------

    def _check_progress(self) -> None:
        """Give up when no compute, round or late rack is awaited and nothing crosses a fibre."""
        carried = int(self.world.fabric.link_bytes().foreground.sum())
        active = self.executor.active.values()
        late = any(w.release_ps + w.delays_ps.max() > self.now_ps for w in active)
        if carried == self._carried and not late and not self.agenda.promises:
            self._give_up(list(active))
        self._carried, self.executor.progress_ps = carried, self.now_ps

    def _give_up(self, active: list[Work]) -> None:
        stuck = [(self._decided[w.number].pending, w) for w in active[:3]]
        waiting = ", ".join(
            f"{p.event.name} of job {p.job.job.name!r} in iteration {p.job.iteration} among racks "
            f"{', '.join(map(str, w.graph.racks))}"
            for p, w in stuck
        )
        raise ThzSyncError(
            f"nothing has arrived since {self.executor.progress_ps * 1e-12:.6f} s and {waiting} "
            f"cannot be completed; check the faults or raise collectives.stall_limit_s"
        )

    def record(self, policy: str) -> Run:
        """All finished iterations as a run."""
        world, tables = self.world, until_last_iteration(self.recorder.frames())
        run = Run(world.scenario, policy, world.streams.seed, self.references, tables)
        run = replace(run, disciplines=declarations())
        if self.packet_check is None:
            return run
        return replace(run, fidelity=self.packet_check.fidelity(run.events["number"].to_numpy()))
