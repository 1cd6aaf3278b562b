"""``python -m tests.fuzz NAME [COUNT [FIRST]]``: one fuzzer alone, with a line now and then.

Seeds FIRST .. FIRST + COUNT - 1 are tried; a failure is told with its seed and the rest goes on.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections import Counter

from tests.fuzz.catalogue import FUZZERS
from tests.fuzz.harness import fuzz

EVERY = 250
KILLS = 10


def main(name: str, count: int | None = None, first: int = 0) -> int:
    """Try the inputs; how many failed."""
    fuzzer = FUZZERS[name]
    last = first + (fuzzer.many if count is None else count)
    outcomes: Counter[str] = Counter()
    failed = 0
    for seed in range(first, last):
        try:
            outcomes += fuzz(fuzzer.case, [seed], fuzzer.simulates)
        except Exception:
            failed += 1
            print(f"{name}: seed {seed} failed", traceback.format_exc(), sep="\n", flush=True)
        every = KILLS if name.startswith("kill") else EVERY
        if (seed + 1 - first) % every == 0 or seed + 1 == last:
            told = ", ".join(f"{n} {what}" for what, n in sorted(outcomes.items()))
            spent = f"{time.process_time():.0f} s of processor time"
            print(f"{name}: {seed + 1 - first} tried, {told}, {failed} failed, {spent}", flush=True)
    return failed


if __name__ == "__main__":
    chosen, *numbers = sys.argv[1:]
    sys.exit(1 if main(chosen, *map(int, numbers)) else 0)
