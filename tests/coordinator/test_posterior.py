from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thzsync.coordinator.posterior import LinearHead, rank_one_update, stable_factor
from thzsync.errors import ThzSyncError


def samples(seed: int, count: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    return draw.normal(size=(count, size)), draw.normal(size=count)


def width(head: LinearHead, phi: np.ndarray) -> float:
    """Half the confidence interval over alpha (eq:bandit_uncertainty)."""
    return float(np.linalg.norm(phi @ head.inverse_factor))


def test_before_any_sample_nothing_is_known() -> None:
    head = LinearHead(3, ridge=4.0)
    phi = np.array([1.0, 2.0, 2.0])
    assert phi @ head.weights == 0.0
    assert width(head, phi) == pytest.approx(3.0 / 2.0)  # |phi| / sqrt(lambda)


@given(seed=st.integers(0, 10**6), count=st.integers(1, 20), size=st.integers(1, 8))
def test_one_by_one_equals_a_fresh_factorisation(seed: int, count: int, size: int) -> None:
    phi, reward = samples(seed, count, size)
    head = LinearHead(size, ridge=0.3)
    for row, r in zip(phi, reward, strict=True):
        head.update(row, float(r))
    expected = np.linalg.cholesky(0.3 * np.eye(size) + phi.T @ phi).T
    np.testing.assert_allclose(np.abs(head.factor), np.abs(expected), atol=1e-9)
    np.testing.assert_allclose(head.factor.T @ head.factor, head.precision, atol=1e-9)


@given(seed=st.integers(0, 10**6), count=st.integers(1, 30))
def test_mean_and_width_are_those_of_bayesian_linear_regression(seed: int, count: int) -> None:
    """Unit noise and a N(0, 1/lambda) prior: mean A^-1 X^T y and variance x^T A^-1 x."""
    phi, reward = samples(seed, count, 5)
    head = LinearHead(5, ridge=0.7)
    for row, r in zip(phi, reward, strict=True):
        head.update(row, float(r))
    precision = 0.7 * np.eye(5) + phi.T @ phi
    probe = np.random.default_rng(seed + 1).normal(size=5)
    assert probe @ head.weights == pytest.approx(probe @ np.linalg.solve(precision, phi.T @ reward))
    variance = probe @ np.linalg.solve(precision, probe)
    assert width(head, probe) == pytest.approx(np.sqrt(variance))


def test_a_rebuild_forgets_the_old_representation() -> None:
    old, old_reward = samples(1, 10, 4)
    new, new_reward = samples(2, 12, 4)
    head, fresh = LinearHead(4, 1.0), LinearHead(4, 1.0)
    for row, r in zip(old, old_reward, strict=True):
        head.update(row, float(r))
    head.rebuild(new, new_reward)
    for row, r in zip(new, new_reward, strict=True):
        fresh.update(row, float(r))
    np.testing.assert_allclose(head.weights, fresh.weights, atol=1e-10)
    np.testing.assert_allclose(head.precision, fresh.precision, atol=1e-10)


def test_samples_only_ever_narrow_the_interval() -> None:
    phi, reward = samples(3, 30, 4)
    probe = np.ones(4)
    head = LinearHead(4, 1.0)
    widths = [width(head, probe)]
    for row, r in zip(phi, reward, strict=True):
        head.update(row, float(r))
        widths.append(width(head, probe))
    assert all(b <= a + 1e-12 for a, b in itertools.pairwise(widths))


def test_the_uncompiled_update_gives_the_same_factor() -> None:
    compiled, plain = np.eye(4), np.eye(4)
    vector = np.array([1.0, -2.0, 0.5, 3.0])
    rank_one_update(compiled, vector.copy())
    rank_one_update.py_func(plain, vector.copy())  # type: ignore[attr-defined]
    np.testing.assert_allclose(compiled, plain, atol=1e-15)


def test_a_spoilt_factor_is_made_anew_from_the_precision() -> None:
    phi, reward = samples(4, 10, 4)
    head = LinearHead(4, 1.0)
    head.rebuild(phi, reward)
    before = head.weights.copy()
    head.restore(head.precision, head.moment, np.full((4, 4), np.nan))
    np.testing.assert_allclose(head.weights, before, atol=1e-10)


def test_a_singular_precision_is_factored_with_jitter() -> None:
    direction = np.array([1.0, 1.0, 1.0])
    precision = 1e6 * np.outer(direction, direction)
    factor = stable_factor(precision)
    assert np.isfinite(factor).all()
    np.testing.assert_allclose(factor.T @ factor, precision, rtol=1e-6, atol=10.0)


def test_the_same_huge_sample_a_thousand_times_stays_finite() -> None:
    head = LinearHead(3, 1e-6)
    for _ in range(1000):
        head.update(np.array([1e6, 1e6, 1.0]), -0.5)
    assert np.isfinite(head.weights).all()
    assert np.array([1e6, 1e6, 1.0]) @ head.weights == pytest.approx(-0.5, rel=1e-6)


def test_an_overflown_posterior_is_an_error_in_one_line() -> None:
    with pytest.raises(ThzSyncError, match="learning_rate"):
        stable_factor(np.full((2, 2), np.inf))
