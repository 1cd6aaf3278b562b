"""What every policy must keep, whoever wrote it."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np

from thzsync.coordinator import Action, LearningPolicy, Outcome, Policy, Situation
from thzsync.coordinator.registry import PolicyLike, make_policy
from thzsync.coordinator.saved import load_policy, save_policy
from thzsync.errors import ThzSyncError
from thzsync.scenario import Scenario
from thzsync.simulation import simulate
from thzsync.streams import Streams
from thzsync.synthesis import Offer
from thzsync.testing.floors import RandomPolicy, check_run, small_floors


def check_policy(policy: PolicyLike, seed: int = 0, floors: int = 3) -> int:
    """Let it decide the events of small floors; returns its decisions.

    ``policy`` is a name, a class, another factory, or an object. Its actions must be legal, also
    where links are blocked and events have no flow, and the same for the same seed. It must
    not change what it is shown. Outcomes may come late and in another order. A policy that learns
    must go on alike when it was saved and loaded, and not change once it is frozen. One run is
    audited.
    """
    count = 0
    for k, scenario in small_floors(seed, floors):
        trial = _Trial(policy, scenario, Streams(k), _situations(scenario, k))
        trial.check_twins()
        trial.check_late_outcomes()
        if isinstance(trial.make(), LearningPolicy):
            trial.check_saved()
            trial.check_frozen()
        check_run(trial.place, scenario, k, trial.make)
        count += trial.decisions
    return count


def _situations(scenario: Scenario, seed: int) -> list[Situation]:
    """The events of a short run, then some with blocked links, and one without anything to send."""
    shower = RandomPolicy(seed)
    simulate(scenario, shower, 2, seed, references={})
    seen = shower.seen
    for situation in seen[:6]:
        blocked = np.full_like(situation.snr_db_per_w, -np.inf)
        seen.append(replace(situation, decision=len(seen), snr_db_per_w=blocked))
    return [*seen, _empty(seen[0], len(seen))]


def _empty(situation: Situation, decision: int) -> Situation:
    """An event of the same racks without flows."""
    nobody = np.zeros(0, dtype=np.int64)
    offer = situation.offer
    return replace(
        situation,
        decision=decision,
        offer=Offer.whole(offer.kind, offer.racks, 0, nobody, nobody, offer.lower),
        straggler=nobody.astype(np.bool_),
        queued_bytes=np.zeros(0),
        shared_occupancy=np.zeros(0),
        snr_db_per_w=situation.snr_db_per_w[:0],
    )


@dataclass
class _Trial:
    policy: PolicyLike
    scenario: Scenario
    streams: Streams
    situations: list[Situation]
    decisions: int = 0

    @property
    def place(self) -> str:
        """The policy and the floor, for messages."""
        return f"policy {self.make().name!r}, floor {self.scenario.digest[:8]}"

    def make(self) -> Policy:
        """A fresh policy."""
        return make_policy(self.policy, self.scenario, self.streams)

    def play(self, policy: Policy, start: int = 0, end: int | None = None) -> list[Action]:
        """Decisions on some of the events, each followed by its outcome."""
        actions = []
        for situation in self.situations[start:end]:
            actions.append(self.decide(policy, situation))
            policy.learn(situation, actions[-1], _outcome(situation, actions[-1]))
        return actions

    def decide(self, policy: Policy, situation: Situation) -> Action:
        """One decision: it must be legal, and the situation must stay as it is."""
        before = _numbers(situation)
        action = policy.decide(situation)
        self.decisions += 1
        try:
            action.check(situation)
        except ThzSyncError as error:
            self.refuse(f"decision {situation.decision} ({situation.kind}): {error}")
        if _numbers(situation) != before:
            self.refuse(f"it changed situation {situation.decision}; work on a copy")
        return action

    def check_twins(self) -> None:
        """Two policies of one seed decide the same."""
        self.same(self.play(self.make()), self.play(self.make()), "two policies of one seed")

    def check_late_outcomes(self) -> None:
        """Events overlap: outcomes come after later decisions, in any order."""
        policy = self.make()
        actions = [self.decide(policy, situation) for situation in self.situations]
        for k in np.random.default_rng(0).permutation(len(actions)).tolist():
            situation = self.situations[k]
            policy.learn(situation, actions[k], _outcome(situation, actions[k]))
        self.play(policy, end=3)

    def check_saved(self) -> None:
        """A policy that was loaded from a file decides like the one that was saved."""
        policy, half = self.make(), len(self.situations) // 2
        self.play(policy, end=half)
        twin = self.saved(policy)
        rest = self.play(policy, half), self.play(twin, half)
        self.same(*rest, "a policy and what was loaded from its file")

    def check_frozen(self) -> None:
        """A frozen policy decides the same, whatever comes of it."""
        policy = self.make()
        self.play(policy)
        frozen = self.saved(policy, frozen=True)
        self.same(self.play(frozen), self.play(frozen), "a frozen policy before and after outcomes")

    def saved(self, policy: Policy, frozen: bool = False) -> Policy:
        """What is loaded from a file of the policy."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "policy.safetensors"
            save_policy(policy, file, self.scenario)
            return load_policy(file, self.scenario, self.streams, frozen, self.policy)

    def same(self, first: list[Action], second: list[Action], who: str) -> None:
        """Refuse different decisions."""
        for k, (a, b) in enumerate(zip(first, second, strict=True)):
            if not (np.array_equal(a.chunks, b.chunks) and np.array_equal(a.power, b.power)):
                self.refuse(f"{who} decide differently on event {k + 1} of {len(first)}")

    def refuse(self, what: str) -> None:
        """Say which rule is broken, and where."""
        raise ThzSyncError(f"{self.place}: {what}")


def _numbers(situation: Situation) -> list[bytes]:
    """All arrays of a situation, to see a change."""
    values = [getattr(situation, f.name) for f in fields(situation)]
    offered = [getattr(situation.offer, f.name) for f in fields(situation.offer)]
    return [v.tobytes() for v in (*values, *offered) if isinstance(v, np.ndarray)]


def _outcome(situation: Situation, action: Action) -> Outcome:
    """A made-up cost: chunks on the fuller carrier take time, power takes energy."""
    thz = int(action.chunks.sum())
    fibre = int(situation.offer.chunks.sum()) - thz
    power = float(action.power.mean()) if len(action.power) else 0.0
    time_s = 1e-4 * max(fibre, thz / max(power, 0.1)) + 1e-3
    energy_j = 1e-4 * fibre + 1e-3 * power * thz
    reward = -0.7 * time_s / 1e-2 - 0.3 * energy_j / 1e-2
    return Outcome(situation.decision, time_s, energy_j, reward, 1e-4 * fibre, 1e-4 * thz)
