from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from thzsync.collectives import Transfer
from thzsync.workload.pipeline import apportion, even_exchange, returned, skewed_exchange


def by_source(transfer: Transfer) -> list[int]:
    return np.bincount(transfer.src, transfer.size_bytes).astype(int).tolist()


@given(st.integers(2, 6), st.integers(1, 4), st.integers(0, 10**6))
def test_an_even_exchange_sends_all_bytes_within_its_group(
    group: int, groups: int, size: int
) -> None:
    racks = np.arange(group * groups, dtype=np.int64)
    demand = even_exchange(racks, group, size)
    demand.check("even exchange", racks)
    assert by_source(demand) == [size] * len(racks)
    assert np.ptp(demand.size_bytes) <= 1
    assert (demand.src // group == demand.dst // group).all()
    pairs = set(zip(demand.src.tolist(), demand.dst.tolist(), strict=True))
    assert len(pairs) == len(demand.src) == len(racks) * (group - 1)


@given(st.integers(2, 6), st.integers(0, 10**9), st.sampled_from([0.1, 1.0, 1e4]))
def test_a_skewed_exchange_still_sends_exactly_all_bytes(
    group: int, size: int, sigma: float
) -> None:
    rng = np.random.default_rng(0)
    demand = skewed_exchange(np.arange(group, dtype=np.int64), group, size, sigma, rng)
    assert by_source(demand) == [size] * group
    assert demand.size_bytes.min() >= 0


def test_log_shares_spread_with_sigma() -> None:
    racks = np.arange(200, dtype=np.int64)
    demand = skewed_exchange(racks, 200, 10**15, 0.7, np.random.default_rng(1))
    logs = np.log(demand.size_bytes.reshape(200, 199))
    spread = (logs - logs.mean(axis=1, keepdims=True)).std()
    assert abs(spread - 0.7) < 0.02


@given(st.integers(0, 10**12), st.lists(st.floats(0, 1e6), min_size=1, max_size=20))
def test_shares_sum_exactly_and_stay_within_one_of_proportional(
    total: int, weights: list[float]
) -> None:
    row = np.array(weights) + 1e-3
    shares = apportion(total, row)
    assert shares.sum() == total
    assert (shares >= 0).all()
    assert np.abs(shares - total * row / row.sum()).max() <= 1 + 1e-3


def test_what_returns_goes_the_other_way() -> None:
    there = Transfer.of([0, 1], [1, 2], [5, 6])
    back = returned(there)
    assert (back.src.tolist(), back.dst.tolist()) == ([1, 2], [0, 1])
    assert back.size_bytes.tolist() == [5, 6]
