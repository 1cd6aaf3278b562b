"""Shares of a tensor on many trees, so that the busiest rack has as little to do as possible.

A shard has a root, a tree by which the root collects the sums of what is not late, and a tree by
which it spreads the result; every straggler sends its data straight to the root. That is a column
of a linear program: how much air time the shard takes of every rack, before the last straggler's
data is there (sums) and after it (meeting and spreading). The program finds the shares of all
possible columns for which the longest time is least. There are very many columns, but the one that
is worth most at given prices of the racks' time is found at once: trees are cheapest spanning
trees, and there are as many roots as racks. So the program is solved by the simplex method, whose
entering column is made when it is needed.
"""

from __future__ import annotations

import numpy as np

from thzsync.arrays import BoolArray, FloatArray, IntArray
from thzsync.jit import inner, kernel

SUMS_WEIGHT = 0.5
"""What a second of summing up counts beside one of spreading: it is waited for only sometimes."""
PIVOTS_PER_ROW = 50
MOST_PIVOTS = 1500
"""Steps at most; every step's shares are a valid packing. Twelve racks need 200 to 600."""
OUTSIDE = -2
"""Parent of a rack that is not in a tree."""
_LITTLE = 1e-6
"""How much of a price every rack's time has at least, so that idle racks too use fast links."""


@kernel
def pack(
    airtime: FloatArray, late: IntArray, early: FloatArray
) -> tuple[FloatArray, IntArray, IntArray, IntArray]:
    """Shares, roots and parents of every rack in the trees of sums and of spreading, by shard.

    ``early`` tells how much sooner than the last one's the data of each of the ``late`` racks is
    there, in the unit of ``airtime``: what a link takes for the whole tensor.
    """
    n, rows = len(airtime), 2 * len(airtime) + len(late) + 1
    inverse, value = np.eye(rows), np.zeros(rows)
    value[late] = early
    value[rows - 1] = 1.0
    cost, basic = np.zeros(rows), np.full(rows, -1)
    most = min(PIVOTS_PER_ROW * rows, MOST_PIVOTS)
    columns, roots = np.empty((most + 1, rows)), np.empty(most + 1, dtype=np.int64)
    sums = np.empty((most + 1, n), dtype=np.int64)
    spreads = np.empty((most + 1, n), dtype=np.int64)
    roots[0] = _column(airtime, late, np.ones(rows), columns[0], sums[0], spreads[0])
    _begin(inverse, value, cost, basic, columns[0], n, len(late))
    made = 1
    for _ in range(most):
        # of every rack's time; the last is what a column must be worth
        price = -_row_times(cost, inverse)
        slack = int(np.argmin(price[: rows - 1]))
        if price[slack] < -1e-9:
            entering, number = np.zeros(rows), -1
            entering[slack] = 1.0
        else:
            roots[made] = _column(airtime, late, price, columns[made], sums[made], spreads[made])
            entering, number = columns[made], made
            if (price * entering).sum() > -1e-6 * abs(price[rows - 1]):
                break
            made += 1
        step = _times_column(inverse, entering)
        leaving = _leaving(step, value)
        if leaving < 0:
            break
        _pivot(inverse, value, step, leaving)
        basic[leaving], cost[leaving] = number, 0.0
    shares = np.zeros(made)
    for k in range(rows):
        if basic[k] >= 0:
            shares[basic[k]] += value[k]
    return shares, roots[:made], sums[:made], spreads[:made]


@inner
def _begin(
    inverse: FloatArray, value: FloatArray, cost: FloatArray, basic: IntArray, column: FloatArray,
    n: int, late: int,
) -> None:  # fmt: skip
    """The first basis: one column for all, and both times as long as it takes."""
    rows = len(value)
    _pivot(inverse, value, _times_column(inverse, column), rows - 1)
    basic[rows - 1] = 0
    for first, end, extra, weight in ((0, n, late, 1.0), (n, 2 * n, 0, SUMS_WEIGHT)):
        longest = np.zeros(rows)
        longest[first:end] = -1.0
        longest[2 * n : 2 * n + extra] = -1.0
        worst = first + int(np.argmin(value[first:end]))
        for k in range(2 * n, 2 * n + extra):
            if value[k] < value[worst]:
                worst = k
        _pivot(inverse, value, _times_column(inverse, longest), worst)
        cost[worst] = weight


@inner
def _row_times(row: FloatArray, matrix: FloatArray) -> FloatArray:
    """``row @ matrix``; Numba's own would come from a library whose sums suit the processor."""
    found = np.zeros(matrix.shape[1])
    for k in range(len(row)):
        for j in range(len(found)):
            found[j] += row[k] * matrix[k, j]
    return found


