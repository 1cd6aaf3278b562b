"""Bus factors against the table of nccl-tests (doc/PERFORMANCE.md)."""

from __future__ import annotations

import numpy as np
import pytest

from thzsync.collectives import Demand, Tensor, Transfer, find_collective

SIZE = 5040  # divides by all numbers of racks below


def even(kind: str, n: int) -> Demand:
    collective = find_collective(kind)
    if collective.demand is Tensor:
        return Tensor(SIZE, 1 if collective.rooted else None)
    if kind == "p2p":
        return Transfer.of([0], [1], [SIZE])
    src, dst = np.nonzero(~np.eye(n, dtype=np.bool_))
    return Transfer.of(src, dst, np.full(len(src), SIZE // n))


@pytest.mark.parametrize("n", [2, 3, 4, 7, 8])
@pytest.mark.parametrize(
    ("kind", "factor"),
    [
        ("allreduce", lambda n: 2 * (n - 1) / n),
        ("all-gather", lambda n: (n - 1) / n),
        ("reduce-scatter", lambda n: (n - 1) / n),
        ("a2a", lambda n: (n - 1) / n),
        ("gather", lambda n: (n - 1) / n),
        ("scatter", lambda n: (n - 1) / n),
        ("broadcast", lambda n: 1),
        ("reduce", lambda n: 1),
        ("p2p", lambda n: 1),
    ],
)
def test_the_bus_factor_is_that_of_nccl_tests(kind: str, factor, n: int) -> None:  # type: ignore[no-untyped-def]
    collective, racks = find_collective(kind), np.arange(n)
    size, bus = collective.measured_bytes(even(kind, n), racks)
    assert size == pytest.approx(SIZE)
    assert bus / size == pytest.approx(factor(n))
