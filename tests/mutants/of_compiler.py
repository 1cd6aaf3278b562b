"""Mutants of how kernels are compiled."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

LANES = "thzsync.jit.lanes"

MUTANTS = (
    Mutant(
        "thzsync.jit.stored",
        "code_folder",
        'bounds + _digest(home.glob("*.py")) + _digest_of_package(shared)',
        'bounds + _digest(home.glob("*.py"))',
        ("tests/test_jit.py",),
        "code outlives a change in another folder",
    ),
    Mutant(
        "thzsync.jit.held",
        "_put",
        "number = int.from_bytes(sha256(_description(arrays).encode()).digest()[:7])",
        "number = 1",
        ("tests/test_held.py",),
        "all held tuples have the type of the first",
    ),
    Mutant(
        LANES,
        "_first",
        "at + len(row) if at < 0 else at",
        "at + len(row) - LANES if at < 0 else at",
        ("tests/test_indices.py::test_eight_numbers_count_from_the_end",),
        "eight numbers from the end begin too early",
    ),
    Mutant(
        LANES,
        "_first",
        "row[first + LANES - 1]",
        "row[first]",
        ("tests/test_lanes.py",),
        "eight numbers may end behind the row",
    ),
    Mutant(
        LANES,
        "",
        '_choosing(">")',
        '_choosing(">=")',
        ("tests/test_lanes.py",),
        "what is the same counts as more",
    ),
)
