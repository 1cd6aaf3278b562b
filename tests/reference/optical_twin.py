"""A slow, readable twin of the optical kernel.

Same meaning, none of the machinery: Python objects, a sorted list of requests per switch, one
event per packet and link, every instant worked through stage by stage as the kernel's docstring
says. Written from the semantics, not from the kernel's code.
"""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

from thzsync.carriers import FIBRE, THZ
from thzsync.network import Network
from thzsync.optical import Background
from thzsync.optical.background import gaps_ps
from thzsync.transfers.batch import ChunkBatch
from thzsync.transfers.precedence import JOIN, TIMER


class Passage(NamedTuple):
    """One packet on one link; node is -1 for background."""

    link: int
    node: int
    left: int
    size: int
    ready_ps: int
    start_ps: int
    end_ps: int


@dataclass
class Packet:
    node: int
    size: int
    left: int
    route: list[int]
    ready_ps: int = 0


@dataclass
class Link:
    number: int
    switch: int | None
    limit: int
    queue: deque[Packet] = field(default_factory=deque)
    held: int = 0
    began_ps: int = -1
    end_ps: int | None = None
    waiting: bool = False


@dataclass
class Request:
    """Somebody who wants to put a packet of some size into a queue."""

    target: Link
    size: int
    link: Link | None  # None: the background of the target


@dataclass
class Node:
    kind: int
    src: int
    dst: int
    size: int
    flow: int
    pending: int
    successors: list[int]
    release_ps: int
    sent: int = 0
    ready_ps: int = -1
    start_ps: int = -1
    done_ps: int = -1


