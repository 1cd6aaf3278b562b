"""A cost model that corrects itself, and bandits that learn its error (NeuralLinearUCB).

An event lasts as long as the slower carrier. Each carrier has a factor, measured time over
estimated time, which every event without stragglers corrects. Even splits have separate factors if
the model proposes them: where flows wait for each other, as in trees, a split that fills the best
units first takes several times as long as estimated, and an even one does not.

The policy chooses among the actions that the cost model proposes. An action is worth the reward
that the model expects, plus the error that the bandit has learnt, plus the bandit's uncertainty. So
the first decision is as good as the cost model, and nothing has to be tried at random.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict, dataclass, field
from typing import Final

import numpy as np

from thzsync.arrays import FloatArray
from thzsync.coordinator.bandit import MODEL_BASED, BanditPolicy, NeuralLinearUCB
from thzsync.coordinator.encoder import Batch
from thzsync.coordinator.estimate import Candidates, estimate
from thzsync.coordinator.features import alone
from thzsync.coordinator.interface import Action, Outcome, Situation, State
from thzsync.coordinator.learning import compress
from thzsync.coordinator.training import encode
from thzsync.elementary import product
from thzsync.scenario import Bandit, Scenario
from thzsync.streams import Streams

FACTORS: Final = "factors"
"""Name of the measured factors in the saved state."""
EVEN: Final = ", even"
"""Suffix of a collective's name for the factors of even splits."""
PROMISING: Final = 32
"""Candidates that are kept where even splits are proposed, too."""
MEMORY: Final = 20
"""Outcomes over which a factor is averaged."""


@dataclass
class Factor:
    """Measured over estimated time on one carrier."""

    value: float = 1.0
    seen: int = 0

    def learn(self, estimated_s: float, measured_s: float) -> None:
        """Move towards the measured ratio, unless the carrier carried nothing."""
        if estimated_s > 0 and measured_s > 0:
            self.seen = min(self.seen + 1, MEMORY)
            self.value += (measured_s / estimated_s - self.value) / self.seen


@dataclass
class Factors:
    """Factors of both carriers, for one collective."""

    fibre: Factor = field(default_factory=Factor)
    air: Factor = field(default_factory=Factor)

    def time_s(self, tried: Candidates) -> FloatArray:
        """Expected completion times of candidates [s]."""
        return np.maximum(self.fibre.value * tried.fibre_s, self.air.value * tried.air_s)


class CostModel:
    """Proposes actions, estimates their rewards, and corrects itself."""

    def __init__(self, budgets: int, even_too: bool = False) -> None:
        self.budgets = budgets
        self.even_too = even_too
        """Whether it proposes even splits beside those that fill the best units first."""
        self.factors: defaultdict[str, Factors] = defaultdict(Factors)

    def candidates(self, situation: Situation) -> Candidates | None:
        """Promising actions; None where nothing can be split."""
        if not situation.units:
            return None
        tried = estimate(situation).candidates(self.budgets, self.even_too)
        if not self.even_too:
            return tried
        best = np.argsort(-self.rewards(situation, tried), kind="stable")
        return tried.take(best[:PROMISING])

    def only(self, situation: Situation, action: Action) -> Candidates:
        """One action that was taken."""
        nearest = np.abs(situation.power_levels - action.power.max(initial=0.0)).argmin()
        return estimate(situation).candidate(action.thz_chunks[None], np.array([nearest]))

    def rewards(self, situation: Situation, tried: Candidates) -> FloatArray:
        """Expected rewards of candidates."""
        terms = situation.terms
        assert terms is not None
        time_s = self.factors[situation.kind].time_s(tried)
        if self.even_too:
            evenly_s = self.factors[situation.kind + EVEN].time_s(tried)
            time_s = np.where(tried.even(situation.offer.chunks), evenly_s, time_s)
        return -(terms.per_s * time_s + terms.per_j * tried.energy_j)

    def learn(self, situation: Situation, taken: Candidates, outcome: Outcome) -> None:
        """Correct the factors, unless a source was a straggler."""
        if not situation.straggler.any():
            even = self.even_too and bool(taken.even(situation.offer.chunks)[0])
            factors = self.factors[situation.kind + EVEN * even]
            factors.fibre.learn(float(taken.fibre_s[0]), outcome.fibre_s)
            factors.air.learn(float(taken.air_s[0]), outcome.air_s)

    def state(self) -> State:
        """The factors as plain values."""
        return {kind: asdict(factors) for kind, factors in self.factors.items()}

    def load(self, state: State) -> None:
        """Take over saved factors."""
        self.factors.clear()
        for kind, both in state.items():
            self.factors[kind] = Factors(Factor(**both["fibre"]), Factor(**both["air"]))


class ModelBasedBandits(BanditPolicy):
    """A cost model, and for every collective a bandit that learns its error."""

    def __init__(
        self, name: str, scenario: Scenario, settings: Bandit, streams: Streams, shared: bool
    ) -> None:
        super().__init__(name, scenario, settings, streams, shared)
        even_too = MODEL_BASED[scenario.coordinator.search]
        self.cost_model = CostModel(settings.count_levels, even_too)

    def decide(self, situation: Situation) -> Action:
        """The candidate with the highest upper confidence bound; greedy when frozen."""
        tried = self.cost_model.candidates(situation)
        if tried is None:
            return Action.uniform(situation.offer, 0.0, 0.0)
        model = self.model(situation.kind)
        spread = model.prepare(situation, not self.frozen)
        if spread is not None:
            return spread
        phi = encode(model.encoder, _batch(situation, tried, model))
        worth = self._worth(situation, tried) + product(phi, model.head.weights)
        if not self.frozen:
            uncertainty = np.linalg.norm(product(phi, model.head.inverse_factor), axis=1)
            worth += model.settings.exploration * uncertainty
        return tried.action(situation, int(np.argmax(worth)))

    def learn(self, situation: Situation, action: Action, outcome: Outcome) -> None:
        """Learn the error of the expected reward, then correct the cost model's factors."""
        super().learn(situation, action, outcome)
        if situation.units and not self.frozen:
            taken = self.cost_model.only(situation, action)
            self.cost_model.learn(situation, taken, outcome)

    def expected(self, situation: Situation, action: Action) -> float:
        """The reward that the cost model expects."""
        return float(self._worth(situation, self.cost_model.only(situation, action))[0])

    def state(self) -> State:
        """The states of all models, and the factors."""
        return super().state() | {FACTORS: self.cost_model.state()}

    def load(self, state: State) -> None:
        """Take over a saved state."""
        models = dict(state)
        self.cost_model.load(models.pop(FACTORS))
        super().load(models)

    def _worth(self, situation: Situation, tried: Candidates) -> FloatArray:
        """Expected rewards of candidates, compressed like those that are learnt."""
        rewards = self.cost_model.rewards(situation, tried)
        return rewards if self.mode.raw else np.array([compress(reward) for reward in rewards])


def _batch(situation: Situation, tried: Candidates, model: NeuralLinearUCB) -> Batch:
    """The encoder's inputs: the situation once per candidate, beside the candidate's action."""
    view, levels = model.view, situation.power_levels
    features = view.featurise(situation)
    rows = np.empty((len(tried.counts), situation.units, view.columns))
    rows[:, :, : -view.actions] = features.rows
    level = np.repeat(tried.level[:, None], situation.offer.groups, axis=1)
    rows[:, :, -view.actions :] = view.found(alone(features), tried.counts, level, levels)
    return Batch(rows, np.tile(features.group, (len(rows), 1)))
