"""Bandits that learn what the reckoning misses: NeuralLinearUCB on the residual.

A decision is taken among the actions that the reckoning proposes. Each is worth what it should
earn, plus what the model has learnt to expect beyond that, plus its uncertainty. The first decision
is as good as the reckoning, and nothing has to be tried at random before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from thzsync.arrays import AnyArray, FloatArray, IntArray
from thzsync.coordinator.reckoner import Reckoner
from thzsync.coordinator.bandit import BanditPolicy
from thzsync.coordinator.choice import spread_action
from thzsync.coordinator.encoder import Batch
from thzsync.coordinator.estimate import Candidates
from thzsync.coordinator.features import ACTION_COLUMNS, Features, action_columns, featurise
from thzsync.coordinator.interface import Action, Outcome, Situation
from thzsync.coordinator.rewards import compress, learnable_reward
from thzsync.coordinator.training import encode

FACTORS: Final = "factors"
"""Where a model's progress keeps the measured factors."""


class ReckonedBandits(BanditPolicy):
    """A reckoner and a model of its residual for every collective."""

    def __init__(self, *settings: Any, **named: Any) -> None:
        super().__init__(*settings, **named)
        self.reckoner = Reckoner(self._settings.count_levels)

    def decide(self, situation: Situation) -> Action:
        """The candidate with the highest upper confidence bound; greedy when frozen."""
        tried = self.reckoner.candidates(situation)
        if tried is None:
            return Action.uniform(situation.offer, 0.0, 0.0)
        model = self.model(situation.kind)
        model.decisions += 1
        if model.decisions <= model.settings.warm_up and not self.frozen:
            return spread_action(situation, model.decisions)
        worth = self._worth(situation, tried)
        phi = encode(model.encoder, _batch(situation, tried))
        worth += phi @ model.head.weights
        if not self.frozen:
            spread = np.linalg.norm(phi @ model.head.inverse_factor, axis=1)
            worth += model.settings.exploration * spread
        return tried.action(situation, int(np.argmax(worth)))

    def learn(self, situation: Situation, action: Action, outcome: Outcome) -> None:
        """What the reckoning missed, and by how much its factors are off."""
        reward = learnable_reward(situation, outcome)
        if self.frozen or situation.units == 0:
            return
        tried = self.reckoner.only(situation, action)
        missed = reward - float(self._worth(situation, tried)[0])
        features = featurise(situation)
        taken = action_columns(features, situation, action)
        self.model(situation.kind).learn(features, taken, missed)
        self.reckoner.learn(situation, tried, outcome)

    def progress(self) -> dict[str, Any]:
        """Models and factors, as plain values."""
        return super().progress() | {FACTORS: self.reckoner.progress()}

    def restore(self, progress: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
        """Take over a saved state."""
        models = dict(progress)
        self.reckoner.restore(models.pop(FACTORS))
        super().restore(models, arrays)

    def _worth(self, situation: Situation, tried: Candidates) -> FloatArray:
        """What candidates should earn, as models see rewards."""
        return np.array([compress(reward) for reward in self.reckoner.rewards(situation, tried)])


def _batch(situation: Situation, tried: Candidates) -> Batch:
    """The situation once per candidate, with the candidate's action beside it."""
    features = featurise(situation)
    rows, units = len(tried.counts), len(features.rows)
    wide = np.empty((rows, units, features.rows.shape[1] + ACTION_COLUMNS))
    wide[:, :, :-ACTION_COLUMNS] = features.rows
    share = tried.counts / features.chunks
    air = share * _air(features, tried.level)
    power = situation.power_levels[tried.level][:, None]
    wide[:, :, -ACTION_COLUMNS:] = np.stack((share, air, air * power), axis=2)
    group: IntArray = np.broadcast_to(features.group, (rows, units)).copy()
    return Batch(wide, group)


def _air(features: Features, level: IntArray) -> FloatArray:
    """Air time of whole units, by (candidate, unit)."""
    return features.air.T[level]
