"""The same fabric as a SimPy model: the reference for agreement and for speed.

Covers wired chunks with precedence, without background. Links are SimPy processes; what must be
decided per instant (who asks first, who gets room) is decided in one event after all
transmissions that end at that instant, in the order that `thzsync.optical.kernel` defines.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

import simpy

from thzsync.carriers import FIBRE
from thzsync.errors import ThzSyncError
from thzsync.network import Network
from thzsync.transfers.batch import ChunkBatch

_LAST = 2
"""SimPy priority behind its own URGENT (0) and NORMAL (1)."""


@dataclass
class _Packet:
    node: int
    size: int
    last: bool
    route: tuple[int, ...]


@dataclass
class _Link:
    """A directed link and the queue before it."""

    number: int
    limit: int
    switch: int
    pools: tuple[int, ...] = ()  # parts of the shared buffer that it takes room from
    held: int = 0
    queue: deque[_Packet] = field(default_factory=deque)
    passed: int = 0  # queued packets that have gone through the switch
    idle: bool = True
    go: Any = None  # the event that lets the head packet start


class SimpyFabric:
    """Runs one batch of wired chunks, submitted at time 0."""

    def __init__(self, network: Network, batch: ChunkBatch) -> None:
        if (batch.kind != FIBRE).any():
            raise ThzSyncError("SimPy reference: it carries wired chunks only; leave others out")
        self.env = simpy.Environment()
        self.network, self.batch = network, batch
        self.packet_hops = 0
        self.arrival_ps = [-1] * len(batch)
        self._links: dict[int, _Link] = {
            i: _Link(i, network.buffers.nic_queue_bytes, -1) for i in network.uplinks.tolist()
        }
        for s in range(network.switches):
            for q in network.outputs_of(s).tolist():
                pools = self._pools_of(int(network.pools.of_link[q]))
                self._links[q] = _Link(q, network.buffers.output_queue_bytes, s, pools)
        self._shared = [0] * len(network.pools.parent)
        self._limit: list[int] = network.pools.limit_bytes.tolist()
        self._routes: dict[tuple[int, int, int], tuple[int, ...]] = {}
        self._requests: list[list[tuple[_Link, _Link, int]]] = [[] for _ in range(network.switches)]
        self._ended: list[int] = []
        self._passed: list[int] = []
        self._rings: list[deque[int]] = [deque() for _ in range(network.racks)]
        self._flows: dict[int, deque[list[int]]] = {}
        self._pending = batch.predecessors.tolist()
        self._settling = False

    def run(self) -> list[int]:
        """Arrival of every chunk [ps]."""
        for link in self._links.values():
            self.env.process(self._carry(link))
        self._settle_soon()
        self.env.run()
        return self.arrival_ps

    def _carry(self, link: _Link) -> Any:
        """One link: wait for leave to start, send, say that the packet has left."""
        env, times = self.env, {}
        while True:
            link.go = env.event()
            yield link.go
            size = link.queue[0].size
            if size not in times:
                times[size] = self.network.service_ps(link.number, size)
            yield env.timeout(times[size])
            self._ended.append(link.number)
            self._settle_soon()

    def _settle_soon(self) -> None:
        if not self._settling:
            self._settling = True
            event = self.env.event()
            event._ok, event._value = True, None
            event.callbacks.append(self._settle)
            self.env.schedule(event, _LAST)

    def _settle(self, _: Any) -> None:
        """Everything that is decided at one instant."""
        ended, self._ended = sorted(self._ended), []
        done = [node for number in ended if (node := self._end(self._links[number])) is not None]
        passed, self._passed = self._passed, []
        self._settling = False
        for number in sorted({*ended, *passed}):
            if number < self.network.racks:
                self._admit(number)
            self._ask(self._links[number])
        kicked = self._release_all(done)
        for rack in kicked:
            self._admit(rack)
            self._ask(self._links[rack])
        for switch, requests in enumerate(self._requests):
            if requests:
                self._grant(switch, requests)

    def _end(self, link: _Link) -> int | None:
        """The head packet has left; the chunk it completes, if any."""
        packet = link.queue.popleft()
        link.passed -= 1
        link.idle = True
        self._hold(link, -packet.size)
        self.packet_hops += 1
        if not packet.route:
            return packet.node if packet.last else None
        following = self._links[packet.route[0]]
        packet.route = packet.route[1:]
        following.queue.append(packet)
        if self.network.switch_delay_ps == 0:
            self._pass_switch(following)
        else:
            delay = self.env.timeout(self.network.switch_delay_ps)
            delay.callbacks.append(lambda _: self._pass_switch(following))
        return None

    def _pass_switch(self, link: _Link) -> None:
        link.passed += 1
        if link.idle and link.passed == 1:
            self._passed.append(link.number)
            self._settle_soon()

    def _hold(self, link: _Link, size: int) -> None:
        link.held += size
        for pool in link.pools:
            self._shared[pool] += size

    def _route(self, node: int) -> tuple[int, ...]:
        """Links of a chunk behind its rack's, looked up once."""
        batch = self.batch
        by = node if self.network.sprayed else int(batch.flow[node])
        ends = int(batch.src[node]), int(batch.dst[node]), by
        if ends not in self._routes:
            self._routes[ends] = self.network.path(*ends)[1:]
        return self._routes[ends]

    def _pools_of(self, pool: int) -> tuple[int, ...]:
        """A pool and those around it."""
        if pool < 0:
            return ()
        return (pool, *self._pools_of(int(self.network.pools.parent[pool])))

    def _ask(self, link: _Link) -> None:
        if not link.idle or link.passed == 0:
            return
        link.idle = False
        packet = link.queue[0]
        if packet.route:
            target = self._links[packet.route[0]]
            self._requests[target.switch].append((link, target, packet.size))
        else:
            link.go.succeed()

    def _grant(self, switch: int, requests: list[tuple[_Link, _Link, int]]) -> None:
        """Oldest first; passed over only by those who do not need what it lacks."""
        lacking: set[int] = set()
        full: set[int] = set()
        limit = self._limit
        left = []
        for request in requests:
            link, target, size = request
            if target.number in lacking or full.intersection(target.pools):
                left.append(request)
                continue
            short = [pool for pool in target.pools if self._shared[pool] + size > limit[pool]]
            if target.held + size > target.limit:
                lacking.add(target.number)
            elif short:
                full.add(short[0])
            else:
                self._hold(target, size)
                link.go.succeed()
                continue
            left.append(request)
        requests[:] = left

    def _admit(self, rack: int) -> None:
        """Move packets of the rack's ready flows, round-robin, into its NIC queue."""
        nic, ring = self._links[rack], self._rings[rack]
        while ring:
            flow = self._flows[ring[0]]
            node, left = flow[0]
            size = min(left, self.network.packet_bytes)
            if nic.held + size > nic.limit:
                return
            route = self._route(node)
            nic.queue.append(_Packet(node, size, size == left, route))
            nic.held += size
            nic.passed += 1
            flow[0][1] -= size
            if size == left:
                flow.popleft()
            turn = ring.popleft()
            if flow:
                ring.append(turn)

    def _release_all(self, done: list[int]) -> list[int]:
        """Complete chunks; the racks that got something to send, in order."""
        kicked: dict[int, None] = {}
        ready = [] if self.env.now else [n for n, count in enumerate(self._pending) if count == 0]
        for node in done:
            self.arrival_ps[node] = int(self.env.now)
            for e in range(self.batch.succ_ptr[node], self.batch.succ_ptr[node + 1]):
                successor = int(self.batch.succ[e])
                self._pending[successor] -= 1
                if self._pending[successor] == 0:
                    ready.append(successor)
        for node in ready:
            rack = int(self.batch.src[node])
            flow = self._flows.setdefault(int(self.batch.flow[node]), deque())
            if not flow:
                self._rings[rack].append(int(self.batch.flow[node]))
                kicked[rack] = None
            flow.append([node, int(self.batch.size_bytes[node])])
        return list(kicked)
