"""NeuralLinearUCB: one model per collective type (THz-SynC), or one for all (its rival)."""

from __future__ import annotations

from typing import Final

import numpy as np

from thzsync.arrays import FloatArray
from thzsync.coordinator.beam import Head
from thzsync.coordinator.dense import Descent
from thzsync.coordinator.encoder import Encoder, represent
from thzsync.coordinator.features import Features
from thzsync.coordinator.interface import Action, Outcome, Situation, State
from thzsync.coordinator.learning import (
    BuiltInLearner,
    Mode,
    chosen_action,
    learnable_reward,
    mode_of,
    model_generator,
    spread_action,
)
from thzsync.coordinator.posterior import LinearHead
from thzsync.coordinator.replay import Replay, under
from thzsync.coordinator.store import check_arrays, shape_of
from thzsync.coordinator.training import encode, fit
from thzsync.scenario import Bandit, Scenario
from thzsync.streams import Streams

SHARED: Final = "shared"
"""Name of the model that serves all collectives."""
MODEL_BASED: Final = {
    "model-based": False,
    "model-based-even": True,
    "reckoned": False,  # names before 0.3
    "reckoned-even": True,
}
"""Values of ``coordinator.search`` with a cost model, and whether it proposes even splits, too."""


class NeuralLinearUCB:
    """One model: encoder, linear head, replay (eq:bandit_representation, eq:bandit_b_update)."""

    def __init__(self, settings: Bandit, mode: Mode, generator: np.random.Generator) -> None:
        self.settings = settings
        self.view, self.how = mode.view, mode.how
        self.generator = generator
        self.decisions = 0
        self.encoder = self.view.new_encoder(settings, generator)
        self.head = LinearHead(self.encoder.size, settings.ridge)
        self.replay = Replay(settings.replay, self.view.columns, mode.levels, self.view.actions)

    def prepare(self, situation: Situation, explores: bool) -> Action | None:
        """Count a decision and make room for its flows; the first decisions are spread actions."""
        self.decisions += 1
        self.encoder = self.view.roomy(self.encoder, situation.units, self.generator)
        warm = self.decisions > self.settings.warm_up or not explores
        return None if warm else spread_action(situation, self.decisions)

    def decide(self, situation: Situation, exploration: float) -> Action:
        """The action with the highest upper confidence bound (eq:bandit_ucb_selection)."""
        spread = self.prepare(situation, exploration != 0)
        if spread is not None:
            return spread
        head = Head(self.head.weights, self.head.inverse_factor, exploration)
        features = self.view.featurise(situation)
        return chosen_action(situation, features, self.encoder, head, self.how)

    def learn(self, features: Features, action: FloatArray, reward: float) -> None:
        """Update the posterior at once; train the encoder when it is due."""
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

    def state(self, name: str) -> State:
        """All that later decisions depend on, under the model's name."""
        head = {key: getattr(self.head, key).copy() for key in ("precision", "moment", "factor")}
        parts = {"encoder": self.encoder._asdict(), "replay": self.replay.state(), "head": head}
        found: State = {f"{name}.{p}.{k}": a for p, part in parts.items() for k, a in part.items()}
        generator = self.generator.bit_generator.state
        return found | {name: {"decisions": self.decisions, "generator": generator}}

    def load(self, name: str, state: State) -> None:
        """The inverse of ``state``."""
        self.decisions = int(state[name]["decisions"])
        self.generator.bit_generator.state = state[name]["generator"]
        self.encoder = Encoder(**under(state, f"{name}.encoder."))
        self.head.restore(**under(state, f"{name}.head."))
        self.replay.restore(under(state, f"{name}.replay."))


class BanditPolicy(BuiltInLearner):
    """Bandits behind the policy interface; a collective's model is made at its first event."""

    def __init__(
        self, name: str, scenario: Scenario, settings: Bandit, streams: Streams, shared: bool
    ) -> None:
        self.name = name
        self.shape = shape_of(scenario, settings)
        self.models: dict[str, NeuralLinearUCB] = {}
        self.settings, self.mode = settings, mode_of(scenario, settings)
        self._streams, self._shared = streams, shared

    def model(self, kind: str) -> NeuralLinearUCB:
        """The model that serves a collective."""
        return self._named(SHARED if self._shared else kind)

    def decide(self, situation: Situation) -> Action:
        """The action for an event that is being activated; greedy when frozen."""
        model = self.model(situation.kind)
        return model.decide(situation, 0.0 if self.frozen else model.settings.exploration)

    def learn(self, situation: Situation, action: Action, outcome: Outcome) -> None:
        """Learn from the delayed reward of an earlier decision."""
        reward = learnable_reward(situation, outcome, self.mode.raw)
        if self.frozen or situation.units == 0:
            return
        view = self.mode.view
        model = self.model(situation.kind)
        model.learn(
            view.featurise(situation),
            view.taken(situation, action),
            reward - self.expected(situation, action),
        )

    def expected(self, situation: Situation, action: Action) -> float:
        """The part of the reward that needs no learning."""
        return 0.0

    def state(self) -> State:
        """The states of all models."""
        return {k: v for name, model in self.models.items() for k, v in model.state(name).items()}

    def load(self, state: State) -> None:
        """Take over a saved state."""
        check_arrays(self.shape, state)
        names = [name for name, value in state.items() if isinstance(value, dict)]
        if {*names} != {name.split(".", 1)[0] for name in state}:
            raise KeyError("arrays and values are of other models")
        self.models.clear()
        self.taught = True
        for name in names:
            self._named(name).load(name, state)

    def _named(self, name: str) -> NeuralLinearUCB:
        self.taught = True
        if name not in self.models:
            generator = model_generator(self._streams, name)
            self.models[name] = NeuralLinearUCB(self.settings, self.mode, generator)
        return self.models[name]


def collective_bandits(scenario: Scenario, streams: Streams) -> BanditPolicy:
    """THz-SynC: an independent model for each collective."""
    settings = scenario.coordinator.bandit
    return _kind(scenario)("thz-sync", scenario, settings, streams, shared=False)


def shared_bandit(scenario: Scenario, streams: Streams) -> BanditPolicy:
    """The rival: the same model, features and search, but one model for all collectives."""
    settings = scenario.coordinator.shared_bandit
    return _kind(scenario)("shared-bandit", scenario, settings, streams, shared=True)


def _kind(scenario: Scenario) -> type[BanditPolicy]:
    from thzsync.coordinator.model_based import ModelBasedBandits  # a subclass

    return ModelBasedBandits if scenario.coordinator.search in MODEL_BASED else BanditPolicy
