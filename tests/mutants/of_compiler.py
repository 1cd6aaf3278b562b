"""Mutants of how kernels are compiled."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

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
)
