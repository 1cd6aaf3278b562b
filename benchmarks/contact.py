"""What a newcomer waits for: commands in fresh processes, with and without compiled kernels."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Final

RUN: Final = ("run", "tiny", "--json")
REPEATS: Final = 3
NO_BYTECODE: Final = "PYTHONDONTWRITEBYTECODE"
Tell = Callable[[str], object]
"""Is told what is measured next."""


def measure(quick: bool = False, tell: Tell = lambda what: None) -> dict[str, float]:
    """Seconds on the clock of ``--help`` and ``run tiny``, warm and from an empty kernel cache.

    The best of some repeats, but for the cold one, which takes long; a quick look leaves it out.
    """
    with tempfile.TemporaryDirectory() as cache:
        tell("a first run")
        figures = {} if quick else {"cold_run_s": waited_s(*RUN, NUMBA_CACHE_DIR=cache)}
        kept = {} if quick else {"NUMBA_CACHE_DIR": cache}
        waited_s(*RUN, **kept)
        tell("warm runs")
        return figures | {
            "warm_run_s": min(waited_s(*RUN, **kept) for _ in range(REPEATS)),
            "help_s": min(waited_s("--help") for _ in range(REPEATS)),
        }


def waited_s(*arguments: str, **environment: str) -> float:
    """How long a command takes in a process of its own [s], with Python's own cache as usual."""
    usual = {name: value for name, value in os.environ.items() if name != NO_BYTECODE}
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "thzsync", *arguments],
        env=usual | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    return time.perf_counter() - start
