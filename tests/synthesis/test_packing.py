"""Shares of a tensor on many trees: what the simplex method finds is the best of all packings."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from thzsync.arrays import FloatArray, IntArray
from thzsync.experiments.single_ring import Instance
from thzsync.scenario import Scenario
from thzsync.synthesis import Setting
from thzsync.synthesis.packing import SUMS_WEIGHT, pack
from thzsync.synthesis.stragglers import meeting

RING = Scenario.preset("single-ring")
Edges = tuple[tuple[int, int], ...]


def random_airtime(racks: int, seed: int) -> FloatArray:
    airtime = np.random.default_rng(seed).uniform(0.1, 1.0, (racks, racks))
    return np.minimum(airtime, airtime.T)


def spanning_trees(racks: list[int]) -> Iterator[Edges]:
    for edges in combinations(list(combinations(racks, 2)), len(racks) - 1):
        reached = {racks[0]}
        for _ in racks:
            reached |= {b for e in edges for a, b in (e, e[::-1]) if a in reached}
        if len(reached) == len(racks):
            yield edges


def time_taken(airtime: FloatArray, edges: Edges) -> FloatArray:
    taken = np.zeros(len(airtime))
    for a, b in edges:
        taken[[a, b]] += airtime[a, b]
    return taken


def column(
    airtime: FloatArray, late: list[int], root: int, sums: Edges, spread: Edges
) -> FloatArray:
    """Rows of the program by the book: meeting and spreading, sums, all but own data."""
    after = time_taken(airtime, spread)
    for v in late:
        after[root] += airtime[v, root] * (v != root)
    unmoved = after[late].copy()
    for v in late:
        after[v] += airtime[v, root] * (v != root)
    return np.concatenate((after, time_taken(airtime, sums), unmoved))


def least_by_enumeration(airtime: FloatArray, late: list[int], early: FloatArray) -> float:
    """The program with every tree and root there is."""
    n = len(airtime)
    there = [v for v in range(n) if v not in late]
    spreads = list(spanning_trees(list(range(n))))
    columns = [
        column(airtime, late, root, sums, spread)
        for root in range(n)
        for sums, spread in product(spanning_trees(sorted({*there, root})), spreads)
    ]
    matrix = np.array(columns).T
    times = np.zeros((len(matrix), 2))
    times[:, 0], times[n : 2 * n] = -1, (0, -1)
    right = np.zeros(len(matrix))
    right[late] = early
    shares = np.append(np.ones(len(columns)), (0, 0))
    solution: Any = linprog(
        np.append(np.zeros(len(columns)), (1, SUMS_WEIGHT)),
        A_ub=np.column_stack((matrix, times)), b_ub=right, A_eq=shares[None], b_eq=[1],
    )  # fmt: skip
    return float(solution.fun)


def edges_of(parent: IntArray) -> Edges:
    return tuple((v, int(p)) for v, p in enumerate(parent.tolist()) if p >= 0)


@pytest.mark.parametrize(
    ("racks", "late"), [(4, [0, 1]), (4, [3, 1]), (4, [2, 0, 3]), (5, [1, 4]), (4, [0, 1, 2, 3])]
)
@pytest.mark.parametrize("ahead", [0.0, 0.4, 3.0])
def test_no_shares_of_any_trees_are_better(racks: int, late: list[int], ahead: float) -> None:
    airtime = random_airtime(racks, racks + len(late))
    early = np.array([ahead] * (len(late) - 1) + [0.0])
    shares, roots, sums, spreads = pack(airtime, np.array(late), early)
    assert shares.sum() == pytest.approx(1)
    assert shares.min() >= 0
    total = sum(
        share * column(airtime, late, int(root), edges_of(up), edges_of(down))
        for share, root, up, down in zip(shares, roots, sums, spreads, strict=True)
    )
    assert isinstance(total, np.ndarray)
    total[late] -= early
    after = max(total[:racks].max(), total[2 * racks :].max())
    found = after + SUMS_WEIGHT * total[racks : 2 * racks].max()
    assert found == pytest.approx(least_by_enumeration(airtime, late, early), rel=1e-4)


@pytest.mark.parametrize("racks", [6, 10, 33])
@pytest.mark.parametrize("count", [2, 3])
def test_every_shard_sums_up_who_is_there_and_reaches_everybody(racks: int, count: int) -> None:
    floor = RING.floor.model_copy(update={"slots_per_ring": 40})
    instance = Instance(RING.model_copy(update={"floor": floor}), "allreduce", racks, False, 0)
    gains = instance.channel.gain_matrix(instance.members, 0)
    delay_s = np.zeros(racks)
    late = np.random.default_rng(racks).choice(racks, count, replace=False)
    delay_s[late] = 0.01 + 1e-4 * np.arange(count)
    met, load = meeting(Setting(gains, delay_s, RING.thz), instance.members, 2**29)
    assert met.late == tuple(late.tolist())
    assert met.shares.sum() == pytest.approx(1)
    assert (np.diff(met.shares) <= 0).all()
    assert load > 0
    for root, sums, spreads in zip(met.roots, met.sums, met.spreads, strict=True):
        there = (delay_s == 0) | (np.arange(racks) == root)
        for parent, members in ((sums, there), (spreads, np.ones(racks, dtype=np.bool_))):
            np.testing.assert_array_equal(parent > -2, members)
            reached = np.arange(racks)
            for _ in range(racks):  # everybody's way up ends at the root
                reached = np.where(parent[reached] >= 0, parent[reached], reached)
            assert set(reached[members].tolist()) == {int(root)}


def test_links_that_are_dead_do_not_drown_the_others() -> None:
    """A rack that hears only one other: its link is in every tree, the rest is still balanced."""
    instance = Instance(RING, "allreduce", 6, False, 0)
    gains = instance.channel.gain_matrix(instance.members, 0).copy()
    gains[0, 2:] = gains[2:, 0] = 0
    delay_s = np.array([0, 0, 0.01, 0, 0, 0.01])
    met, _ = meeting(Setting(gains, delay_s, RING.thz), instance.members, 2**29)
    assert (met.spreads[:, 0] == 1).all()
    assert (met.roots != 0).all()
