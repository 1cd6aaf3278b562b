"""NeuralLinearUCB: one model per collective type (THz-SynC), or one for all (its rival)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np

from thzsync.arrays import AnyArray, FloatArray
from thzsync.collectives import Kind
from thzsync.coordinator.beam import search
from thzsync.coordinator.encoder import Batch, Encoder, encode, fit, random_encoder, represent
from thzsync.coordinator.features import Features, action_columns, columns, featurise
from thzsync.coordinator.interface import Action, Context, Outcome
from thzsync.coordinator.posterior import LinearHead
from thzsync.coordinator.replay import Replay
from thzsync.coordinator.rewards import learnable_reward
from thzsync.coordinator.scoring import Head
from thzsync.scenario import Bandit, Scenario
from thzsync.streams import Streams


def chosen_action(
    context: Context, encoder: Encoder, head: Head, count_levels: int, beam_width: int
) -> Action:
    """The action that the beam search finds best; an event without flows gets an empty one."""
    plan = context.plan
    if plan.flows == 0:
        return Action.of(plan, np.zeros(0, dtype=np.int64), np.zeros(len(plan.racks)))
    levels = np.asarray(context.power_levels, dtype=np.float64)
    counts, level, _ = search(encoder, head, featurise(context), levels, count_levels, beam_width)
    power = np.zeros(len(plan.racks))
    power[np.searchsorted(plan.racks, plan.senders)] = levels[level]
    return Action.of(plan, counts, power)


def spread_action(context: Context, number: int) -> Action:
    """The n-th of a sequence of uniform actions that fills share and power evenly (Roberts' R2)."""
    share, place = (0.5 + number * np.array([0.7548776662466927, 0.5698402909980532])) % 1.0
    level = int(place * len(context.power_levels))
    return Action.uniform(context.plan, float(share), float(context.power_levels[level]))


class NeuralLinearUCB:
    """One model: encoder, linear head, replay (eq:bandit_representation, eq:bandit_b_update)."""

    def __init__(self, settings: Bandit, inputs: int, generator: np.random.Generator) -> None:
        self.settings = settings
        self.generator = generator
        self.decisions = 0
        self.encoder = random_encoder(inputs, settings.flow_units, settings.units, generator)
        self.head = LinearHead(self.encoder.size, settings.ridge)
        self.replay = Replay(settings.replay, inputs)

    def decide(self, context: Context, exploration: float) -> Action:
        """The action with the highest upper confidence bound (eq:bandit_ucb_selection)."""
        self.decisions += 1
        if self.decisions <= self.settings.warm_up and exploration:
            return spread_action(context, self.decisions)
        head = Head(self.head.weights, self.head.inverse_factor, exploration)
        settings = self.settings
        return chosen_action(
            context, self.encoder, head, settings.count_levels, settings.beam_width
        )

    def learn(self, features: Features, action: FloatArray, reward: float) -> None:
        """Update the posterior at once; train the encoder when it is time."""
        self.replay.add(features, action, reward)
        if self.replay.added % self.settings.train_every == 0 and self.settings.train_steps:
            self.train()
        else:
            self.head.update(represent(self.encoder, features, action), reward)

    def train(self) -> None:
        """Fit the encoder to the replayed rewards, then rebuild the posterior in the new space."""
        settings = self.settings
        self.encoder, _ = fit(
            self.encoder,
            self.head.weights,
            self._batches(),
            settings.learning_rate,
            settings.weight_decay,
        )
        everything = np.arange(len(self.replay))
        phi = encode(self.encoder, self.replay.batch(everything))
        self.head.rebuild(phi, self.replay.reward[everything])

    def _batches(self) -> Iterator[tuple[Batch, FloatArray]]:
        for _ in range(self.settings.train_steps):
            slots = self.generator.integers(len(self.replay), size=self.settings.batch)
            yield self.replay.batch(slots), self.replay.reward[slots]

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

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """The inverse of ``state``."""
        part = partial(_under, state)
        self.encoder = Encoder(**part("encoder."))
        self.head.restore(**part("head."))
        self.replay.restore(part("replay."))


class BanditPolicy:
    """Bandits behind the policy interface: each collective type is served by the model it names."""

    def __init__(
        self, name: str, models: dict[str, NeuralLinearUCB], of_kind: Mapping[Kind, str]
    ) -> None:
        self.name = name
        self.models = models
        self.of_kind = of_kind
        self.frozen = False

    def decide(self, context: Context) -> Action:
        """The action for an event that is being activated; greedy when frozen."""
        model = self.models[self.of_kind[context.kind]]
        return model.decide(context, 0.0 if self.frozen else model.settings.exploration)

    def learn(self, context: Context, action: Action, outcome: Outcome) -> None:
        """The delayed reward of an earlier decision."""
        reward = learnable_reward(context, outcome)
        if self.frozen or context.flows == 0:
            return
        model = self.models[self.of_kind[context.kind]]
        features = featurise(context)
        model.learn(features, action_columns(features, context, action), reward)


def collective_bandits(scenario: Scenario, streams: Streams) -> BanditPolicy:
    """THz-SynC: an independent model for each collective type."""
    settings, inputs = scenario.coordinator.bandit, columns(scenario.thz.subbands)
    models = {
        kind.value: NeuralLinearUCB(settings, inputs, streams.generator("policy", number))
        for number, kind in enumerate(Kind)
    }
    return BanditPolicy("thz-sync", models, {kind: kind.value for kind in Kind})


def shared_bandit(scenario: Scenario, streams: Streams) -> BanditPolicy:
    """The rival: the same model, features and search, but one model for all collective types."""
    settings, inputs = scenario.coordinator.shared_bandit, columns(scenario.thz.subbands)
    model = NeuralLinearUCB(settings, inputs, streams.generator("policy", len(Kind)))
    return BanditPolicy("shared-bandit", {"shared": model}, dict.fromkeys(Kind, "shared"))


def _under(state: Mapping[str, AnyArray], prefix: str) -> dict[str, AnyArray]:
    return {k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)}
