"""What every synthesis method must keep: run this on a method of your own before you publish it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.collectives import Demand, Kind, Plan, Reduction, Transfer
from thzsync.collectives.check import check_plan
from thzsync.errors import ThzSyncError
from thzsync.scenario import Thz
from thzsync.synthesis.method import Context, Method

_CHUNK_BYTES = 1000


def check_method(method: Method, seed: int = 0) -> int:
    """Plan many events; refuse the first plan that breaks a rule. Returns the number of plans.

    Plans must turn the collective's precondition into its postcondition, keep to the event's
    racks and chunk size, carry no empty flow, and be the same when made again.
    """
    count = 0
    for racks, demand, context in _events(method.kind, np.random.default_rng(seed)):
        plan, again = (method.plan(demand, racks, _CHUNK_BYTES, context) for _ in range(2))
        place = f"{method.kind} method {method.name!r}, {len(racks)} racks"
        if plan.method != method.name or plan.kind is not method.kind:
            raise ThzSyncError(f"{place}: the plan calls itself {plan.kind} {plan.method!r}")
        if plan.chunk_bytes != _CHUNK_BYTES or not np.array_equal(plan.racks, racks):
            raise ThzSyncError(f"{place}: the plan changed the event's racks or chunk size")
        if not _same(plan, again):
            raise ThzSyncError(
                f"{place}: two plans of the same event differ; draw nothing at random"
            )
        if (plan.stage < 0).any():
            raise ThzSyncError(f"{place}: stages must count from 0")
        check_plan(plan)
        count += 1
    return count


def _events(
    kind: Kind, generator: np.random.Generator
) -> Iterator[tuple[IntArray, Demand, Context]]:
    for n in (1, 2, 3, 4, 5, 8, 13):
        for subbands in (1, 2, 4):
            racks = np.sort(generator.choice(40, n, replace=False)).astype(np.int64)
            gains: FloatArray = 10 ** generator.uniform(-12, -6, (n, n, subbands))
            delay_s = generator.uniform(0, 0.1, n) * (generator.random(n) < 0.3)
            context = Context(gains + gains.transpose(1, 0, 2), delay_s, Thz(subbands=subbands))
            for demand in _demands(kind, racks, generator):
                yield racks, demand, context


def _demands(kind: Kind, racks: IntArray, generator: np.random.Generator) -> Iterator[Demand]:
    if kind is Kind.ALLREDUCE:
        for tensor_bytes in (0, 1, 2, 999, 1000, 12_345, 64_000):
            yield Reduction(tensor_bytes)
        return
    i, j = np.nonzero(~np.eye(len(racks), dtype=np.bool_))
    for likely in (0.0, 0.3, 1.0):
        size = generator.integers(0, 5000, len(i)) * (generator.random(len(i)) < likely)
        yield Transfer.of(racks[i], racks[j], size)


def _same(a: Plan, b: Plan) -> bool:
    names = (f.name for f in fields(Plan) if f.name != "demand")
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in names)
