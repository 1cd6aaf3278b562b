"""One clock over the training graph, the packet kernel and the THz executor.

The loop lets the optical kernel run until something is reported or something on the agenda is
due, hands chunks whose precedence is met to the THz executor, starts every round that fits, and
releases the graph's next nodes when an event's last chunk has arrived. The packet kernel holds the
precedence of all chunks, also of those that THz carries, so dependencies cross the fabrics freely.
"""

from __future__ import annotations

import heapq

import numpy as np

from thzsync.arrays import IntArray, to_ps
from thzsync.coordinator import Outcome, Policy
from thzsync.errors import ThzSyncError
from thzsync.optical import DONE, Reports
from thzsync.scenario import Scenario
from thzsync.simulation.active import ActiveEvent, chunk_batch, decided_on_thz
from thzsync.simulation.agenda import NEVER_PS, Agenda, Priority
from thzsync.simulation.faults import FaultTimeline
from thzsync.simulation.metrics import EventCost, Progress, event_row, iteration_row, task_row
from thzsync.simulation.recorder import Recorder
from thzsync.simulation.records import References, Run
from thzsync.simulation.sampling import LinkSampler
from thzsync.simulation.world import World
from thzsync.wireless import Round
from thzsync.workload import Compute, Event, TrainingGraph, scenario_graph


