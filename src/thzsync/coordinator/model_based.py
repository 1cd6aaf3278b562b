"""Bandits that learn what the cost model misses: NeuralLinearUCB on the residual.

A decision is taken among the actions that the cost model proposes. Each is worth what it should
earn, plus what the bandit has learnt to expect beyond that, plus its uncertainty. The first
decision is as good as the cost model, and nothing has to be tried at random before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from thzsync.arrays import AnyArray, FloatArray
from thzsync.coordinator.bandit import BanditPolicy, NeuralLinearUCB
from thzsync.coordinator.choice import spread_action
from thzsync.coordinator.cost_model import CostModel
from thzsync.coordinator.encoder import Batch
from thzsync.coordinator.estimate import Candidates
from thzsync.coordinator.features import alone
from thzsync.coordinator.interface import Action, Outcome, Situation
from thzsync.coordinator.rewards import compress, learnable_reward
from thzsync.coordinator.training import encode
from thzsync.elementary import product
from thzsync.scenario import Bandit, Scenario
from thzsync.streams import Streams

FACTORS: Final = "factors"
"""Where the progress of the models keeps the measured factors."""


class ModelBasedBandits(BanditPolicy):
    """A cost model, and a bandit for what it misses in every collective."""

    def __init__(
        self, name: str, scenario: Scenario, settings: Bandit, streams: Streams, shared: bool
    ) -> None:
        super().__init__(name, scenario, settings, streams, shared)
        even_too = scenario.coordinator.search == "model-based-even"
        self.cost_model = CostModel(settings.count_levels, even_too)

    def decide(self, situation: Situation) -> Action:
        """The candidate with the highest upper confidence bound; greedy when frozen."""
        tried = self.cost_model.candidates(situation)
        if tried is None:
            return Action.uniform(situation.offer, 0.0, 0.0)
        model = self.model(situation.kind)
        model.decisions += 1
        model.encoder = model.view.roomy(model.encoder, situation.units, model.generator)
        if model.decisions <= model.settings.warm_up and not self.frozen:
            return spread_action(situation, model.decisions)
        phi = encode(model.encoder, _batch(situation, tried, model))
        worth = self._worth(situation, tried) + product(phi, model.head.weights)
        if not self.frozen:
            spread = np.linalg.norm(product(phi, model.head.inverse_factor), axis=1)
            worth += model.settings.exploration * spread
        return tried.action(situation, int(np.argmax(worth)))

    def learn(self, situation: Situation, action: Action, outcome: Outcome) -> None:
        """What the cost model missed, and by how much its factors are off."""
        reward = learnable_reward(situation, outcome, self._mode.raw)
        if self.frozen or situation.units == 0:
            return
        taken = self.cost_model.only(situation, action)
        missed = reward - float(self._worth(situation, taken)[0])
        view = self._mode.view
        features = view.featurise(situation)
        columns = view.taken(features, situation, action)
        self.model(situation.kind).learn(features, columns, missed)
        self.cost_model.learn(situation, taken, outcome)

    def progress(self) -> dict[str, Any]:
        """Models and factors, as plain values."""
        return super().progress() | {FACTORS: self.cost_model.progress()}

    def restore(self, progress: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
        """Take over a saved state."""
        models = dict(progress)
        self.cost_model.restore(models.pop(FACTORS))
        super().restore(models, arrays)

    def _worth(self, situation: Situation, tried: Candidates) -> FloatArray:
        """What candidates should earn, as models see rewards."""
        rewards = self.cost_model.rewards(situation, tried)
        return rewards if self._mode.raw else np.array([compress(reward) for reward in rewards])


def _batch(situation: Situation, tried: Candidates, model: NeuralLinearUCB) -> Batch:
    """The situation once per candidate, with the candidate's action beside it."""
    view, levels = model.view, situation.power_levels
    features = view.featurise(situation)
    units, groups = len(features.rows), situation.offer.groups
    rows = np.empty((len(tried.counts), units, view.columns))
    rows[:, :, : view.columns - view.actions] = features.rows
    level = np.repeat(tried.level[:, None], groups, axis=1)
    rows[:, :, view.columns - view.actions :] = view.found(
        alone(features), tried.counts, level, levels
    )
    return Batch(rows, np.tile(features.group, (len(rows), 1)))
