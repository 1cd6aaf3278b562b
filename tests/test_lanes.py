"""Eight numbers at once: compiled as NumPy does it, and nothing is read beyond a row."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from thzsync.arrays import FloatArray
from thzsync.jit import bare
from thzsync.jit.lanes import (
    LANES,
    eight,
    put_eight,
    roots,
    where_at_most,
    where_more,
    where_same,
    whole_lanes,
)

ODD = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-310, 1e308, -1.5])


@bare
def everything(cube: FloatArray, vector: FloatArray, number: float, to: FloatArray) -> None:
    for at in range(0, len(vector), LANES):
        a, b = eight(vector, at), eight(cube, (1, 0, at))
        put_eight(to, (0, at), a * b + number * a)
        put_eight(to, (1, at), (a + number) + b * number)
        put_eight(to, (2, at), where_more(a, b, a, number))
        put_eight(to, (3, at), where_at_most(a, 0.0, 0.0, a))
        put_eight(to, (4, at), where_same(a, b, number, b))
        total = roots(a * a) / (number - b)
        for row in range(cube.shape[1]):
            total = total + eight(cube, (0, row, at))
        put_eight(to, (5, at), total)


def test_compiled_and_uncompiled_give_the_same_to_the_bit() -> None:
    draw = np.random.default_rng(0)
    vector = np.concatenate((draw.normal(size=LANES), ODD))
    cube = np.stack((draw.normal(size=(3, 16)), np.tile(draw.permutation(vector), (3, 1))))
    cube[1, 0, 3] = vector[3]
    compiled, uncompiled = np.zeros((6, 16)), np.zeros((6, 16))
    everything(cube, vector, 0.3, compiled)
    with np.errstate(all="ignore"):
        everything.py_func(cube, vector, 0.3, uncompiled)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(compiled.view(np.int64), uncompiled.view(np.int64))


@pytest.mark.parametrize(("width", "whole"), [(1, 8), (8, 8), (9, 16), (24, 24)])
def test_whole_lanes_are_the_least_that_hold_everything(width: int, whole: int) -> None:
    assert whole_lanes(width) == whole


def test_a_row_that_ends_too_early_is_found_where_bounds_are_checked() -> None:
    code = (
        "import numpy as np\n"
        "from tests.test_lanes import everything\n"
        "everything(np.zeros((2, 1, 15)), np.zeros(16), 0.0, np.zeros((6, 16)))"
    )
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stderr.splitlines()[-1] == "IndexError: index is out of bounds"