class Engine:
    """Runs iterations one after another; its clock never goes back."""

    def __init__(
        self, scenario: Scenario, policy: Policy, seed: int, references: References | None = None
    ) -> None:
        self.world = World.build(scenario, seed)
        self.policy = policy
        self.references = references or {}
        self.recorder = Recorder()
        self.agenda = Agenda()
        self.active: dict[int, ActiveEvent] = {}
        self._timeout_ps = to_ps(scenario.thz.fallback_timeout_s)
        self._stall_ps = to_ps(scenario.collectives.stall_limit_s)
        self._next_number = 0
        self._iteration = 0
        self._wake_ps = NEVER_PS
        self._last_progress_ps = 0
        self._carried = -1
        self._faults = FaultTimeline(self)
        self.sampler = LinkSampler(self.world, self.agenda, self.recorder)

    @property
    def iterations_done(self) -> int:
        """How many iterations are finished and recorded."""
        return self._iteration

    @property
    def now_ps(self) -> int:
        """The clock [ps]."""
        return self.world.fabric.now_ps

    def run_iteration(self) -> Progress:
        """Run one training iteration to its end and record it; all of it or nothing."""
        mark = self.recorder.mark()
        try:
            return self._iterate()
        except BaseException:
            self.recorder.rewind(mark)
            raise

    def _iterate(self) -> Progress:
        world = self.world
        graph = scenario_graph(world.scenario, world.topology, world.streams, self._iteration)
        self._start(graph)
        while self._unfinished:
            self.step()
        progress = iteration_row(self, graph)
        self._iteration += 1
        return progress

    # -- the training graph -------------------------------------------------------------------

    def _start(self, graph: TrainingGraph) -> None:
        self.graph = graph
        self.iteration = self._iteration
        self.start_ps = self._last_progress_ps = self.now_ps
        self.costs: list[EventCost] = []
        self.busy_ps = 0
        self._unfinished = len(graph.nodes)
        self._pending = graph.indegree.tolist()
        self._released: list[int] = []
        for node in np.flatnonzero(graph.indegree == 0).tolist():
            self._release(node)
        self._activate_released()

    def _complete(self, node: int) -> None:
        self._unfinished -= 1
        self._last_progress_ps = self.now_ps
        rows = self.graph.successors
        for successor in rows.target[rows.start[node] : rows.start[node + 1]].tolist():
            self._pending[successor] -= 1
            if self._pending[successor] == 0:
                self._release(successor)

    def _release(self, number: int) -> None:
        node = self.graph.nodes[number]
        if isinstance(node, Compute):
            start, duration = self.now_ps, to_ps(node.duration_s)
            self.agenda.add(
                start + duration, Priority.COMPUTE_END, self._compute_done, (node, start)
            )
            return
        nominal = self.start_ps + to_ps(node.release_s)
        if nominal > self.now_ps:
            self.agenda.add(nominal, Priority.RELEASE, self._put_released, number)
        else:
            self._put_released(number)

    def _put_released(self, number: int) -> None:
        heapq.heappush(self._released, number)  # events of one instant go by their number

    def _compute_done(self, done: tuple[Compute, int]) -> None:
        task, start_ps = done
        self.busy_ps += self.now_ps - start_ps
        self.recorder.add("tasks", **task_row(self.iteration, task, start_ps, self.now_ps))
        self._complete(task.id)

    # -- activation and completion of events --------------------------------------------------

    def _activate_released(self) -> None:
        while self._released:
            node = self.graph.nodes[heapq.heappop(self._released)]
            assert isinstance(node, Event)
            self.activate(node)

    def activate(self, event: Event) -> None:
        """Synthesise an event, have it decided, and hand its chunks to both fabrics."""
        self.activating = event
        world, now = self.world, self.now_ps
        delays = world.delays_ps(event, self.iteration, now)
        plan = world.synthesize(event, delays, now)
        context = world.context(plan, delays, now)
        action = self.policy.decide(context)
        action.check(context)
        on_thz = decided_on_thz(plan, action.thz_chunks)
        base = world.fabric.submit(chunk_batch(plan, on_thz, delays, now), now)
        number = self._next_number
        self._next_number += 1
        self.active[number] = ActiveEvent(
            number, event, plan, context, action, now, delays, base, on_thz
        )
        budget_w = action.power * world.scenario.thz.max_power_w
        world.overlay.admit(number, plan, world.method(event), action.thz_chunks, budget_w, now)
        self._faults.leave_dead_fibres(self.active[number])

    def _event_done(self, active: ActiveEvent) -> None:
        world = self.world
        chunks = len(active.plan.chunk_flow)
        delivered = world.fabric.finished(active.base, chunks)
        world.fabric.retire(active.base)
        world.overlay.retire(active.number)
        del self.active[active.number]
        cost = EventCost.of(world, active, self.now_ps)
        reward = self._reward(active, cost)
        self.costs.append(cost.with_reward(reward))
        self.recorder.add("events", **event_row(self.iteration, active, self.now_ps, cost, reward))
        self.recorder.add_event(active, delivered.ready_ps, delivered.arrival_ps)
        outcome = Outcome(cost.completion_s, cost.energy_j, reward)
        self.policy.learn(active.context, active.action, outcome)
        self._complete(active.event.id)

    def _reward(self, active: ActiveEvent, cost: EventCost) -> float:
        reference = self.references.get(active.plan.kind.value)
        if reference is None:
            return 0.0
        weights = self.world.scenario.reward
        time = weights.time_weight * cost.completion_s / reference[0]
        energy = weights.energy_weight * cost.energy_j / reference[1] if reference[1] else 0.0
        return -(time + energy)

    # -- the clock ----------------------------------------------------------------------------

    def step(self) -> None:
        """Go to the next instant at which anything happens, and do all of it."""
        world = self.world
        until = min(self.agenda.next_ps, self._last_progress_ps + self._stall_ps)
        self._take(world.fabric.advance(until))
        self.agenda.run_due(self.now_ps)
        self.settle()
        if self.now_ps - self._last_progress_ps >= self._stall_ps:
            self._check_progress()

    def settle(self) -> None:
        """Do everything that follows at this instant, then start rounds.

        What ends now may make chunks ready now: a round must see all of them, or it would be
        formed from half of what is ready and hold up the rest until its end.
        """
        self._activate_released()
        self._take(self.world.fabric.advance(self.now_ps))
        while self.agenda.run_due(self.now_ps) or self._released:
            self._activate_released()
            self._take(self.world.fabric.advance(self.now_ps))
        self._dispatch()

    def _take(self, reports: Reports) -> None:
        if not len(reports.node):
            return
        for active in list(self.active.values()):
            last = active.base + len(active.plan.chunk_flow)
            mine = (reports.node >= active.base) & (reports.node < last)
            if mine.any():
                flow, chunk = active.chunk_of_node(reports.node[mine])
                self.world.overlay.ready_many(active.number, flow, chunk, self.now_ps)
        for node in reports.node[reports.what == DONE]:
            self._event_done(self._owner(int(node)))

    def _owner(self, node: int) -> ActiveEvent:
        return max(
            (a for a in self.active.values() if a.base <= node), key=lambda active: active.base
        )

    def _dispatch(self) -> None:
        overlay = self.world.overlay
        for started in overlay.dispatch(self.now_ps):
            self.active[started.number].rounds.append(started)
            self.agenda.add(started.end_ps, Priority.ROUND_END, self._round_done, started)
        self._fall_back()

    def _round_done(self, served: Round) -> None:
        self.world.overlay.finish(served, self.now_ps)
        nodes = self.active[served.number].nodes_of_round(served)
        self.world.fabric.complete(nodes, self.now_ps)
        self._last_progress_ps = self.now_ps

    # -- when a fabric fails --------------------------------------------------------------------

    def _fall_back(self) -> None:
        """Hand THz chunks that were stuck for too long to the fibre; wake up for the rest."""
        now, overlay = self.now_ps, self.world.overlay
        self._wake_at(overlay.next_change_ps(now))
        for stuck in overlay.waiting():
            due_ps = stuck.since_ps + self._timeout_ps
            if due_ps > now:
                self._wake_at(due_ps)
                continue
            active = self.active[stuck.number]
            places = active.plan.first_chunk[stuck.flow] + stuck.chunks
            for chunk in stuck.chunks.tolist():
                overlay.withdraw(stuck.number, stuck.flow, chunk)
            active.on_thz[places] = False
            self.world.fabric.to_wired(active.base + places, now)

    def _wake_at(self, at_ps: int) -> None:
        if at_ps < self._wake_ps:
            self._wake_ps = at_ps
            self.agenda.add(at_ps, Priority.WAKE, self._woken, at_ps)

    def _woken(self, at_ps: int) -> None:
        if at_ps == self._wake_ps:
            self._wake_ps = NEVER_PS

    def _check_progress(self) -> None:
        """Give up when no compute, round or late rack is awaited and nothing crosses a fibre."""
        carried = int(self.world.fabric.link_bytes().foreground.sum())
        late = any(a.release_ps + a.delays_ps.max() > self.now_ps for a in self.active.values())
        if carried == self._carried and not late and not self.agenda.promises:
            self._give_up()
        self._carried, self._last_progress_ps = carried, self.now_ps

    def _give_up(self) -> None:
        waiting = ", ".join(
            f"{a.event.name} among racks {', '.join(map(str, a.plan.racks))}"
            for a in list(self.active.values())[:3]
        )
        raise ThzSyncError(
            f"iteration {self.iteration}: nothing has arrived since "
            f"{self._last_progress_ps * 1e-12:.6f} s and {waiting} cannot be completed; "
            f"check the faults or raise collectives.stall_limit_s"
        )

    def move_to_thz(self, active: ActiveEvent, positions: IntArray) -> None:
        """Move chunks of which no packet has left yet from a dead fibre to THz."""
        nodes = active.base + positions
        accepted = positions[self.world.fabric.to_external(nodes, self.now_ps)]
        if not len(accepted):
            return
        active.on_thz[accepted] = True
        flow = active.plan.chunk_flow[accepted]
        chunk = accepted - active.plan.first_chunk[flow]
        for f, k in zip(flow.tolist(), chunk.tolist(), strict=True):
            self.world.overlay.adopt(active.number, f, k)

    def finish(self, policy_name: str) -> Run:
        """All finished iterations as a run."""
        return Run(
            self.world.scenario,
            policy_name,
            self.world.streams.seed,
            self.references,
            self.recorder.frames(),
        )
