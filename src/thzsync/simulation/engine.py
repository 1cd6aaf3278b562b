"""Training jobs on both carriers: a simulation that stops at every decision.

The engine walks every job's training graph. When an event is released, it describes the situation
and waits for an action; then the event's transfer graph goes to the executor, and time continues.
Everything of one instant is done together: what ends may release what begins, and transmissions
are formed only when everything that is ready at the instant is known.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace
from enum import Enum

from thzsync.arrays import IntArray, to_ps
from thzsync.coordinator import Action, Outcome, Situation
from thzsync.errors import ThzSyncError
from thzsync.execution import Agenda, Executor, Finished, Priority, Work
from thzsync.execution.carrier import carrier_facts
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
from thzsync.simulation.rows import LinkSampler, write_event, write_iteration, write_task
from thzsync.simulation.world import World
from thzsync.transfers.coarsening import cut_of
from thzsync.wireless.discipline import declarations
from thzsync.workload import Compute, Event, job_graph


class Phase(Enum):
    """Phase of the engine within an instant."""

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
            self.world.carriers,
            self.agenda,
            to_ps(scenario.thz.fallback_timeout_s),
            cut_of(scenario),
        )
        self.packet_check = PacketCheck(self.world) if in_flows(scenario) else None
        """Replays events packet by packet, in flow fidelity."""
        self.outcomes: list[Outcome] = []
        """Outcomes that have not been read; reading removes them."""
        self.finished: list[Progress] = []
        """Iterations that have ended and have not been read; reading removes them."""
        self.pending: Pending | None = None
        reward = scenario.reward
        self._weights = Weights(reward.time_weight, reward.energy_weight, reward.energy)
        self._decided: dict[int, tuple[Pending, Action]] = {}
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

    # -- situations out, actions in --------------------------------------------------------------

    def proceed(self) -> Situation | None:
        """Run to the next event to decide; None when all jobs have done their iterations."""
        while self.pending is None:
            if self._released and self._phase is not Phase.MOVING:
                self.pending = self._activate(*heapq.heappop(self._released))
            elif not self._running:
                return None
            else:
                self._step()
        return self.pending.situation

    def decide(self, action: Action) -> None:
        """Carry out the pending event with this action."""
        if self.pending is None:
            raise ThzSyncError("action: no event waits for a decision; ask for a situation first")
        if not isinstance(action, Action):
            raise ThzSyncError(f"action: found {action!r}; give an Action")
        pending, world = self.pending, self.world
        action.check(pending.situation)
        graph = pending.situation.offer.transfers(action.chunks)
        budget_w = action.power * world.scenario.thz.max_power_w
        rank = self._rank(pending.job, pending.event)
        work = self.executor.start(graph, pending.delays_ps, budget_w, rank)
        self._decided[work.number] = (pending, action)
        if self.packet_check is not None:
            self.packet_check.started(work)
        self.pending = None
        self._faults.leave_dead_fibres(work)

    def _rank(self, run: JobRun, event: Event) -> int:
        """The event's rank on THz: events that no compute task waits for come last."""
        if self.world.scenario.thz.order == "age":
            return 0
        return int(not run.graph.gates_compute[event.id])

    def _activate(self, index: int, number: int) -> Pending | None:
        run, world, now = self.jobs[index], self.world, self.now_ps
        event = run.node(number)
        assert isinstance(event, Event)
        delays = world.event_delays_ps(event, run.iteration, now)
        offer = world.offer(event, delays, now)
        static_w = world.meter.watts(len(event.racks))
        prices = self._weights.prices(self.references.get(event.kind), static_w)
        situation = world.situation(self._decisions, offer, delays, now, prices)
        self._decisions += 1
        return Pending(run, event, situation, delays)

    # -- the clock ------------------------------------------------------------------------------

    def _step(self) -> None:
        """One step towards the next decision."""
        executor, agenda = self.executor, self.agenda
        if self._phase is not Phase.SETTLING:
            until = min(agenda.next_ps, executor.progress_ps + self._stall_ps)
            self._advance(until)
            agenda.run_due(executor.now_ps)
            self._phase = Phase.SETTLING
            if self._released:
                return
        # What ends now may make chunks ready now. A round must see all of them; formed from some,
        # it would delay the others until its end.
        now_ps = executor.now_ps
        self._advance(now_ps)
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

    def _advance(self, until_ps: int) -> None:
        for done in self.executor.advance(until_ps):
            self._event_done(done)

    # -- jobs -----------------------------------------------------------------------------------

    def _begin_iteration(self, run: JobRun) -> None:
        world = self.world
        graph = job_graph(run.job, world.topology, world.streams, run.iteration + 1)
        self.executor.progress_ps = self.now_ps
        for number in run.begin(graph, self.now_ps, world.fabric.network.links):
            self._release(run, number)

    def _end_iteration(self, run: JobRun) -> None:
        self._record_iteration(run)
        if run.over:
            self._running -= 1
            run.iteration = -1
        else:
            self._begin_iteration(run)

    def _record_iteration(self, run: JobRun) -> None:
        self.sampler.cut()
        progress = run.progress(self.now_ps)
        write_iteration(run, progress, self.now_ps, self.world)
        self.recorder.extend(run.recorder)
        self.finished.append(progress)

    def _release(self, run: JobRun, number: int) -> None:
        node = run.node(number)
        if isinstance(node, Compute):
            end_ps, done = self.now_ps + to_ps(node.duration_s), (run, node, self.now_ps)
            self.agenda.add(end_ps, Priority.COMPUTE_END, self._compute_done, done)
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
        run.computed.append((task, start_ps, self.now_ps))
        write_task(run.recorder, run.iteration, task, start_ps, self.now_ps)
        self._complete(run, task.id)

    def _event_done(self, done: Finished) -> None:
        pending, action = self._decided.pop(done.work.number)
        if self.packet_check is not None:
            self.packet_check.finished(done)
        run, event, world = pending.job, pending.event, self.world
        graph, wired = done.work.graph, wired_bytes_per_flow(done)
        world.fabric.network.add_load(run.load_bytes, graph.src, graph.dst, wired)
        reference = self.references.get(event.kind)
        cost = event_cost(done, world.fibre_use(graph, wired), world, self._weights, reference)
        run.costs.append(cost)
        write_event(run.recorder, run.iteration, event, action, done, cost, world.scenario.thz)
        number = pending.situation.decision
        fibre_s, thz_s, *further_s = last_arrivals_s(done, 1 + len(world.carriers))
        self.outcomes.append(
            Outcome(
                number, cost.completion_s, cost.counted_j, cost.reward, fibre_s, thz_s,
                tuple(further_s),
            )
        )  # fmt: skip
        self._complete(run, event.id)

    def _complete(self, run: JobRun, number: int) -> None:
        self.executor.progress_ps = self.now_ps
        for released in run.complete(number):
            self._release(run, released)

    # -- when nothing moves ---------------------------------------------------------------------

    def _check_progress(self) -> None:
        """Give up if no compute, round or straggler is pending and no fibre carries anything."""
        carried = int(self.world.fabric.link_bytes().foreground.sum())
        active = self.executor.active.values()
        delayed = any(w.release_ps + w.delays_ps.max() > self.now_ps for w in active)
        if carried == self._carried and not delayed and not self.agenda.promises:
            self._give_up(list(active))
        self._carried, self.executor.progress_ps = carried, self.now_ps

    def _give_up(self, active: list[Work]) -> None:
        stuck = [(self._decided[w.number][0], w) for w in active[:3]]
        waiting = ", ".join(
            f"{p.event.name} of job {p.job.job.name!r} in iteration {p.job.iteration} among racks "
            f"{', '.join(map(str, w.graph.racks))}"
            for p, w in stuck
        )
        used = sorted({name for _, w in stuck for name in w.graph.disciplines if name})
        of_disciplines = f"the disciplines in use ({', '.join(used)}), " if used else ""
        raise ThzSyncError(
            f"nothing has arrived since {self.executor.progress_ps * 1e-12:.6f} s and {waiting} "
            f"cannot be completed; check the faults, {of_disciplines}or raise "
            f"collectives.stall_limit_s"
        )

    def record(self, policy: str) -> Run:
        """All finished iterations as a run."""
        world, tables = self.world, until_last_iteration(self.recorder.frames())
        run = Run(world.scenario, policy, world.streams.seed, self.references, tables)
        run = replace(run, disciplines=declarations(), carriers=carrier_facts(world.scenario))
        if self.packet_check is None:
            return run
        return replace(run, fidelity=self.packet_check.fidelity(run.events["number"].to_numpy()))
