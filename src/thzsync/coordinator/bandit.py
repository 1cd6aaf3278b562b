"""NeuralLinearUCB: one model per collective type (THz-SynC), or one for all (its rival)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from thzsync.arrays import AnyArray, FloatArray
from thzsync.coordinator.choice import chosen_action, search_settings, spread_action
from thzsync.coordinator.dense import Descent
from thzsync.coordinator.encoder import Encoder, represent
from thzsync.coordinator.features import Features
from thzsync.coordinator.interface import Action, Outcome, Situation
from thzsync.coordinator.models import model_stream
from thzsync.coordinator.posterior import LinearHead
from thzsync.coordinator.replay import Replay, under
from thzsync.coordinator.rewards import learnable_reward
from thzsync.coordinator.scoring import Head
from thzsync.coordinator.store import shape_of, write_policy
from thzsync.coordinator.training import encode, fit
from thzsync.coordinator.views import Mode, mode_of
from thzsync.scenario import Bandit, Scenario
from thzsync.streams import Streams

SHARED: Final = "shared"
"""Name of the model that serves all collectives."""


class NeuralLinearUCB:
    """One model: encoder, linear head, replay (eq:bandit_representation, eq:bandit_b_update)."""

    def __init__(self, settings: Bandit, mode: Mode, generator: np.random.Generator) -> None:
        self.settings = settings
        self.view = mode.view
        self.how = search_settings(settings, mode.partial)
        self.generator = generator
        self.decisions = 0
        self.encoder = self.view.new_encoder(settings, generator)
        self.head = LinearHead(self.encoder.size, settings.ridge)
        self.replay = Replay(settings.replay, self.view.columns, mode.levels, self.view.actions)

    def decide(self, situation: Situation, exploration: float) -> Action:
        """The action with the highest upper confidence bound (eq:bandit_ucb_selection)."""
        self.decisions += 1
        self.encoder = self.view.roomy(self.encoder, situation.units, self.generator)
        if self.decisions <= self.settings.warm_up and exploration:
            return spread_action(situation, self.decisions)
        head = Head(self.head.weights, self.head.inverse_factor, exploration)
        features = self.view.featurise(situation)
        return chosen_action(situation, features, self.encoder, head, self.how)

    def learn(self, features: Features, action: FloatArray, reward: float) -> None:
        """Update the posterior at once; train the encoder when it is time."""
        self.replay.add(features, action, reward)
        if self.replay.added % self.settings.train_every == 0 and self.settings.train_steps:
            self.train()
        else:
            self.head.update(represent(self.encoder, features, action), reward)

    def train(self) -> None:
        """Fit the encoder to the replayed rewards, then rebuild the posterior in the new space."""
        settings, replay = self.settings, self.replay
        shape = settings.train_steps, settings.batch
        draws = self.generator.integers(len(replay), size=shape)
        how = Descent(settings.learning_rate, settings.weight_decay)
        self.encoder, _ = fit(
            self.encoder, self.head.weights, replay.memory, draws, replay.reward[draws], how
        )
        phi = encode(self.encoder, replay.memory)
        self.head.rebuild(phi, replay.reward[: len(replay)])

    def state(self) -> dict[str, AnyArray]:
        """Everything that decides and learns, as arrays."""
        head = self.head
        arrays = {f"encoder.{k}": v for k, v in self.encoder._asdict().items()}
        arrays |= {f"replay.{k}": v for k, v in self.replay.state().items()}
        return arrays | {
            "head.precision": head.precision,
            "head.moment": head.moment,
            "head.factor": head.factor,
        }

    def progress(self) -> dict[str, Any]:
        """The rest of the state, as plain values."""
        return {"decisions": self.decisions, "generator": self.generator.bit_generator.state}

    def restore(self, progress: Mapping[str, Any], state: Mapping[str, AnyArray]) -> None:
        """The inverse of ``progress`` and ``state``."""
        self.decisions = int(progress["decisions"])
        self.generator.bit_generator.state = progress["generator"]
        self.encoder = Encoder(**under(state, "encoder."))
        self.head.restore(**under(state, "head."))
        self.replay.restore(under(state, "replay."))


class BanditPolicy:
    """Bandits behind the policy interface: a model per collective, made when it is first met."""

    def __init__(
        self, name: str, scenario: Scenario, settings: Bandit, streams: Streams, shared: bool
    ) -> None:
        self.name = name
        self.shape = shape_of(scenario, settings)
        self.frozen = False
        self.models: dict[str, NeuralLinearUCB] = {}
        self._settings, self._mode, self._streams = settings, mode_of(scenario), streams
        self._shared, self._restored = shared, False

    @property
    def untaught(self) -> bool:
        """Whether it has neither decided anything nor been loaded."""
        return not self.models and not self._restored

    def model(self, kind: str) -> NeuralLinearUCB:
        """The model that serves a collective."""
        return self._named(SHARED if self._shared else kind)

    def decide(self, situation: Situation) -> Action:
        """The action for an event that is being activated; greedy when frozen."""
        model = self.model(situation.kind)
        return model.decide(situation, 0.0 if self.frozen else model.settings.exploration)

    def learn(self, situation: Situation, action: Action, outcome: Outcome) -> None:
        """The delayed reward of an earlier decision."""
        reward = learnable_reward(situation, outcome, self._mode.raw)
        if self.frozen or situation.units == 0:
            return
        view = self._mode.view
        features = view.featurise(situation)
        taken = view.taken(features, situation, action)
        self.model(situation.kind).learn(features, taken, reward)

    def save(self, path: str | Path) -> None:
        """Write everything learnt, replay included; ``load_policy`` brings it back."""
        arrays = {
            f"{name}.{key}": array
            for name, model in self.models.items()
            for key, array in model.state().items()
        }
        write_policy(path, self.name, self.shape, self.progress(), arrays)

    def progress(self) -> dict[str, Any]:
        """What is not an array of the state, by model."""
        return {name: model.progress() for name, model in self.models.items()}

    def restore(self, progress: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
        """Take over a saved state."""
        if progress.keys() != {key.split(".", 1)[0] for key in arrays}:
            raise KeyError("arrays and progress are of other models")
        self.models.clear()
        self._restored = True
        for name, values in progress.items():
            self._named(name).restore(values, under(arrays, f"{name}."))

    def _named(self, name: str) -> NeuralLinearUCB:
        if name not in self.models:
            generator = self._streams.generator("policy", *model_stream(name))
            self.models[name] = NeuralLinearUCB(self._settings, self._mode, generator)
        return self.models[name]


def collective_bandits(scenario: Scenario, streams: Streams) -> BanditPolicy:
    """THz-SynC: an independent model for each collective."""
    kind, settings = _kind(scenario), scenario.coordinator.bandit
    return kind("thz-sync", scenario, settings, streams, shared=False)


def shared_bandit(scenario: Scenario, streams: Streams) -> BanditPolicy:
    """The rival: the same model, features and search, but one model for all collectives."""
    kind, settings = _kind(scenario), scenario.coordinator.shared_bandit
    return kind("shared-bandit", scenario, settings, streams, shared=True)


def _kind(scenario: Scenario) -> type[BanditPolicy]:
    from thzsync.coordinator.model_based import ModelBasedBandits  # a subclass

    modelled = scenario.coordinator.search in ("model-based", "model-based-even")
    return ModelBasedBandits if modelled else BanditPolicy
