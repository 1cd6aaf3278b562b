"""A plan or schedule played on real arrays, and the result compared with the true one.

Every chunk stands for a few machine words, so that a half-gigabyte tensor stays small; sums wrap
modulo 2^64, so the comparison is exact. Racks work in place, as in ``semantics``.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from thzsync.collectives.demand import Kind, Transfer
from thzsync.collectives.plan import Plan
from thzsync.collectives.schedule import Schedule
from thzsync.errors import ThzSyncError

WORDS_PER_CHUNK: Final = 4
ARRIVE, RELEASE, LEAVE = range(3)  # in this order at one instant

Words = NDArray[np.uint64]


@dataclass(frozen=True)
class _Step:
    """Something happens: a rack's own data appears, or chunks of a flow leave or arrive."""

    what: int
    rack: int = -1
    flow: int = -1
    first: int = 0
    count: int = 0

    @property
    def chunks(self) -> slice:
        """The chunks of the flow that move."""
        return slice(self.first, self.first + self.count)


def execute(work: Plan | Schedule, rng: np.random.Generator) -> None:
    """Move random data as a schedule says, or as a plan allows in a random order; raise if wrong.

    A schedule must be complete (all chunks on THz), since data on the fibre is not in it.
    """
    if isinstance(work, Schedule):
        plan, steps = work.plan, _timed_steps(work)
    else:
        plan, steps = work, _random_steps(work, rng)
    if plan.kind is Kind.ALLREDUCE:
        _all_reduce(plan, steps, rng)
    else:
        _transfer(plan, steps, rng)


def _random_words(rng: np.random.Generator, *shape: int) -> Words:
    return rng.integers(0, 2**64, size=(*shape, WORDS_PER_CHUNK), dtype=np.uint64)


def _timed_steps(schedule: Schedule) -> list[_Step]:
    """In time order; at one instant arrivals come first, then releases, then departures."""
    plan = schedule.plan
    steps: list[tuple[int, int, _Step]] = [
        (int(time_ps), RELEASE, _Step(RELEASE, rack=int(rack)))
        for rack, time_ps in zip(plan.racks, schedule.release_ps, strict=True)
    ]
    for n, flow in enumerate(schedule.flow.tolist()):
        first, count = int(schedule.first_chunk[n]), int(schedule.chunks[n])
        for what, time_ps in ((LEAVE, schedule.start_ps[n]), (ARRIVE, schedule.end_ps[n])):
            steps.append((int(time_ps), what, _Step(what, flow=flow, first=first, count=count)))
    steps.sort(key=lambda step: step[:2])
    return [step for _, _, step in steps]


def _random_steps(plan: Plan, rng: np.random.Generator) -> list[_Step]:
    """Any order that the precedence allows, drawn at random; ends early on a cycle."""
    released: set[int] = set()
    arrived: set[tuple[int, int]] = set()
    on_the_way: list[tuple[int, int]] = []
    unsent = [(f, k) for f in range(plan.flows) for k in range(int(plan.chunks[f]))]
    unreleased = [int(rack) for rack in plan.racks]
    steps: list[_Step] = []

    def may_leave(flow: int, chunk: int) -> bool:
        own = not plan.local[flow] or int(plan.src[flow]) in released
        return own and all((int(p), chunk) in arrived for p in plan.predecessors(flow))

    while True:
        ready = [(LEAVE, n) for n, (f, k) in enumerate(unsent) if may_leave(f, k)]
        choices = ready + [(ARRIVE, n) for n in range(len(on_the_way))]
        choices += [(RELEASE, n) for n in range(len(unreleased))]
        if not choices:
            return steps
        what, n = choices[int(rng.integers(len(choices)))]
        if what == RELEASE:
            rack = unreleased.pop(n)
            released.add(rack)
            steps.append(_Step(RELEASE, rack=rack))
            continue
        flow, chunk = (unsent if what == LEAVE else on_the_way).pop(n)
        if what == LEAVE:
            on_the_way.append((flow, chunk))
        else:
            arrived.add((flow, chunk))
        steps.append(_Step(what, flow=flow, first=chunk, count=1))