@inner
def _times_column(matrix: FloatArray, column: FloatArray) -> FloatArray:
    """``matrix @ column``."""
    found = np.zeros(len(matrix))
    for i in range(len(found)):
        for k in range(len(column)):
            found[i] += matrix[i, k] * column[k]
    return found


@inner
def _leaving(step: FloatArray, value: FloatArray) -> int:
    """The row that becomes zero first; of several the one with the greatest step, -1 if none."""
    leaving, least = -1, np.inf
    for k in range(len(step)):
        if step[k] > 1e-9:
            ratio = max(value[k], 0.0) / step[k]
            tied = ratio <= least * (1.0 + 1e-12)
            if ratio < least * (1.0 - 1e-12) or (tied and step[k] > step[leaving]):
                leaving, least = k, min(least, ratio)
    return leaving


@inner
def _pivot(inverse: FloatArray, value: FloatArray, step: FloatArray, row: int) -> None:
    """Let a column with this step take the place of the one in a row of the basis."""
    inverse[row] /= step[row]
    value[row] /= step[row]
    for k in range(len(step)):
        if k != row and step[k] != 0.0:
            inverse[k] -= step[k] * inverse[row]
            value[k] -= step[k] * value[row]


@inner
def _column(
    airtime: FloatArray, late: IntArray, price: FloatArray, column: FloatArray, sums: IntArray,
    spreads: IntArray,
) -> int:  # fmt: skip
    """Fill in the column that is worth most at these prices, and its trees; its root.

    Rows: every rack's time for meeting and spreading, its time for sums, the late ones' time for
    all but sending their own data (which may go early), and the share.
    """
    n = len(airtime)
    there = np.ones(n, dtype=np.bool_)
    there[late] = False
    summing, meeting = price[n : 2 * n] + _LITTLE, price[:n] + _LITTLE
    spreading = meeting.copy()
    spreading[late] += price[2 * n : 2 * n + len(late)]
    root = _best_root(airtime, late, there, summing, meeting, spreading)
    _tree(airtime, summing, there, root, sums)
    _tree(airtime, spreading, np.ones(n, dtype=np.bool_), root, spreads)
    column[:] = 0.0
    column[len(column) - 1] = 1.0
    _add_tree(airtime, sums, column[n : 2 * n])
    _add_tree(airtime, spreads, column[:n])
    for v in late:
        if v != root:
            column[root] += airtime[v, root]
    column[2 * n : 2 * n + len(late)] = column[late]
    for v in late:
        if v != root:
            column[v] += airtime[v, root]
    return root


@inner
def _best_root(
    airtime: FloatArray, late: IntArray, there: BoolArray, summing: FloatArray,
    meeting: FloatArray, spreading: FloatArray,
) -> int:  # fmt: skip
    """The root for which sums and meeting cost least; what spreading costs is the same for all."""
    n = len(airtime)
    parent = np.empty(n, dtype=np.int64)
    best, cheapest, plain = -1, np.inf, -1.0
    for root in range(n):
        if not there[root]:
            cost = _tree(airtime, summing, there, root, parent)
        else:
            if plain < 0.0:  # the same tree whichever of its racks is the root
                plain = _tree(airtime, summing, there, root, parent)
            cost = plain
        for v in late:
            if v != root:
                cost += airtime[v, root] * (meeting[v] + spreading[root])
        if cost < cheapest:
            best, cheapest = root, cost
    return best


@inner
def _add_tree(airtime: FloatArray, parent: IntArray, taken: FloatArray) -> None:
    """Add what a tree's links take of every rack's time."""
    for v in range(len(parent)):
        if parent[v] >= 0:
            taken[v] += airtime[v, parent[v]]
            taken[parent[v]] += airtime[v, parent[v]]


@inner
def _tree(
    airtime: FloatArray, price: FloatArray, there: BoolArray, root: int, parent: IntArray
) -> float:
    """Fill in the parents of the cheapest tree of these racks and the root; its cost."""
    n = len(airtime)
    nearest, best = np.full(n, root), np.empty(n)
    left = there.copy()
    left[root] = False
    parent[:] = OUTSIDE
    parent[root] = -1
    for v in range(n):
        best[v] = airtime[root, v] * (price[root] + price[v])
    total = 0.0
    while True:
        u = -1
        for v in range(n):
            if left[v] and (u < 0 or best[v] < best[u]):
                u = v
        if u < 0:
            return total
        left[u] = False
        parent[u] = nearest[u]
        total += best[u]
        for v in range(n):
            cost = airtime[u, v] * (price[u] + price[v])
            if left[v] and cost < best[v]:
                best[v], nearest[v] = cost, u
