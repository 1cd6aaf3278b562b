"""What reproducing the paper takes on the clock: a quick look from nothing, the fabric figure."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from thzsync.experiments.bench_contact import waited_s

Tell = Callable[[str], object]
"""Is told what is measured next."""


def measure(quick: bool = False, tell: Tell = lambda what: None) -> dict[str, float]:
    """Seconds of ``make run`` after installing, kernels included, and of ``reproduce fabric``."""
    if quick:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        cache, look, fabric = (str(Path(folder, name)) for name in ("kernels", "look", "fabric"))
        tell("a quick look at all figures, nothing compiled")
        look_s = waited_s("reproduce", "all", "--quick", "--out", look, NUMBA_CACHE_DIR=cache)
        look_s += waited_s("report", look, NUMBA_CACHE_DIR=cache)
        tell("the fabric figure, 5 seeds")
        fabric_s = waited_s("reproduce", "fabric", "--out", fabric, NUMBA_CACHE_DIR=cache)
        return {"make_run_s": look_s, "fabric_s": fabric_s}
