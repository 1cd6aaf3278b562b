"""The linear head: Bayesian ridge regression on phi with a factored precision.

The precision A is stored together with its upper Cholesky factor R, A = R^T R. With R the
uncertainty is a norm, ||R^-T phi||, which cannot become negative. R is rebuilt from A when rounding
has made it inaccurate.
"""

from __future__ import annotations

import numpy as np

from thzsync.arrays import FloatArray
from thzsync.elementary import product
from thzsync.errors import ThzSyncError
from thzsync.jit import bare, kernel


@bare
def rank_one_update(factor: FloatArray, vector: FloatArray) -> None:
    """Turn the upper factor of A into that of A + v v^T, in place (Givens rotations)."""
    size = len(vector)
    for k in range(size):
        old = factor[k, k]
        new = np.hypot(old, vector[k])
        cosine, sine = old / new, vector[k] / new
        factor[k, k] = new
        for j in range(k + 1, size):
            above = factor[k, j]
            factor[k, j] = cosine * above + sine * vector[j]
            vector[j] = cosine * vector[j] - sine * above


def stable_factor(precision: FloatArray) -> FloatArray:
    """Upper Cholesky factor of a symmetric matrix, with as much jitter as necessary."""
    if not np.isfinite(precision).all():
        raise ThzSyncError("policy: its posterior overflowed; use a smaller learning_rate")
    symmetric = (precision + precision.T) / 2
    scale = max(float(np.trace(symmetric)) / len(symmetric), np.finfo(np.float64).tiny)
    jitter, identity = 0.0, np.eye(len(symmetric))
    while not factorise(upper := symmetric + jitter * identity):
        jitter = max(10 * jitter, 1e-12 * scale)
    return upper


@bare
def factorise(matrix: FloatArray) -> bool:
    """Turn a symmetric matrix into its upper Cholesky factor, in place; whether it has one."""
    size = len(matrix)
    for k in range(size):
        pivot = matrix[k, k]
        if not pivot > 0.0:
            return False
        root = np.sqrt(pivot)
        for j in range(k, size):
            matrix[k, j] /= root
        for i in range(k + 1, size):
            matrix[i, k] = 0.0
            for j in range(i, size):
                matrix[i, j] -= matrix[k, i] * matrix[k, j]
    return True


class LinearHead:
    """Posterior over reward weights: A = lambda I + sum phi phi^T and b = sum r phi."""

    def __init__(self, size: int, ridge: float) -> None:
        self.ridge = ridge
        self.precision: FloatArray = ridge * np.eye(size)
        self.moment: FloatArray = np.zeros(size)
        self.factor: FloatArray = np.sqrt(ridge) * np.eye(size)
        self._solve()

    def restore(self, precision: FloatArray, moment: FloatArray, factor: FloatArray) -> None:
        """Take over a saved state; with the saved factor decisions stay the same bit for bit."""
        self.precision, self.moment, self.factor = precision, moment, factor
        self._solve()

    def update(self, phi: FloatArray, reward: float) -> None:
        """One sample (eq:bandit_A_update, eq:bandit_b_update)."""
        self.precision += np.outer(phi, phi)
        self.moment += reward * phi
        rank_one_update(self.factor, phi.copy())
        self._solve()

    def rebuild(self, phi: FloatArray, reward: FloatArray) -> None:
        """Replace the posterior by that of these samples, one row each."""
        self.precision = self.ridge * np.eye(len(self.moment)) + product(phi.T, phi)
        self.moment = product(phi.T, reward)
        self.factor = stable_factor(self.precision)
        self._solve()

    def _solve(self) -> None:
        """Weights and R^-1 from the factor, which is rebuilt if it has become inaccurate."""
        diagonal = np.diagonal(self.factor)
        finite = bool(np.isfinite(self.factor).all())
        if not finite or not float(diagonal.min()) > 1e-7 * float(diagonal.max()):
            self.factor = stable_factor(self.precision)
        self.inverse_factor: FloatArray = _inverse_upper(self.factor)
        rotated = product(self.moment, self.inverse_factor)
        self.weights = product(self.inverse_factor, rotated)


@kernel
def _inverse_upper(factor: FloatArray) -> FloatArray:
    """Inverse of an upper triangular matrix by back substitution, rows kept contiguous."""
    size = len(factor)
    inverse = np.zeros((size, size))
    for k in range(size - 1, -1, -1):
        inverse[k, k] = 1.0 / factor[k, k]
        for i in range(k + 1, size):
            weight = factor[k, i] / factor[k, k]
            for j in range(i, size):
                inverse[k, j] -= weight * inverse[i, j]
    return inverse
