"""A transfer graph or schedule played on real arrays, and the result compared with the true one.

Every chunk stands for a few machine words, so that a half-gigabyte tensor stays small; sums wrap
modulo 2^64, so the comparison is exact. Racks work in place, as in ``semantics``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from thzsync.errors import ThzSyncError
from thzsync.transfers.graph import TransferGraph
from thzsync.transfers.schedule import Schedule

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


def execute(work: TransferGraph | Schedule, rng: np.random.Generator) -> None:
    """Move random data as a schedule says, or as a plan allows in a random order; raise if wrong.

    A schedule must be complete (all chunks on THz), since data on the fibre is not in it.
    """
    if isinstance(work, Schedule):
        plan, steps = work.plan, _timed_steps(work)
    else:
        plan, steps = work, _random_steps(work, rng)
    _play(plan, steps, rng)


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


def _random_steps(plan: TransferGraph, rng: np.random.Generator) -> list[_Step]:
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


def _play(plan: TransferGraph, steps: list[_Step], rng: np.random.Generator) -> None:
    """Every rack works in place on a buffer per shard; targets must end with the sum."""
    number, first = np.unique(plan.shard, return_index=True)
    shards = {int(s): int(f) for s, f in zip(number, first, strict=True)}
    own = {
        (int(rack), s): _random_words(rng, int(plan.chunks[f]))
        for s, f in shards.items()
        for rack in plan.blocks.sources(int(plan.block[f]))
    }
    buffer = {
        (int(rack), s): np.zeros((int(plan.chunks[f]), WORDS_PER_CHUNK), dtype=np.uint64)
        for s, f in shards.items()
        for rack in plan.racks
    }
    carried = [np.zeros((int(chunks), WORDS_PER_CHUNK), dtype=np.uint64) for chunks in plan.chunks]
    for step in steps:
        if step.what == RELEASE:
            for (rack, s), part in own.items():
                if rack == step.rack:
                    buffer[rack, s] += part
            continue
        f, shard = step.flow, int(plan.shard[step.flow])
        if step.what == LEAVE:
            carried[f][step.chunks] = buffer[int(plan.src[f]), shard][step.chunks]
        elif plan.reduces[f]:
            buffer[int(plan.dst[f]), shard][step.chunks] += carried[f][step.chunks]
        else:
            buffer[int(plan.dst[f]), shard][step.chunks] = carried[f][step.chunks]
    for s, f in shards.items():
        _compare(plan, s, int(plan.block[f]), own, buffer)


def _compare(
    plan: TransferGraph,
    shard: int,
    block: int,
    own: dict[tuple[int, int], Words],
    buffer: dict[tuple[int, int], Words],
) -> None:
    sources = [int(rack) for rack in plan.blocks.sources(block)]
    total = sum((own[r, shard] for r in sources[1:]), start=own[sources[0], shard])
    for rack in plan.blocks.targets(block).tolist():
        if not np.array_equal(buffer[rack, shard], total):
            what = "the sum" if len(sources) > 1 else f"the data of rack {sources[0]}"
            raise ThzSyncError(f"{_name(plan)}: rack {rack} does not hold {what}, shard {shard}")


def _name(plan: TransferGraph) -> str:
    return f"{plan.kind} plan {plan.method!r} on arrays"
