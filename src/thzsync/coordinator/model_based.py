"""Bandits that learn the error of the cost model: NeuralLinearUCB on the residual.

The policy chooses among the actions that the cost model proposes. An action is worth the reward
that the model expects, plus the error that the bandit has learnt, plus the bandit's uncertainty. So
the first decision is as good as the cost model, and nothing has to be tried at random.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from thzsync.arrays import AnyArray, FloatArray
from thzsync.coordinator.bandit import MODEL_BASED, BanditPolicy, NeuralLinearUCB
from thzsync.coordinator.cost_model import CostModel
from thzsync.coordinator.encoder import Batch
from thzsync.coordinator.estimate import Candidates
from thzsync.coordinator.features import alone
from thzsync.coordinator.interface import Action, Outcome, Situation
from thzsync.coordinator.learning import compress
from thzsync.coordinator.training import encode
from thzsync.elementary import product
from thzsync.scenario import Bandit, Scenario
from thzsync.streams import Streams

FACTORS: Final = "factors"
"""Key of the measured factors in the saved progress."""


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

    def progress(self) -> dict[str, Any]:
        """Models and factors, as plain values."""
        return super().progress() | {FACTORS: self.cost_model.progress()}

    def restore(
        self, progress: Mapping[str, Any], arrays: Mapping[str, AnyArray], midway: bool = False
    ) -> None:
        """Take over a saved state."""
        models = dict(progress)
        self.cost_model.restore(models.pop(FACTORS))
        super().restore(models, arrays)

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
