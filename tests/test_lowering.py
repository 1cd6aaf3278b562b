"""Kernels are written down in few words for LLVM, and mean what they mean in Python."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from thzsync.arrays import AnyArray, FloatArray, IntArray
from thzsync.jit import kernel


def both(function: Any, *args: Any) -> tuple[Any, Any]:
    """What a kernel returns compiled, and in Python, each with arguments of its own."""

    def own() -> list[Any]:
        return [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]

    return function(*own()), function.py_func(*own())


@kernel
def turns(start: int, stop: int) -> IntArray:
    """How often loops turn, and where they end."""
    out = np.zeros((5, 2), dtype=np.int64)
    for i in range(stop):
        out[0, 0], out[0, 1] = out[0, 0] + 1, i
    for i in range(start, stop):
        out[1, 0], out[1, 1] = out[1, 0] + 1, i
    for i in range(start, stop, 3):
        out[2, 0], out[2, 1] = out[2, 0] + 1, i
    for i in range(start, stop, -1):
        out[3, 0], out[3, 1] = out[3, 0] + 1, i
    for i in range(start, stop, -4):
        out[4, 0], out[4, 1] = out[4, 0] + 1, i
    return out


@pytest.mark.parametrize("start", [-7, 0, 3, 8])
@pytest.mark.parametrize("stop", [-8, -1, 0, 2, 9, 12])
def test_loops_turn_as_often_as_in_python(start: int, stop: int) -> None:
    compiled, plain = both(turns, start, stop)
    assert compiled.tolist() == plain.tolist()


@kernel
def elements(row: FloatArray, plane: IntArray, space: FloatArray, small: AnyArray) -> FloatArray:
    """Elements of all shapes, by numbers of several widths, read and written."""
    out = np.zeros(8)
    for i in range(plane.shape[0]):
        for j in range(plane.shape[1]):
            out[0] += plane[i, j] * (i + 10 * j)
            plane[i, j] = 2 * plane[i, j] + 1
            for k in range(space.shape[2]):
                out[1] += space[i, j, k] * (i - j + k)
                space[i, j, k] -= plane[i, j]
    out[2] = row[-1] + row[-len(row) + 1 + len(row)]
    row[-2] = 7.0
    narrow = small[1]
    out[3] = row[narrow] + plane[narrow, 0] + space[0, narrow, narrow]
    small[0] = 5.9  # cut, as NumPy does
    out[4], out[5] = small[0], space[1].sum()
    line = plane[1]
    line[0] = 100
    out[6], out[7] = plane[1, 0], row[len(row) - 2]
    return out


def test_elements_are_those_that_numpy_finds() -> None:
    compiled, plain = both(
        elements,
        np.array([0.5, 1.5, -3.0, 4.0]),
        np.arange(6).reshape(2, 3),
        np.arange(24.0).reshape(2, 3, 4),
        np.array([3, 1, 2], dtype=np.int8),
    )
    assert compiled.tolist() == plain.tolist()


@kernel
def gaps(columns: FloatArray, every: IntArray) -> float:
    """Arrays with gaps are left to Numba."""
    total = 0.0
    for i in range(columns.shape[0]):
        for j in range(columns.shape[1]):
            total += columns[i, j] * (i + 1) * (j + 2)
    for i in range(len(every)):
        total += every[i] * i
    return total


def test_arrays_with_gaps_are_read_where_they_are() -> None:
    columns, every = np.arange(12.0).reshape(3, 4).T, np.arange(9)[::2]
    assert gaps(columns, every) == gaps.py_func(columns, every)  # type: ignore[attr-defined]


@kernel
def variables(values: IntArray, limit: int) -> IntArray:
    """Variables assigned before, in and after branches and loops, and in turns."""
    out = np.zeros(6, dtype=np.int64)
    first = values[0]
    if limit > 2:
        bound = limit * 2
        late = first + 1
    else:
        bound = 1
        late = first - 1
    previous, latest = 0, 1
    for i in range(len(values)):
        inside = values[i] + first
        if inside > bound:
            inside = bound
        elif inside < 0:
            continue
        square = inside * inside
        while square > limit:
            half = square // 2
            out[0] += half
            square = half - 1
        out[1] += square
        previous, latest = latest, previous + inside
        if out[1] > 10_000:
            break
    out[2], out[3], out[4] = previous, latest, late
    out[5] = bound
    return out


@pytest.mark.parametrize("limit", [-1, 0, 3, 50])
@pytest.mark.parametrize("first", [-5, 0, 4])
def test_variables_have_the_value_they_were_given_last(first: int, limit: int) -> None:
    compiled, plain = both(variables, np.array([first, 3, -9, 40, 2, 7, 1]), limit)
    assert compiled.tolist() == plain.tolist()


@kernel
def made(rows: int, fill: float) -> tuple[FloatArray, IntArray]:
    """Arrays that outlive the part that makes them."""
    return np.full((rows, 2), fill), np.arange(rows)


@kernel
def new_arrays(rows: int, fill: float) -> tuple[FloatArray, IntArray, AnyArray, FloatArray]:
    """Arrays of all kinds, some dropped again and again."""
    plane, count = made(rows, fill)
    for turn in range(3):
        plane, again = made(rows, plane[0, 0] + turn)
        count[:1] += again[0] + turn
    marks = np.ones(rows, dtype=np.bool_)
    marks[0] = False
    empty = np.empty((2, rows, 2), dtype=np.int64)
    for i in range(2):
        for j in range(rows):
            empty[i, j, 0], empty[i, j, 1] = i, j
    space = np.zeros((2, 2, 2)) + np.full(2, 3)[0] + np.ones((2, 2, 2))
    space[0, 0, 0] += np.zeros(4, np.int64).sum() + len(np.zeros(0)) + len(np.arange(-3))
    space[1, 0, 0] += empty.sum() + np.full(rows, 2, np.float64)[0]
    return plane, count, marks, space


def test_new_arrays_are_those_of_numpy() -> None:
    for compiled, plain in zip(*both(new_arrays, 4, 0.25), strict=True):
        assert compiled.dtype == plain.dtype
        assert compiled.tolist() == plain.tolist()


@kernel
def extremes(a: float, b: float, i: int, j: int) -> tuple[float, float, float, int, int, int, int]:
    """The smallest and the largest of several, and whole parts."""
    mixed = max(a, float(i), b)
    return min(a, b), max(a, b), mixed, min(i, j, 3), max(i, j), int(i), int(a)


@pytest.mark.parametrize("a", [-2.5, -0.0, 0.0, 7.9, -1e15])
@pytest.mark.parametrize("b", [0.0, -0.0, 3.5, math.inf, math.nan])
def test_extremes_are_those_of_python(a: float, b: float) -> None:
    compiled, plain = both(extremes, a, b, -4, 9)
    assert str(compiled) == str(plain)  # NaN and the sign of 0, too
    assert str(extremes(b, 1.0, 2, 2)[:3]) == str(
        extremes.py_func(b, 1.0, 2, 2)[:3] if math.isfinite(b) else _extremes_of(b)
    )


def _extremes_of(b: float) -> tuple[float, float, float]:
    """Python's own; its ``int`` refuses what is not finite."""
    return min(b, 1.0), max(b, 1.0), max(b, 2.0, 1.0)
