"""The numbers of the first edition that the second must repeat bit for bit.

``python -m tests.first_edition.numbers FILE`` writes what the present code computes; the file in
this folder was written that way by version 0.1.0, before the redesign. Floats are stored exactly.

The cases of the three learning policies are younger: their encoders were trained by PyTorch then
and are trained by our own kernels now, which round differently in the last digit. Some decisions
turn on that: five of the twelve cases changed. They were computed anew, and only they, by ``python
-m tests.first_edition.numbers FILE learners``; static policies, schedules and the oracle are still
those of version 0.1.0.

What NumPy computes in whatever way suits the processor was computed on one processor then. It is
computed alike on all now (``thzsync.elementary``), and four cases were recorded anew for that:
three of learners, and the last digit of All-Wireless's energy on the paper's floor. Bounds were,
too: they are proven by multipliers that leave no gaps any more, and some are sharper for it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from thzsync import Scenario, simulate
from thzsync.experiments.single_ring import Instance

RECORDED = Path(__file__).with_name("numbers.json")
COLUMNS = (
    "completion_ms", "energy_j", "optical_energy_j", "thz_energy_j", "reward", "makespan_ms",
    "exposed_ms", "bubble", "thz_share", "fallback_chunks", "rerouted_chunks", "thz_utilisation",
    "optical_utilisation",
)  # fmt: skip
METHODS = {
    "p2p": ("proposed",),
    "a2a": ("proposed", "demand-sorted", "cyclic", "no-channel", "equal-power"),
    "allreduce": (
        "proposed", "ring", "ring-duplex", "single-tree", "no-channel", "equal-power",
    ),
}  # fmt: skip
LEARNERS = ("thz-sync", "shared-bandit", "ddqn")
POLICIES = (*LEARNERS, "fixed-ratio", "all-wired", "all-wireless")
FAULTY = """
preset = "tiny"
name = "faulty"

[[faults]]
kind = "transceiver-down"
rack = 1
start_s = "2 ms"
end_s = "9 ms"

[[faults]]
kind = "fibre"
rack = 4
rate_share = 0.0
start_s = "5 ms"
end_s = "30 ms"

[[faults]]
kind = "subband-jammed"
subband = 2
start_s = "0 s"
end_s = "15 ms"

[[faults]]
kind = "pair-blocked"
racks = [0, 2]
start_s = "1 ms"
end_s = "20 ms"

[[faults]]
kind = "compute-frozen"
rack = 3
start_s = "4 ms"
end_s = "8 ms"
"""


def schedule(kind: str, method: str, racks: int, late: bool, seed: int) -> list[Any]:
    """Completion [ps], transmissions, energy over all transmissions, and the bound [ms]."""
    instance = Instance(Scenario.preset("single-ring"), _kind(kind), racks, late, seed)
    found = instance.run(method)
    airtime = found.end_ps - found.start_ps
    work = float((found.power_w * airtime).sum())
    bound = instance.bound_ms() if method == "proposed" else None
    return [found.completion_ps, len(found.flow), found.rounds, work, bound]


def _kind(name: str) -> Any:
    """What ``Instance`` calls a kind: a name now, an enumeration in the first edition."""
    from thzsync import collectives

    return collectives.Kind(name) if hasattr(collectives, "Kind") else name


def run(scenario: Scenario, policy: str, iterations: int, seed: int) -> list[list[Any]]:
    """One list of metrics per iteration, and the sum of all event ends as a fingerprint."""
    found = simulate(scenario, policy, iterations, seed)
    rows = [list(row) for row in found.iterations.select(COLUMNS).iter_rows()]
    return [*rows, [int(found.events["end_ps"].sum()), found.events.height]]


def cases(tmp: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Every case: its name, and how to compute it."""
    for kind, methods in METHODS.items():
        for method in methods:
            for racks in (4, 9, 12):
                for late in (False, True):
                    for seed in (0, 1):
                        name = f"{kind} {method} {racks} {'late' if late else 'punctual'} {seed}"
                        yield (
                            name,
                            lambda k=kind, m=method, n=racks, la=late, s=seed: schedule(
                                k, m, n, la, s
                            ),
                        )
    tiny, paper = Scenario.preset("tiny"), Scenario.preset("paper")
    file = tmp / "faulty.toml"
    file.write_text(FAULTY)
    lean = tmp / "lean.toml"
    lean.write_text('preset = "tiny"\n[reward]\ntime_weight = 0.3\nenergy_weight = 0.7\n')
    scenarios = {
        "tiny": (tiny, 4), "faulty": (Scenario.load(file), 3), "lean": (Scenario.load(lean), 4),
        "paper": (paper, 2),
    }  # fmt: skip
    for name, (scenario, iterations) in scenarios.items():
        for policy in POLICIES:
            yield (
                f"{name} {policy}",
                lambda sc=scenario, p=policy, n=iterations: run(sc, p, n, 3),
            )
    yield "oracle tiny", lambda: _oracle(tiny)


def _oracle(scenario: Scenario) -> Any:
    from thzsync.paper.oracle import best_choices, per_event

    choices = best_choices(scenario, iterations=1, shares=(0.0, 0.5, 1.0), workers=1)
    return [{k: list(v) for k, v in choices.items()}, per_event(scenario, choices)]


def main(target: str, *only: str) -> None:
    """Write what the present code computes; with ``learners``, renew their cases in a file."""
    import tempfile

    path = Path(target)
    kept = json.loads(path.read_text()) if only else {}
    with tempfile.TemporaryDirectory() as folder:
        wanted = {
            name: compute
            for name, compute in cases(Path(folder))
            if not only or name.endswith(LEARNERS)
        }
        found = kept | {name: compute() for name, compute in wanted.items()}
    path.write_text(json.dumps(found, indent=0) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
