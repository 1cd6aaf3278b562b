"""Double Q-learning on the same situations, actions, encoder and search as the bandits.

Events form one sequence in the order of their activation, so the state after an event is the
situation of the event activated next, of whatever type; one network therefore serves all types.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.coordinator.beam import Head
from thzsync.coordinator.dense import Descent
from thzsync.coordinator.encoder import Batch, Encoder
from thzsync.coordinator.interface import Action, Outcome, Situation, State
from thzsync.coordinator.learning import (
    BuiltInLearner,
    chosen_action,
    learnable_reward,
    mode_of,
    model_generator,
    uniform_action,
)
from thzsync.coordinator.replay import Replay, under
from thzsync.coordinator.search import search_each
from thzsync.coordinator.store import check_arrays, shape_of
from thzsync.coordinator.training import encode, fit
from thzsync.elementary import product
from thzsync.scenario import Scenario
from thzsync.streams import Streams

POOL_BATCHES: Final = 8
"""Batches of transitions that get a target per training; each target takes a search."""


class QNetwork(NamedTuple):
    """An encoder and a linear head; their product is the action value."""

    encoder: Encoder
    head: FloatArray

    def greedy_head(self) -> Head:
        """The head as the search takes it: without uncertainty, hence without exploration."""
        size = len(self.head)
        return Head(self.head, np.zeros((size, size)), 0.0)

    def values(self, batch: Batch) -> FloatArray:
        """Q of every sample."""
        return product(encode(self.encoder, batch), self.head)


class DdqnPolicy(BuiltInLearner):
    """Epsilon-greedy double Q-learning behind the policy interface."""

    name = "ddqn"

    def __init__(self, scenario: Scenario, streams: Streams) -> None:
        settings = scenario.coordinator.ddqn
        self.settings = settings
        self.shape = shape_of(scenario, settings)
        self.generator = model_generator(streams, self.name)
        self.view, self.levels, self.how, self.raw = mode_of(scenario, settings)
        encoder = self.view.new_encoder(settings, self.generator)
        self.online = QNetwork(encoder, np.zeros(encoder.size))
        self.target = self.online
        self.replay = Replay(settings.replay, self.view.columns, self.levels, self.view.actions)
        self.rewarded = 0
        self.trainings = 0
        self._waiting: dict[int, int] = {}

    @property
    def epsilon(self) -> float:
        """Share of random actions now."""
        settings = self.settings
        if self.frozen:
            return 0.0
        done = min(self.replay.added / settings.epsilon_events, 1.0)
        return settings.epsilon_start + done * (settings.epsilon_end - settings.epsilon_start)

    def decide(self, situation: Situation) -> Action:
        """A random uniform action with probability epsilon, otherwise the best by the search."""
        self._make_room(situation.units)
        self._waiting.pop(situation.decision, None)  # an earlier run's, which was interrupted
        learns = situation.units > 0 and not self.frozen
        features = self.view.featurise(situation)
        if learns and self.generator.random() < self.epsilon:
            action = uniform_action(situation, *self.generator.random(2))
        else:
            encoder, head = self.online.encoder, self.online.greedy_head()
            action = chosen_action(situation, features, encoder, head, self.how)
        if learns:
            self.taught = True
            taken = self.view.taken(situation, action)
            self._waiting[situation.decision] = self.replay.add(features, taken, np.nan)
        return action

    def learn(self, situation: Situation, action: Action, outcome: Outcome) -> None:
        """Complete the transition that the decision began; train when it is due."""
        reward = learnable_reward(situation, outcome, self.raw)
        serial = self._waiting.pop(situation.decision, -1)
        if self.frozen or not self.replay.holds(serial):
            return
        self.replay.reward[serial % self.replay.capacity] = reward
        self.rewarded += 1
        if self.rewarded % self.settings.train_every == 0 and self.settings.train_steps:
            self.train()

    def train(self) -> None:
        """Some gradient steps towards r + gamma Q_target(s', argmax_a Q_online(s', a))."""
        settings = self.settings
        slots = self._complete_slots()
        if not len(slots):
            return
        drawn = min(len(slots), POOL_BATCHES * settings.batch)
        pool = self.generator.choice(slots, drawn, replace=False)
        goal = self.replay.reward[pool] + settings.discount * self._next_values(pool)
        draws = self.generator.integers(len(pool), size=(settings.train_steps, settings.batch))
        how = Descent(settings.learning_rate, settings.weight_decay)
        self.online = QNetwork(
            *fit(*self.online, self.replay.memory, pool[draws], goal[draws], how)
        )
        self.trainings += 1
        if self.trainings % settings.target_every == 0:
            self.target = self.online

    def _make_room(self, flows: int) -> None:
        """Let both networks take an event of so many flows; new weights are the same in both."""
        before, target = self.online.encoder, self.target.encoder
        encoder = self.view.roomy(before, flows, self.generator)
        if encoder is before:
            return
        flow = np.concatenate((target.flow, encoder.flow[len(target.flow) :]))
        self.online = self.online._replace(encoder=encoder)
        self.target = self.target._replace(encoder=target._replace(flow=flow))

    def _complete_slots(self) -> IntArray:
        """Slots whose reward has come and whose successor is stored."""
        known = self.replay.known
        newest = (self.replay.added - 1) % self.replay.capacity
        known[newest] = False
        return np.flatnonzero(known)

    def _next_values(self, slots: IntArray) -> FloatArray:
        """Target network's value of the online network's best action in the next state."""
        if self.settings.discount == 0:
            return np.zeros(len(slots))
        events = self.replay.events((slots + 1) % len(self.replay))
        how = self.how._replace(beam_width=1)  # a narrow search is good enough for targets
        head = self.online.greedy_head()
        counts, level, _ = search_each(self.online.encoder, head, events, self.levels, how)
        best = self.view.found(events, counts, level, self.levels)
        best[events.group < 0] = 0.0
        events.rows[..., events.contexts :] = best
        return self.target.values(Batch(events.rows, events.group))

    def state(self) -> State:
        """All that later decisions depend on."""
        state: State = {f"replay.{k}": v for k, v in self.replay.state().items()}
        for name, network in (("online", self.online), ("target", self.target)):
            state |= {f"{name}.{k}": v for k, v in network.encoder._asdict().items()}
            state[f"{name}.head"] = network.head
        return state | {
            "rewarded": self.rewarded,
            "trainings": self.trainings,
            "waiting": sorted(self._waiting.items()),
            "generator": self.generator.bit_generator.state,
        }

    def load(self, state: State) -> None:
        """Take over a saved state."""
        check_arrays(self.shape, state)
        self.taught = True
        self.online, self.target = (_network(under(state, n)) for n in ("online.", "target."))
        self.replay.restore(under(state, "replay."))
        self.rewarded, self.trainings = int(state["rewarded"]), int(state["trainings"])
        self.generator.bit_generator.state = state["generator"]
        self._waiting = {int(decision): int(slot) for decision, slot in state["waiting"]}


def _network(state: State) -> QNetwork:
    head = state.pop("head")
    return QNetwork(Encoder(**state), head)
