"""A slim tuple has the arrays of the full one, seen through fewer numbers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from thzsync.jit import inner_bare, kernel
from thzsync.jit.slim import slim


class Mixed(NamedTuple):
    line: Any
    table: Any
    block: Any
    scale: float
    on: bool


class Alike(NamedTuple):
    first: Any
    second: Any


@inner_bare
def add_up(mixed: Mixed) -> float:
    total = 0.0
    for i in range(mixed.block.shape[0]):
        row = mixed.table[i]
        for j in range(len(row)):
            row[j] += mixed.line[j]
            for k in range(mixed.block.shape[2]):
                total += mixed.scale * row[j] * mixed.block[i, j, k]
    return total if mixed.on else -total


@kernel
def summed(mixed: Mixed) -> float:
    return add_up(slim(mixed))


@kernel
def described(mixed: Mixed) -> tuple[Any, ...]:
    thin = slim(mixed)
    table, block = thin.table, thin.block
    return table.size, table.itemsize, table.shape, table.strides, block.size, block.strides


@kernel
def swapped(pair: Alike) -> None:
    thin = slim(pair)
    for k in range(len(thin.first)):
        thin.first[k], thin.second[k] = thin.second[k], thin.first[k]


def mixed(on: bool = True) -> Mixed:
    block = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    return Mixed(np.arange(3), np.ones((2, 3)), block, 0.5, on)


@pytest.mark.parametrize("on", [True, False])
def test_parts_read_and_write_the_same_arrays(on: bool) -> None:
    full = mixed(on)
    table = full.table + full.line
    expected = 0.5 * float((table[:, :, None] * full.block).sum())
    assert summed(full) == (expected if on else -expected)
    assert np.array_equal(full.table, table)
    assert float(add_up.py_func(slim(mixed(on)))) == pytest.approx(  # type: ignore[attr-defined]
        expected if on else -expected
    )


def test_sizes_and_strides_are_numpys() -> None:
    table, block = mixed().table, mixed().block
    assert described(mixed()) == (
        table.size, table.itemsize, table.shape, table.strides, block.size, block.strides,
    )  # fmt: skip


def test_a_tuple_of_like_arrays_is_a_tuple_all_the_same() -> None:
    pair = Alike(np.arange(4), np.arange(4) + 10)
    swapped(pair)
    assert pair.first.tolist() == [10, 11, 12, 13]
    assert pair.second.tolist() == [0, 1, 2, 3]


def test_arrays_with_gaps_are_refused() -> None:
    with pytest.raises(Exception, match="slim"):
        swapped(Alike(np.arange(8)[::2], np.arange(4)))


def test_an_array_without_axes_is_refused() -> None:
    with pytest.raises(Exception, match="slim"):
        swapped(Alike(np.array(1), np.array(2)))
