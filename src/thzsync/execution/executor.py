"""The executor: one clock and one ledger over all carriers.

It submits an event's chunks to the ledger, passes those whose predecessors are done to their
carrier, starts what carriers can start, and moves chunks from a carrier that fails to the fibre.
The driver of the executor uses the same agenda for its own calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from thzsync.arrays import NEVER_PS, FloatArray, IntArray
from thzsync.carriers import FIBRE, THZ
from thzsync.execution.agenda import Agenda, Priority
from thzsync.execution.carrier import Carrier, Sending
from thzsync.optical import Fabric
from thzsync.transfers import TransferGraph
from thzsync.transfers.coarsening import Coarsening, Cut
from thzsync.transfers.ledger import Ledger
from thzsync.transfers.lowering import event_batch
from thzsync.transfers.precedence import DONE
from thzsync.wireless import Round, Stuck


@dataclass(eq=False)
class Work:
    """One event between its decision and its completion."""

    number: int
    graph: TransferGraph
    release_ps: int
    delays_ps: IntArray
    base: int
    """The ledger's node of the first chunk; the event's last node is its join."""
    sent: list[tuple[int, Round | Sending]] = field(default_factory=list)
    """What carriers beside fibre have sent, with their numbers."""
    coarsening: Coarsening | None = None
    """The chunks of every node; None where every chunk is a node."""

    @property
    def rounds(self) -> list[Round]:
        """What THz has sent."""
        return [sent for _, sent in self.sent if isinstance(sent, Round)]

    @property
    def sendings(self) -> list[tuple[int, Sending]]:
        """What further carriers have sent, with their numbers."""
        return [(k, sent) for k, sent in self.sent if isinstance(sent, Sending)]

    @property
    def chunks(self) -> int:
        """Number of chunks."""
        return int(self.graph.first_chunk[-1])

    @cached_property
    def node_count(self) -> int:
        """Number of nodes of its chunks."""
        return self.chunks if self.coarsening is None else self.coarsening.nodes

    def nodes_of(self, rows: IntArray) -> IntArray:
        """Nodes of chunks that each have a node."""
        if self.coarsening is None:
            return self.base + rows
        graph = self.graph
        return self.base + self.coarsening.node(graph.chunk_flow[rows], graph.chunk_number[rows])

    def nodes(self, sent: Round | Sending) -> IntArray:
        """Nodes of the chunks that a sending delivered."""
        # chunks beside the fibre each have a node and come first in their flow
        first = self.graph.first_chunk if self.coarsening is None else self.coarsening.first_node
        return sent.delivered(first, self.base)


@dataclass(frozen=True, eq=False)
class Finished:
    """A completed event with the carrier and times of its chunks."""

    work: Work
    end_ps: int
    carrier: IntArray
    """The carrier of every chunk."""
    ready_ps: IntArray
    arrival_ps: IntArray


class Executor:
    """Carries out transfer graphs; its clock never goes back.

    The fibre hosts the clock: its own chunks start inside compiled code. Without a fibre, that is a
    bare ledger.
    """

    def __init__(
        self,
        fibre: Fabric | Ledger,
        carriers: Sequence[Carrier],
        agenda: Agenda,
        timeout_ps: int,
        cut: Cut | None = None,
    ) -> None:
        self.fibre, self.agenda = fibre, agenda
        self.carriers = dict(enumerate(carriers, FIBRE + 1))
        """Carriers beside fibre, by number."""
        self._cut = cut
        self.active: dict[int, Work] = {}
        self.progress_ps = 0
        """Time of the last end of an event, a round or a compute task [ps]."""
        self.fibre_works: Callable[[TransferGraph, int], bool] = lambda _src, _dst: True
        """Whether the fibre from one rack to another works."""
        self._timeout_ps = timeout_ps
        self._next_number = 0
        self._wake_ps = NEVER_PS

    @property
    def now_ps(self) -> int:
        """The clock [ps]."""
        return self.fibre.ledger.now_ps

    def start(
        self, graph: TransferGraph, delays_ps: IntArray, budget_w: FloatArray, rank: int = 0
    ) -> Work:
        """Start an event now; ``delays_ps`` and ``budget_w`` [W] follow ``graph.racks``.

        Beside the fibre, events of a lower ``rank`` go first.
        """
        now_ps, number = self.now_ps, self._next_number
        self._next_number += 1
        coarsening = None if self._cut is None else Coarsening.of(graph, self._cut)
        batch = event_batch(graph, delays_ps, now_ps, coarsening)
        base = self.fibre.submit(batch, now_ps)
        work = Work(number, graph, now_ps, delays_ps, base, coarsening=coarsening)
        self.active[number] = work
        for carrier in self.carriers.values():
            carrier.admit(number, graph, budget_w, rank)
        return work

    def advance(self, until_ps: int) -> list[Finished]:
        """Run to the next report, or to ``until_ps``; return the events that ended, in order."""
        reports = self.fibre.advance(until_ps)
        if not len(reports.node):
            return []
        ended = reports.what == DONE
        if not ended.any():
            self._hand_over(reports.node)
            return []
        done = reports.node[ended]
        if len(done) < len(ended):
            self._hand_over(reports.node[~ended])
        return [self._finish(self._owner(int(node))) for node in done]

    def dispatch(self) -> None:
        """Start everything that carriers can start now; call when all ready chunks are known."""
        now_ps = self.now_ps
        while True:
            for number, carrier in self.carriers.items():
                for started in carrier.dispatch(now_ps):
                    sent = number, started
                    self.active[started.number].sent.append(sent)
                    self.agenda.add(started.end_ps, Priority.ROUND_END, self._sent, sent)
            if not self._fall_back(now_ps):  # others may have waited for the chunks that moved
                return

    def move(self, work: Work, rows: IntArray, source: int, target: int) -> None:
        """Move chunks that have not been sent, from fibre those of which no packet has left."""
        if source != FIBRE:
            self.carriers[source].withdraw(work.number, rows)
        moved = rows[self.fibre.move(work.nodes_of(rows), source, target, self.now_ps)]
        if target != FIBRE and len(moved):
            self.carriers[target].adopt(work.number, moved)

    def carrier(self, work: Work) -> IntArray:
        """The carriers that have the chunks of an event now."""
        owners = self.fibre.ledger.owners(work.base, work.node_count)
        return owners if work.coarsening is None else work.coarsening.spread(owners)

    def give_up(self, carrier: int, stuck: Stuck) -> None:
        """Move chunks that a carrier could not send within the timeout to the fibre."""
        self.move(self.active[stuck.number], stuck.rows, carrier, FIBRE)

    def _hand_over(self, ready: IntArray) -> None:
        left = ready
        while len(left):
            work = self._owner(left.item(0))
            nodes, left = left - work.base, left[1:]
            if len(left):
                mine = (nodes >= 0) & (nodes < work.node_count)
                nodes, left = nodes[mine], left[~mine[1:]]
            rows = nodes if work.coarsening is None else work.coarsening.rows(nodes)
            self._make_ready(work, nodes, rows)

    def _make_ready(self, work: Work, nodes: IntArray, rows: IntArray) -> None:
        if len(self.carriers) == 1:
            self.carriers[THZ].ready(work.number, rows)
            return
        owners = self.fibre.ledger.owners(work.base, work.node_count)[nodes]
        for number, carrier in self.carriers.items():
            mine = rows[owners == number]
            if len(mine):
                carrier.ready(work.number, mine)

    def _owner(self, node: int) -> Work:
        return max((w for w in self.active.values() if w.base <= node), key=lambda w: w.base)

    def _finish(self, work: Work) -> Finished:
        ready_ps, arrival_ps = self._times(work)
        carrier = self.carrier(work)
        self.fibre.retire(work.base)
        for every in self.carriers.values():
            every.retire(work.number)
        del self.active[work.number]
        self.progress_ps = self.now_ps
        return Finished(work, self.now_ps, carrier, ready_ps, arrival_ps)

    def _times(self, work: Work) -> tuple[IntArray, IntArray]:
        """Times at which every chunk was ready and arrived [ps]."""
        delivered, coarsening = self.fibre.finished(work.base, work.node_count), work.coarsening
        if coarsening is None:
            return delivered.ready_ps, delivered.arrival_ps
        ends_ps = coarsening.chunk_ends(delivered.arrival_ps, delivered.landing_ps)
        return coarsening.spread(delivered.ready_ps), ends_ps

    def _sent(self, ended: tuple[int, Round | Sending]) -> None:
        number, sent = ended
        self.carriers[number].finish(sent)
        self.fibre.complete(self.active[sent.number].nodes(sent), sent.end_ps)
        self.progress_ps = sent.end_ps

    def _fall_back(self, now_ps: int) -> bool:
        """Give up chunks stuck beyond the timeout, schedule the rest; whether any were given up."""
        given_up = False
        for number, carrier in self.carriers.items():
            self._wake_at(carrier.next_change_ps(now_ps))
            for stuck in carrier.waiting():
                due_ps = stuck.since_ps + self._timeout_ps
                if due_ps > now_ps:
                    self._wake_at(due_ps)
                elif self._has_fibre(stuck):  # otherwise they wait for the one that recovers first
                    self.give_up(number, stuck)
                    given_up = True
        return given_up

    def _has_fibre(self, stuck: Stuck) -> bool:
        graph = self.active[stuck.number].graph
        return self.fibre_works(graph, stuck.flow)

    def _wake_at(self, at_ps: int) -> None:
        if at_ps < self._wake_ps:
            self._wake_ps = at_ps
            self.agenda.add(at_ps, Priority.WAKE, self._woken, at_ps)

    def _woken(self, at_ps: int) -> None:
        if at_ps == self._wake_ps:
            self._wake_ps = NEVER_PS
