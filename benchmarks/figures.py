"""What reproducing the paper takes on the clock: a quick look, and the fabric figure."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final

from benchmarks.contact import Tell, waited_s

TWO: Final = ("--workers", "2")


def measure(quick: bool = False, tell: Tell = lambda what: None) -> dict[str, float]:
    """Seconds of ``make run`` with everything compiled, and of ``reproduce fabric``.

    On two cores; a quick look leaves both out.
    """
    if quick:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        look, fabric = (str(Path(folder, name)) for name in ("look", "fabric"))
        waited_s("run", "tiny", "--iterations", "1")  # compiles what is not compiled yet
        tell("a quick look at all figures")
        look_s = waited_s("reproduce", "all", "--quick", *TWO, "--out", look)
        look_s += waited_s("report", look)
        tell("the fabric figure, 5 seeds")
        return {
            "make_run_s": look_s,
            "fabric_s": waited_s("reproduce", "fabric", *TWO, "--out", fabric),
        }
