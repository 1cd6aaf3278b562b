"""What every fuzzer shares: seeds, a time limit, and the rule that only `ThzSyncError` may come."""

from __future__ import annotations

import faulthandler
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from types import FrameType
from typing import Any

import numpy as np

from thzsync.errors import ThzSyncError, printable

LIMIT_S = 60
"""No case may compute for longer, compiling apart; a busy machine changes no verdict [s]."""

Case = Callable[[np.random.Generator], str]
"""Tries one random input and names what became of it, or raises `ThzSyncError`."""


def fuzz(case: Case, seeds: Iterable[int], simulates: bool = True) -> Counter[str]:
    """Try one case per seed; how many ended how. Anything but `ThzSyncError` is a failure."""
    if simulates:
        compile_kernels()
    outcomes: Counter[str] = Counter()
    for seed in seeds:
        try:
            with time_limit(LIMIT_S), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                warnings.simplefilter("error", RuntimeWarning)
                outcomes[case(np.random.default_rng(seed))] += 1
        except ThzSyncError as error:
            if "".join(error.lines) != printable("".join(error.lines)):
                raise AssertionError(
                    f"seed {seed}: {error.lines} would reach a terminal"
                ) from error
            outcomes["refused"] += 1
        except BaseException as error:
            error.add_note(f"{case.__module__}: seed {seed}")
            raise
    return outcomes


@cache
def compile_kernels() -> None:
    """Run every policy once: the first case must not be charged for compiling."""
    from thzsync.scenario import Scenario
    from thzsync.simulation import simulate

    for policy in ("thz-sync", "ddqn"):
        simulate(Scenario.preset("tiny"), policy, 1, 0, references={})


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise after a time; a compiled loop that never returns ends the process with its stack."""

    def ring(_: int, __: FrameType | None) -> None:
        raise TimeoutError(f"no end after {seconds} s")

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    faulthandler.dump_traceback_later(60 * seconds, exit=True, file=sys.__stderr__)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


ODD_VALUES: tuple[Any, ...] = (
    *(0, -1, 1, 2, 3, 7, 100, 2**31 - 1, 2**31, 2**53, 2**63, -(2**63), 10**400),
    *(0.0, -0.0, 0.5, 1e-300, 1e-12, 1e-6, 1e-3, 1e3, 1e6, 1e9, 1e15, 1e300),
    *(float("inf"), float("-inf"), float("nan")),
    *(True, False, None, "", "x", "\x1b[31m\u202e", "a\nb", "1e400 MiB", "5 GHz", "3 ms", "0 s"),
    *([], [0], [0, 1], [1, 1], ["a"], {}, {"a": 1}, [[0]], [{}]),
)
"""What people, programs and rivals put where a value is expected."""


def odd_value(rng: np.random.Generator) -> Any:
    """One of the odd values."""
    return ODD_VALUES[rng.integers(len(ODD_VALUES))]


def scaled(rng: np.random.Generator, value: Any, decades: float = 3.0) -> Any:
    """A number of the same type a few decades away; anything else becomes odd."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return odd_value(rng)
    changed = value * 10 ** rng.uniform(-decades, decades)
    return round(changed) if isinstance(value, int) else float(changed)


def damaged(rng: np.random.Generator, content: bytes) -> bytes:
    """Bytes changed, cut or repeated."""
    data = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(max(1, len(data))))
        match rng.integers(4):
            case 0:
                data = data[:at]
            case 1:
                data[at : at + 1] = bytes([rng.integers(256)])
            case 2:
                data[at:at] = data[at : at + int(rng.integers(1, 200))]
            case _:
                del data[at : at + int(rng.integers(1, 200))]
    return bytes(data)
