"""Compare the speed of two checkouts: python benchmarks/alternate.py OLD NEW.

OLD and NEW are the interpreters of two installations, for example ../before/.venv/bin/python and
.venv/bin/python. Both run the same scenarios under the same policies in turns, so that whatever
else the machine does slows both down. The table shows CPU seconds per iteration, set-up and first
iteration left out, and the median ratio of the new to the old.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
from typing import Any

PRESETS = ("paper", "beyond")
CHILD = """
import json, sys, time
from thzsync import Scenario, simulate
from thzsync.simulation import reference_costs

def spent_s(scenario, policy, iterations, references):
    start = time.process_time()
    simulate(scenario, policy, iterations, references=references)
    return time.process_time() - start

known = {}
for line in sys.stdin:
    asked = json.loads(line)
    if asked["what"] == "policies":
        from thzsync.coordinator import policy_names
        print(json.dumps(list(policy_names())), flush=True)
        continue
    scenario, policy = Scenario.preset(asked["preset"]), asked["policy"]
    if asked["preset"] not in known:
        known[asked["preset"]] = reference_costs(scenario, seed=0)
    references = known[asked["preset"]]
    if asked["what"] == "load":
        spent_s(scenario, policy, 1 + asked["iterations"], references)
        found = 0.0
    else:
        first_s = spent_s(scenario, policy, 1, references)
        found = (spent_s(scenario, policy, 1 + asked["iterations"], references) - first_s)
        found /= asked["iterations"]
    print(json.dumps(found), flush=True)
"""


class Installation:
    """A process of one installation that simulates when it is asked to."""

    def __init__(self, interpreter: str) -> None:
        self._child = subprocess.Popen(
            [interpreter, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, **asked: Any) -> Any:
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.write(json.dumps(asked) + "\n")
        self._child.stdin.flush()
        answer = self._child.stdout.readline()
        if not answer:
            raise SystemExit(f"an installation failed at {asked}")
        return json.loads(answer)


def compare(
    pair: tuple[Installation, Installation], rounds: int, **asked: Any
) -> tuple[float, float, float]:
    """Median CPU seconds per iteration of both, and the median ratio."""
    for one in pair:
        one.ask(what="load", **asked)
    found = [[one.ask(what="measure", **asked) for one in pair] for _ in range(rounds)]
    old, new = (statistics.median(column) for column in zip(*found, strict=True))
    return old, new, statistics.median(b / a for a, b in found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("old", help="interpreter of the installation before")
    parser.add_argument("new", help="interpreter of the installation after")
    parser.add_argument("--presets", nargs="+", default=PRESETS)
    parser.add_argument("--policies", nargs="+", help="all that the new installation knows")
    parser.add_argument("--iterations", type=int, default=4, help="of which each time is the mean")
    parser.add_argument("--rounds", type=int, default=5, help="of which the median is taken")
    options = parser.parse_args()
    pair = Installation(options.old), Installation(options.new)
    policies = options.policies or pair[1].ask(what="policies")
    print(f"{'preset':12}{'policy':22}{'old [s]':>10}{'new [s]':>10}{'ratio':>8}")
    for preset in options.presets:
        for policy in policies:
            asked = {"preset": preset, "policy": policy, "iterations": options.iterations}
            old, new, ratio = compare(pair, options.rounds, **asked)
            print(f"{preset:12}{policy:22}{old:10.4f}{new:10.4f}{ratio:8.2f}", flush=True)


if __name__ == "__main__":
    main()
