"""The place of a crossover and its interval, in cases that can be drawn by hand."""

from __future__ import annotations

import numpy as np
import pytest

from thzsync.studies.curves import Crossover, find_crossovers

X = np.array([0.0, 1.0, 2.0, 3.0])


def found(difference: list[float], half: float | list[float]) -> list[Crossover]:
    width = np.broadcast_to(np.asarray(half, dtype=np.float64), len(X))
    return list(find_crossovers("a", "b", X, np.array(difference), width))


def test_straight_lines_cross_where_they_must() -> None:
    (cross,) = found([-3.0, -1.0, 1.0, 3.0], 0.5)
    assert (cross.before, cross.behind) == ("a", "b")
    assert cross.x == pytest.approx(1.5)
    assert (cross.low, cross.high) == (pytest.approx(1.25), pytest.approx(1.75))


def test_the_other_way_round_the_other_leads() -> None:
    (cross,) = found([3.0, 1.0, -1.0, -3.0], 0.5)
    assert (cross.before, cross.behind) == ("b", "a")
    assert (cross.x, cross.low, cross.high) == (
        pytest.approx(1.5),
        pytest.approx(1.25),
        pytest.approx(1.75),
    )


def test_no_change_of_sign_is_no_crossover() -> None:
    assert found([1.0, 2.0, 1.0, 0.5], 5.0) == []


def test_an_undecided_side_has_no_end() -> None:
    (cross,) = found([-3.0, -1.0, 1.0, 3.0], [0.5, 0.5, 2.0, 4.0])
    assert cross.low is not None
    assert cross.high is None


def test_one_seed_gives_a_place_without_an_interval() -> None:
    (cross,) = found([-3.0, -1.0, 1.0, 3.0], float("nan"))
    assert cross.x == pytest.approx(1.5)
    assert (cross.low, cross.high) == (None, None)


def test_a_difference_of_zero_at_a_point_is_the_crossover() -> None:
    (cross,) = found([-2.0, 0.0, 2.0, 4.0], 1.0)
    assert (cross.x, cross.low, cross.high) == (
        pytest.approx(1.0),
        pytest.approx(0.5),
        pytest.approx(1.5),
    )


def test_every_change_of_sign_is_told() -> None:
    assert [cross.x for cross in found([-1.0, 1.0, -1.0, 1.0], 0.0)] == [0.5, 1.5, 2.5]