class Twin:
    """One batch submitted at time 0, external nodes finished by the caller's rule."""

    def __init__(
        self,
        network: Network,
        batch: ChunkBatch,
        background: Background | None = None,
        key: int = 0,
        external_ps: int = 0,
    ) -> None:
        self.network, self.background, self.external_ps = network, background, external_ps
        pending = batch.predecessors
        self.nodes = [
            Node(
                int(batch.kind[k]), int(batch.src[k]), int(batch.dst[k]), int(batch.size_bytes[k]),
                int(batch.flow[k]), int(pending[k]),
                [int(x) for x in batch.succ[batch.succ_ptr[k] : batch.succ_ptr[k + 1]]],
                int(batch.release_ps[k]),
            )
            for k in range(len(batch))
        ]  # fmt: skip
        self.links: dict[int, Link] = {}
        for i in network.uplinks.tolist():
            self.links[i] = Link(i, None, network.buffers.nic_queue_bytes)
        for s in range(network.switches):
            for q in network.outputs_of(s).tolist():
                self.links[q] = Link(q, s, network.buffers.output_queue_bytes)
        self.requests: list[list[Request]] = [[] for _ in range(network.switches)]
        self.rings: dict[int, deque[tuple[int, int]]] = {
            i: deque() for i in network.uplinks.tolist()
        }
        self.flows: dict[tuple[int, int], deque[int]] = {}
        self.timers: list[tuple[int, int, int]] = []
        self.sequence = 0
        self.passages: list[Passage] = []
        self.externals: list[tuple[int, int, int]] = []
        self.bursts = self._draw_bursts(key)
        self.outside: dict[int, deque[int]] = {q: deque() for q in self.links}

    def _draw_bursts(self, key: int) -> dict[int, list[int]]:
        if self.background is None or self.background.load == 0:
            return {}
        times = {}
        for q, link in self.links.items():
            if link.switch is not None:
                mean = self.background.mean_gap_ps(int(self.network.rate_bps[q]))
                times[q] = [int(t) for t in gaps_ps(key, q, 0, 4000, mean).cumsum()]
        return times

    # ---- switches -------------------------------------------------------------------------

    def ranks_at(self, switch: int) -> list[int]:
        """Ranks of the queues of a switch, rising."""
        rank = self.network.forwarding.rank
        return sorted({int(rank[q]) for q in self.network.outputs_of(switch)})

    def held_at(self, switch: int, least_rank: int) -> int:
        """Bytes in the queues of a switch that have this rank or a higher one."""
        rank = self.network.forwarding.rank
        return sum(
            link.held
            for link in self.links.values()
            if link.switch == switch and rank[link.number] >= least_rank
        )

    def limits(self, link: Link) -> list[tuple[int, int]]:
        """Least ranks and what queues of them and above may hold together, innermost first."""
        assert link.switch is not None
        ranks = self.ranks_at(link.switch)
        allowed = self.network.buffers.limits_bytes(len(ranks))
        own = self.network.forwarding.rank[link.number]
        return [(r, a) for r, a in zip(ranks, allowed, strict=True) if r <= own][::-1]

    def grant(self, switch: int, now: int) -> None:
        """Consider requests oldest first; one is passed over only by those who do not need
        what it lacks."""
        served = True
        while served:
            served = False
            full_queues: set[int] = set()
            closed_from = 1 << 30  # nobody of this rank or above
            for request in list(self.requests[switch]):
                target = request.target
                rank = int(self.network.forwarding.rank[target.number])
                if target.number in full_queues or rank >= closed_from:
                    continue
                if target.held + request.size > target.limit:
                    full_queues.add(target.number)
                    continue
                short = [
                    least
                    for least, allowed in self.limits(target)
                    if self.held_at(switch, least) + request.size > allowed
                ]
                if short:
                    closed_from = short[0]
                    continue
                self.requests[switch].remove(request)
                self.serve(request, now)
                served = True
                break

    def serve(self, request: Request, now: int) -> None:
        target = request.target
        target.held += request.size
        self.check_limits(target)
        if request.link is not None:
            self.begin(request.link, now)
            return
        outside = self.outside[target.number]
        packet = Packet(-1, request.size, -1, [], now + self.latency_ps(target.number))
        target.queue.append(packet)
        outside[0] -= request.size
        if outside[0] == 0:
            outside.popleft()
        if outside:
            self.ask_for_background(target)

    def check_limits(self, link: Link) -> None:
        assert link.held <= link.limit
        assert link.switch is not None
        for least, allowed in self.limits(link):
            assert self.held_at(link.switch, least) <= allowed

    def ask_for_background(self, target: Link) -> None:
        assert target.switch is not None
        size = min(self.outside[target.number][0], self.network.packet_bytes)
        self.requests[target.switch].append(Request(target, size, None))

    # ---- links ----------------------------------------------------------------------------

    def begin(self, link: Link, now: int) -> None:
        packet = link.queue[0]
        link.waiting = False
        link.began_ps = now
        link.end_ps = now + self.network.service_ps(link.number, packet.size)
        if link.switch is None and self.nodes[packet.node].start_ps < 0:
            self.nodes[packet.node].start_ps = now

    def end(self, link: Link, now: int, arrived: list[int]) -> None:
        packet = link.queue.popleft()
        link.held -= packet.size
        link.end_ps = None
        self.passages.append(
            Passage(link.number, packet.node, packet.left, packet.size, packet.ready_ps,
                    link.began_ps, now)
        )  # fmt: skip
        if packet.route:
            following = packet.route.pop(0)
            packet.ready_ps = now + self.latency_ps(following)
            self.links[following].queue.append(packet)
        elif packet.left == 0:
            arrived.append(packet.node)

    def ask(self, link: Link, now: int) -> None:
        """An idle link whose head packet may be sent starts it or asks for room."""
        if link.end_ps is not None or link.waiting or not link.queue:
            return
        packet = link.queue[0]
        if packet.ready_ps > now:
            return
        if not packet.route:
            self.begin(link, now)
            return
        target = self.links[packet.route[0]]
        assert target.switch is not None
        link.waiting = True
        self.requests[target.switch].append(Request(target, packet.size, link))

    def latency_ps(self, link: int) -> int:
        """Between a packet's last bit at a queue and its first on the link behind it."""
        switching = self.network.switch_delay_ps if self.network.from_switch[link] >= 0 else 0
        return switching + int(self.network.delay_ps[link])

    def route(self, node: Node, number: int) -> list[int]:
        """Links of a node's packets: chunks of a sprayed flow pick their own."""
        by = number if self.network.sprayed else node.flow
        return list(self.network.path(node.src, node.dst, by))

    # ---- racks and nodes ------------------------------------------------------------------

    def admit(self, up: int, now: int) -> None:
        nic, ring = self.links[up], self.rings[up]
        while ring:
            flow = self.flows[ring[0]]
            number = flow[0]
            node = self.nodes[number]
            size = min(node.size - node.sent, self.network.packet_bytes)
            if nic.held + size > nic.limit:
                return
            node.sent += size
            route = self.route(node, number)[1:]
            ready = now + self.latency_ps(up)
            nic.queue.append(Packet(number, size, node.size - node.sent, route, ready))
            nic.held += size
            if node.sent == node.size:
                flow.popleft()
            turn = ring.popleft()
            if flow:
                ring.append(turn)

    def make_ready(self, number: int, now: int, done: deque[int], kicked: list[int]) -> None:
        node = self.nodes[number]
        node.ready_ps = now
        if node.kind == FIBRE:
            up = self.route(node, number)[0]
            flow = self.flows.setdefault((node.flow, up), deque())
            if not flow:
                self.rings[up].append((node.flow, up))
                if up not in kicked:
                    kicked.append(up)
            flow.append(number)
        elif node.kind == THZ:
            heapq.heappush(self.externals, (now + self.external_ps, self.sequence, number))
            self.sequence += 1
        elif node.kind == TIMER and node.release_ps > now:
            self.set_timer(number, node.release_ps)
        else:
            assert node.kind in (JOIN, TIMER)
            done.append(number)

    def set_timer(self, number: int, at_ps: int) -> None:
        heapq.heappush(self.timers, (at_ps, self.sequence, number))
        self.sequence += 1

    def settle_nodes(self, done: deque[int], now: int, kicked: list[int]) -> None:
        while done:
            node = self.nodes[done.popleft()]
            node.done_ps = now
            for successor in node.successors:
                self.nodes[successor].pending -= 1
                if self.nodes[successor].pending == 0:
                    self.make_ready(successor, now, done, kicked)

    # ---- time -----------------------------------------------------------------------------

    def next_ps(self) -> int | None:
        times = [link.end_ps for link in self.links.values() if link.end_ps is not None]
        times += [
            link.queue[0].ready_ps
            for link in self.links.values()
            if link.queue and link.end_ps is None and not link.waiting
        ]
        times += [self.timers[0][0]] if self.timers else []
        times += [burst[0] for burst in self.bursts.values()]
        return min(times, default=None)

    def instant(self, now: int, arrived: deque[int], kicked: list[int]) -> None:
        due: list[int] = []
        while self.timers and self.timers[0][0] == now:
            due.append(heapq.heappop(self.timers)[2])
        arrived.extend(due)
        self.settle_nodes(arrived, now, kicked)
        for up in kicked:
            self.admit(up, now)
            self.ask(self.links[up], now)
        for switch in range(self.network.switches):
            self.grant(switch, now)

    def serve_links(self, now: int) -> deque[int]:
        arrived: list[int] = []
        # all ends come first; requests follow in link order
        order = sorted(self.links)
        ended = [n for n in order if self.links[n].end_ps == now]
        for number in ended:
            self.end(self.links[number], now, arrived)
        for number in order:
            if self.links[number].switch is None and number in ended:
                self.admit(number, now)
            self.ask(self.links[number], now)
        for number in order:
            times = self.bursts.get(number)
            if times and times[0] == now:
                times.pop(0)
                assert self.background is not None
                self.outside[number].append(self.background.burst_bytes)
                if len(self.outside[number]) == 1:
                    self.ask_for_background(self.links[number])
        return deque(arrived)

    def run(self, until_ps: int) -> None:
        """Submit at 0 and run to the given instant [ps]."""
        done: deque[int] = deque()
        kicked: list[int] = []
        for number, node in enumerate(self.nodes):
            if node.pending == 0 and node.ready_ps < 0:
                self.make_ready(number, 0, done, kicked)
        self.instant(0, done, kicked)
        while True:
            now = self.next_ps()
            external = self.externals[0][0] if self.externals else None
            if external is not None and (now is None or external < now):
                if external > until_ps:
                    return
                self.finish_externals(external)
            elif now is None or now > until_ps:
                return
            else:
                self.instant(now, self.serve_links(now), [])

    def finish_externals(self, now: int) -> None:
        """The outside carrier delivers after all else of the instant has happened."""
        due: deque[int] = deque()
        while self.externals and self.externals[0][0] == now:
            due.append(heapq.heappop(self.externals)[2])
        kicked: list[int] = []
        self.settle_nodes(due, now, kicked)
        self.instant(now, deque(), kicked)
