"""Hamiltonian paths and cycles of cheap links."""

from __future__ import annotations

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.jit import kernel


@kernel
def strongest_route(cost: FloatArray, closed: bool) -> IntArray:
    """A Hamiltonian path, or a cycle where ``closed``, whose costly links are few.

    The cheapest neighbour next, from up to 16 racks, then pieces turned round while that helps.
    """
    n = len(cost)
    best, best_cost = np.arange(n), np.inf
    for start in range(min(n, 16)):
        order = _nearest(cost, start * n // min(n, 16))
        total = _turned(cost, order, closed)
        if total < best_cost:
            best, best_cost = order, total
    return best


@kernel
def _nearest(cost: FloatArray, start: int) -> IntArray:
    n = len(cost)
    order, used = np.empty(n, dtype=np.int64), np.zeros(n, dtype=np.bool_)
    order[0] = start
    used[start] = True
    for k in range(1, n):
        nearest = -1
        for v in range(n):
            if not used[v] and (nearest < 0 or cost[order[k - 1], v] < cost[order[k - 1], nearest]):
                nearest = v
        order[k] = nearest
        used[nearest] = True
    return order


@kernel
def _turned(cost: FloatArray, order: IntArray, closed: bool) -> float:
    """Turn pieces of the route round in place (2-opt) until none helps; the route's cost."""
    n = len(order)
    improved = True
    while improved:
        improved = False
        for i in range(n - 1):
            for j in range(i + 1, n):
                if i == 0 and j == n - 1:
                    continue  # the whole route turned round is the same route
                old = new = 0.0
                if i > 0 or closed:
                    before = order[(i + n - 1) % n]
                    old += cost[before, order[i]]
                    new += cost[before, order[j]]
                if j < n - 1 or closed:
                    old += cost[order[j], order[(j + 1) % n]]
                    new += cost[order[i], order[(j + 1) % n]]
                if new < old * (1 - 1e-9):
                    order[i : j + 1] = order[i : j + 1][::-1].copy()
                    improved = True
    total = 0.0
    for k in range(n if closed else n - 1):
        total += cost[order[k], order[(k + 1) % n]]
    return total
