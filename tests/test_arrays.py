from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thzsync.arrays import LATEST_S, PS_PER_S, all_to_ps, among, size_text, to_ps
from thzsync.errors import ThzSyncError


@given(st.floats(0, LATEST_S))
def test_any_time_within_the_clock_becomes_picoseconds(seconds: float) -> None:
    assert to_ps(seconds) == round(seconds * PS_PER_S)
    assert 0 <= 2 * to_ps(seconds) < 2**63
    assert all_to_ps(np.array([0.0, seconds]))[1] == np.rint(seconds * 1e12)


@pytest.mark.parametrize("seconds", [4.1e6, 9.3e6, 1e300, float("inf"), float("nan"), -5e6])
def test_a_time_that_would_wrap_is_refused(seconds: float) -> None:
    with pytest.raises(ThzSyncError, match=re.escape(f"{LATEST_S:.3g} s")):
        to_ps(seconds)
    with pytest.raises(ThzSyncError, match=re.escape(f"{LATEST_S:.3g} s")):
        all_to_ps(np.array([1.0, seconds, 2.0]))


def test_no_times_are_fine() -> None:
    assert len(all_to_ps(np.zeros(0))) == 0


def test_sizes_are_told_in_three_digits() -> None:
    assert [size_text(n) for n in (12, 6.3e9, 2e15)] == ["12 bytes", "6.3 GB", "2 PB"]


@given(
    values=st.lists(st.integers(-3, 12), max_size=9),
    rising=st.sets(st.integers(-2, 10), max_size=6).map(sorted),
)
def test_membership_is_that_of_numpy(values: list[int], rising: list[int]) -> None:
    asked, known = np.array(values, dtype=np.int64), np.array(rising, dtype=np.int64)
    np.testing.assert_array_equal(among(asked, known), np.isin(asked, known))
