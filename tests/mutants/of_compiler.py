"""Mutants of how kernels are compiled."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

LOWERING = ("tests/test_lowering.py",)
DIRECT = "thzsync.jit.direct"

MUTANTS = (
    Mutant(
        "thzsync.jit.lowering",
        "Lean._turns",
        "builder.select(up, step, builder.neg(step))",
        "step",
        LOWERING,
        "a loop that counts down has no end",
    ),
    Mutant(
        DIRECT,
        "_min",
        "operator.lt",
        "operator.le",
        LOWERING,
        "of two zeros the smaller is the last",
    ),
    Mutant(
        DIRECT,
        "_zeros",
        "builder.mul(array.itemsize, array.nitems)",
        "array.nitems",
        LOWERING,
        "an eighth of a new array is cleared",
    ),
    Mutant(
        "thzsync.jit.held",
        "_member",
        "first + 1 + axis",
        "first + 1",
        ("tests/test_held.py",),
        "all axes of a held array are as long as its first",
    ),
    Mutant(
        "thzsync.jit.lanes",
        "",
        '_choosing(">")',
        '_choosing(">=")',
        ("tests/test_lanes.py",),
        "what is the same counts as more",
    ),
)
