"""What reproducing the paper takes on the clock: a quick look from nothing, the fabric figure."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final

from thzsync.experiments.bench_contact import Tell, waited_s

TWO: Final = ("--workers", "2")


def measure(quick: bool = False, tell: Tell = lambda what: None) -> dict[str, float]:
    """Seconds of ``make run`` after installing, kernels included, and of ``reproduce fabric``.

    On two cores; a quick look leaves both out.
    """
    if quick:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        cache, look, fabric = (str(Path(folder, name)) for name in ("kernels", "look", "fabric"))
        tell("a quick look at all figures, nothing compiled")
        look_s = waited_s("reproduce", "all", "--quick", *TWO, "--out", look, NUMBA_CACHE_DIR=cache)
        look_s += waited_s("report", look, NUMBA_CACHE_DIR=cache)
        tell("the fabric figure, 5 seeds")
        fabric_s = waited_s("reproduce", "fabric", *TWO, "--out", fabric, NUMBA_CACHE_DIR=cache)
        return {"make_run_s": look_s, "fabric_s": fabric_s}
