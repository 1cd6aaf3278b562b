"""A held tuple is for kernels what the tuple is: the same arrays, found at one address."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from thzsync.arrays import AnyArray, FloatArray, IntArray
from thzsync.jit import bare, kernel
from thzsync.jit.held import hold


class Small(NamedTuple):
    """Numbers beside an array."""

    whole: int
    part: float
    key: np.uint64
    flag: bool
    last: IntArray


class Large(NamedTuple):
    """Arrays of several kinds and shapes, and a tuple within."""

    row: IntArray
    plane: FloatArray
    marks: AnyArray
    small: Small
    space: FloatArray


OWN_CLASS = """
from typing import NamedTuple

import numpy as np

from thzsync.jit import bare
from thzsync.jit.held import hold


class Mine(NamedTuple):
    row: np.ndarray


@bare
def total(mine):
    found = 0.0
    for value in mine.row:
        found += value
    return found


print(total(hold(Mine(np.arange(4.0)))))
"""


@bare
def add_up(large: Large, factor: int) -> float:
    """Something of everything; the first entry of ``row`` is counted up."""
    total = factor * large.row.sum() + large.plane[1, 2] + len(large.marks) + large.space[1, 0, 1]
    small = large.small
    if small.flag:
        total += small.whole + small.part + small.last[0] + np.float64(small.key)
    large.row[0] += 1
    return float(total)


def large(flag: bool = True, part: float = -0.75) -> Large:
    small = Small(-3, part, np.uint64(2**62), flag, np.array([11]))
    return Large(
        np.arange(4),
        np.arange(12.0).reshape(3, 4),
        np.ones(5, dtype=np.bool_),
        small,
        np.arange(8.0).reshape(2, 2, 2),
    )


@pytest.mark.parametrize("flag", [True, False])
def test_kernels_see_what_they_see_in_the_tuple(flag: bool) -> None:
    expected = add_up.py_func(large(flag), 2)  # type: ignore[attr-defined]
    assert add_up(hold(large(flag)), 2) == expected
    assert add_up.py_func(hold(large(flag)), 2) == expected  # type: ignore[attr-defined]


def test_arrays_are_the_callers_own() -> None:
    mine = large()
    held = hold(mine)
    first = add_up(held, 1)
    assert mine.row[0] == 1
    mine.plane[1, 2] += 100.0
    assert add_up(held, 1) == first + 1 + 100.0


def test_a_part_may_be_held_before() -> None:
    plain = large()
    parts = plain._replace(small=hold(plain.small))
    assert add_up(hold(parts), 2) == add_up.py_func(large(), 2)  # type: ignore[attr-defined]


def test_arrays_live_as_long_as_what_holds_them() -> None:
    held = hold(large())
    rubbish = [np.full(4, 7) for _ in range(1000)]
    assert add_up(held, 2) == add_up.py_func(large(), 2)  # type: ignore[attr-defined]
    assert len(rubbish) == 1000


@pytest.mark.parametrize("twin_of", [copy.deepcopy, lambda held: pickle.loads(pickle.dumps(held))])
def test_a_copy_holds_copies(twin_of) -> None:  # type: ignore[no-untyped-def]
    mine = large()
    held = hold(mine)
    twin = twin_of(held)
    assert add_up(twin, 1) == add_up(held, 1)
    assert add_up(twin, 1) == add_up(held, 1)
    assert mine.row[0] == 2
    assert not np.shares_memory(twin.row, mine.row)


def test_copies_share_what_their_originals_share() -> None:
    mine = large()
    twin, row = copy.deepcopy((hold(mine), mine.row))
    add_up(twin, 1)
    assert row[0] == 1
    assert mine.row[0] == 0


@pytest.mark.parametrize(
    "last", [np.arange(6)[1::2], np.arange(6).reshape(3, 2).T[0], np.ones(2, dtype=np.int8)]
)
def test_arrays_of_any_layout_may_be_held(last: AnyArray) -> None:
    whole = large()
    whole = whole._replace(small=whole.small._replace(last=last))
    assert add_up(hold(whole), 0) == add_up.py_func(whole, 0)  # type: ignore[attr-defined]


def test_tuples_of_one_class_with_other_arrays_have_another_type() -> None:
    wide = large()
    narrow = wide._replace(row=wide.row.astype(np.int16))
    assert add_up(hold(wide), 1) == add_up(hold(narrow), 1)
    assert narrow.row.tolist() == [1, 1, 2, 3]


@kernel
def the_row(large: Large) -> IntArray:
    return large.row


def test_an_array_that_a_kernel_returns_is_the_callers_own() -> None:
    mine = large()
    assert np.shares_memory(the_row(hold(mine)), mine.row)


def test_keys_may_have_all_their_bits() -> None:
    whole = large()
    whole = whole._replace(small=whole.small._replace(key=np.uint64(2**64 - 1)))
    assert add_up(hold(whole), 0) == pytest.approx(2.0**64, abs=1e4)


def test_code_for_classes_of_other_packages_is_not_stored(tmp_path: Path) -> None:
    """The next process may not have the class, and could not read the list of stored code."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "code")}
    for name in ("Mine", "Other"):
        (tmp_path / "own.py").write_text(OWN_CLASS.replace("Mine", name))
        done = subprocess.run(
            [sys.executable, "-c", "import own"],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout.split() == ["6.0"], done.stderr