def _all_reduce(plan: Plan, steps: list[_Step], rng: np.random.Generator) -> None:
    shards = {int(s): int(plan.chunks[plan.shard == s][0]) for s in np.unique(plan.shard)}
    racks = [int(rack) for rack in plan.racks]
    own = {(r, s): _random_words(rng, chunks) for r in racks for s, chunks in shards.items()}
    buffer = {place: np.zeros_like(words) for place, words in own.items()}
    carried = [np.zeros((int(chunks), WORDS_PER_CHUNK), dtype=np.uint64) for chunks in plan.chunks]
    for step in steps:
        if step.what == RELEASE:
            for s in shards:
                buffer[step.rack, s] += own[step.rack, s]
            continue
        f, shard = step.flow, int(plan.shard[step.flow])
        if step.what == LEAVE:
            carried[f][step.chunks] = buffer[int(plan.src[f]), shard][step.chunks]
        elif plan.reduces[f]:
            buffer[int(plan.dst[f]), shard][step.chunks] += carried[f][step.chunks]
        else:
            buffer[int(plan.dst[f]), shard][step.chunks] = carried[f][step.chunks]
    for s in shards:
        total = sum((own[r, s] for r in racks), start=np.zeros_like(own[racks[0], s]))
        for r in racks:
            if not np.array_equal(buffer[r, s], total):
                raise ThzSyncError(f"{_name(plan)}: rack {r} does not hold the sum of shard {s}")


def _transfer(plan: Plan, steps: list[_Step], rng: np.random.Generator) -> None:
    """What rack i holds for rack j must end at j: the demand matrix is transposed."""
    payload = [_random_words(rng, int(chunks)) for chunks in plan.chunks]
    at_source = [np.zeros_like(words) for words in payload]
    carried = [np.zeros_like(words) for words in payload]
    received = [np.zeros_like(words) for words in payload]
    count = [np.zeros(int(chunks), dtype=np.int64) for chunks in plan.chunks]
    for step in steps:
        if step.what == RELEASE:
            for own in np.flatnonzero(plan.src == step.rack):
                at_source[own][:] = payload[own]
        elif step.what == LEAVE:
            carried[step.flow][step.chunks] = at_source[step.flow][step.chunks]
        else:
            received[step.flow][step.chunks] = carried[step.flow][step.chunks]
            count[step.flow][step.chunks] += 1
    for f in range(plan.flows):
        pair = f"{plan.src[f]}->{plan.dst[f]}"
        if not np.array_equal(payload[f], received[f]):
            raise ThzSyncError(f"{_name(plan)}: flow {f} ({pair}) did not deliver its data")
        if (count[f] != 1).any():
            raise ThzSyncError(f"{_name(plan)}: flow {f} ({pair}) delivered a chunk twice")
    _compare_with_demand(plan)


def _compare_with_demand(plan: Plan) -> None:
    """All flows have delivered, so what each pair received is the sum of its flows."""
    assert isinstance(plan.demand, Transfer)
    received_bytes: Counter[tuple[int, int]] = Counter()
    for src, dst, size in zip(plan.src, plan.dst, plan.flow_bytes, strict=True):
        received_bytes[int(src), int(dst)] += int(size)
    demand = plan.demand
    for src, dst, size in zip(demand.src, demand.dst, demand.size_bytes, strict=True):
        received_bytes[int(src), int(dst)] -= int(size)
    for (src, dst), surplus in received_bytes.items():
        if surplus:
            raise ThzSyncError(f"{_name(plan)}: {src}->{dst} received {surplus:+d} bytes")


def _name(plan: Plan) -> str:
    return f"{plan.kind} plan {plan.method!r} on arrays"
