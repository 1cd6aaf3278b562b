"""Small random floors for conformance suites, and what every run on them must keep."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

from thzsync.auditor import audit
from thzsync.coordinator import Action, Outcome, Policy, Situation
from thzsync.errors import ThzSyncError
from thzsync.scenario import Scenario
from thzsync.simulation import Run, simulate

FEW = 6
"""Floors that a suite tries."""
FAULT: Final = {"kind": "transceiver-down", "rack": 1, "start_s": 0.004, "end_s": 0.009}


class RandomPolicy:
    """Any valid action, drawn anew for every event; all that it saw is kept."""

    name = "random"

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self.seen: list[Situation] = []
        self.outcomes: list[Outcome] = []

    def decide(self, situation: Situation) -> Action:
        """Some or all chunks of every unit on any carrier that is open to it."""
        offer, rng = situation.offer, self._rng
        self.seen.append(situation)
        carriers = 1 if offer.usable is None else offer.usable.shape[1]
        counts = rng.integers(0, offer.chunks + 1)
        if rng.random() < 0.3:  # whole units on one carrier are a case of their own
            counts = offer.chunks * rng.integers(0, 2, offer.units)
        chunks = np.zeros((offer.units, carriers), dtype=np.int64)
        chunks[np.arange(offer.units), rng.integers(0, carriers, offer.units)] = counts
        chunks[~offer.open_to(carriers)] = 0
        return Action.of(offer, chunks, rng.choice(situation.power_levels, len(offer.racks)))

    def learn(self, situation: Situation, action: Action, outcome: Outcome) -> None:
        """Keep the outcome."""
        self.outcomes.append(outcome)


def small_floors(seed: int = 0, count: int = FEW, **keys: Any) -> Iterator[tuple[int, Scenario]]:
    """Random variants of the preset `tiny` with their seeds; ``keys`` are set as by ``with_``."""
    for k in range(seed, seed + count):
        rng = np.random.default_rng(k)
        changes = {
            "thz.subbands": int(rng.integers(1, 5)),
            "thz.rf_chains": int(rng.integers(1, 5)) if rng.random() < 0.3 else None,
            "thz.sharing": str(rng.choice(("rack", "event"))),
            "thz.round_overhead_s": float(rng.choice((0.0, 3e-5))),
            "thz.noise_figure_db": float(rng.uniform(2, 12)),
            "channel.blockage.share": float(rng.choice((0.0, 0.1))),
            "optical.background.load": float(rng.choice((0.0, 0.2))),
            "collectives.chunk_bytes": int(rng.choice((100_000, 262_144))),
            "jobs.train.training.a2a_skew": float(rng.choice((0.0, 1.0))),
            "faults": [FAULT] if k % 2 else [],
        }
        yield k, Scenario.preset("tiny").with_(changes, **keys)


def check_run(place: str, scenario: Scenario, seed: int, policy: Callable[[], Policy]) -> Run:
    """One iteration, twice: the tables must be the same, and the audit must find nothing."""
    run, again = (simulate(scenario, policy(), 1, seed, references={}) for _ in range(2))
    for name, table in run.tables.items():
        if not table.equals(again.tables[name]):
            raise ThzSyncError(
                f"{place}: two runs of seed {seed} differ in {name}; draw only from streams"
            )
    for broken in audit(run).violations[:1]:
        raise ThzSyncError(
            f"{place}: seed {seed}: {broken.check}: {broken.place}: {broken.message}"
        )
    return run
