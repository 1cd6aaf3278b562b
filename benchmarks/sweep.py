"""Wall time of a 40-run sweep with one and two workers: ``python benchmarks/sweep.py [ROUNDS]``.

The sweep is run as a user runs it, as a command of its own, so that the start of the interpreter
and of the workers counts. A short sweep comes first and fills the cache of compiled kernels. One
and two workers take turns, and the median of the rounds counts, since a machine is rarely idle for
long; on fewer than two free cores the ratio says nothing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

POWERS = "thz.max_power_w=0.05,0.1,0.2,0.4,0.8"
SWEEP = ("sweep", "paper", "--set", POWERS, "--policies", "all-wired,all-wireless")
SEEDS, RUNS = 4, 40
WANTED = 1.8
"""How many times faster two workers are to be than one, on two free cores."""


def timed(workers: int, seeds: int = SEEDS) -> float:
    """Seconds of one sweep into a fresh folder."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "sweep"
        command = [sys.executable, "-m", "thzsync", *SWEEP, "--iterations", "2"]
        asked = ["--seeds", str(seeds), "--workers", str(workers), "--out", str(out)]
        start = time.perf_counter()
        subprocess.run([*command, *asked], check=True, capture_output=True)
        took_s = time.perf_counter() - start
        finished = len(list((out / "finished").glob("*.parquet")))
        assert finished == RUNS * seeds // SEEDS, f"{finished} runs are finished"
    return took_s


def measure(rounds: int = 1) -> dict[str, object]:
    """Seconds with one worker and with two, and their ratio."""
    load = os.getloadavg()[0]
    timed(2, seeds=1)
    one, two = zip(*((timed(1), timed(2)) for _ in range(rounds)), strict=True)
    ratio = median(one) / median(two)
    return {
        "runs": RUNS,
        "cores": os.cpu_count(),
        "load_before": round(load, 2),
        "one_worker_s": [round(s, 2) for s in one],
        "two_workers_s": [round(s, 2) for s in two],
        "ratio": round(ratio, 3),
        "wanted": WANTED,
        "met": ratio >= WANTED,
    }


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 1), indent=2))
