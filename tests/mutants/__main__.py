"""``python -m tests.mutants [WORDS]``: hunts all mutants, or those whose name has these words."""

from __future__ import annotations

import sys
import time

from tests.mutants.catalogue import MUTANTS
from tests.mutants.hunt import sound, survives


def main(words: list[str]) -> int:
    """Prints a line per mutant; 1 if one survives."""
    chosen = [m for m in MUTANTS if all(word in m.name for word in words)]
    if not sound(chosen):
        print("some of the tests fail without any mutant; mend that first")
        return 1
    alive = 0
    for mutant in chosen:
        begun = time.perf_counter()
        survived = survives(mutant)
        alive += survived
        verdict = "SURVIVED" if survived else "killed"
        print(f"{verdict:8} {time.perf_counter() - begun:5.1f} s  {mutant.name}", flush=True)
    print(f"{len(chosen) - alive} of {len(chosen)} mutants killed")
    return min(alive, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
