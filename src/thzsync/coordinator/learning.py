"""What all learners share: how they read events, choose actions and see rewards.

``View`` is the pooled encoder's way to read an event, ``Flat`` the paper's (see
``coordinator.encoder``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final, NamedTuple
from warnings import warn
from weakref import WeakKeyDictionary

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.channel import Law, law_of
from thzsync.coordinator.beam import Head
from thzsync.coordinator.encoder import Encoder, grown, random_encoder, random_flat_encoder
from thzsync.coordinator.features import (
    ACTION_COLUMNS,
    FLAT_ACTION_COLUMNS,
    MASK,
    Events,
    Features,
    alone,
    columns,
    featurise,
)
from thzsync.coordinator.interface import Action, Outcome, Situation
from thzsync.coordinator.search import Search, search
from thzsync.coordinator.store import Shape
from thzsync.errors import ThzSyncError
from thzsync.scenario import Learner, Scenario
from thzsync.streams import Streams, name_key


class BuiltInLearner:
    """What our learning policies know, and how they are frozen and saved."""

    name: str = ""
    shape: Shape
    frozen = False
    """Whether it neither explores nor learns."""
    taught = False
    """Whether it has decided something or has been loaded."""

    @property
    def knowledge(self) -> str:
        """What it knows now, in the words of `Run.learning`."""
        if self.frozen:
            return "frozen"
        return "taught" if self.taught else "fresh"

    def freeze(self) -> None:
        """Neither explore nor learn from now on."""
        self.frozen = True

    def save(self, path: str | Path) -> None:
        """Write what it knows: `save_policy`, which replaces this from version 0.4 on."""
        from thzsync.coordinator.saved import save_policy

        warn("policy.save(file) is now save_policy(policy, file)", DeprecationWarning, stacklevel=2)
        save_policy(self, path)  # type: ignore[arg-type]


_NUMBERED: Final = {"p2p": 0, "a2a": 1, "allreduce": 2, "shared": 3, "ddqn": 4}
"""Stream numbers of the models that existed before collectives could be registered."""

_features: WeakKeyDictionary[Situation, tuple[View, Features]] = WeakKeyDictionary()
"""Features of live situations: the decision and the outcome use the same ones."""


@dataclass(frozen=True)
class View:
    """Situations and actions as inputs of the pooled encoder.

    Action columns become zero with the last THz chunk of a flow.
    """

    subbands: int
    best_gain_first: bool = True
    actions: ClassVar[int] = ACTION_COLUMNS
    """Inputs per flow that describe the action."""

    @property
    def columns(self) -> int:
        """Inputs per flow, those of the action included."""
        return columns(self.subbands, self.actions)

    def new_encoder(self, settings: Learner, generator: np.random.Generator) -> Encoder:
        """A random encoder."""
        return random_encoder(self.columns, settings.flow_units, settings.units, generator)

    def roomy(self, encoder: Encoder, flows: int, generator: np.random.Generator) -> Encoder:
        """The encoder, large enough for this number of flows; shared weights serve any number."""
        return encoder

    def featurise(self, situation: Situation) -> Features:
        """The situation as inputs; cached as long as the situation exists."""
        known = _features.get(situation)
        if known is None or known[0] != self:
            known = _features[situation] = (self, self._read(situation))
        return known[1]

    def _read(self, situation: Situation) -> Features:
        return featurise(situation, self.best_gain_first)

    def taken(self, situation: Situation, action: Action) -> FloatArray:
        """An action as inputs, one row per flow (eq:bandit_action_vector)."""
        offer, features = situation.offer, self.featurise(situation)
        power = np.zeros(features.senders)
        power[features.group] = action.power[np.searchsorted(offer.racks, offer.src)]
        level = np.abs(power[:, None] - situation.power_levels).argmin(axis=1)
        counts, levels = action.thz_chunks[None], situation.power_levels
        taken: FloatArray = self.found(alone(features), counts, level[None], levels)[0]
        return taken

    def found(
        self, events: Events, counts: IntArray, level: IntArray, levels: FloatArray
    ) -> FloatArray:
        """Actions as inputs, by event and flow: share, air time and radiated energy.

        ``level`` has a level index per event and sender. A single event may have several actions.
        """
        chosen = np.take_along_axis(level, events.group, axis=1)
        air = np.take_along_axis(events.air, chosen[..., None], axis=2)[..., 0]
        share = counts / np.maximum(events.chunks, 1)
        return np.stack((share, share * air, share * air * levels[chosen]), axis=2)


@dataclass(frozen=True)
class Flat(View):
    """One padded, masked vector (eq:bandit_representation, eq:bandit_action_vector)."""

    best_gain_first: bool = False
    actions: ClassVar[int] = FLAT_ACTION_COLUMNS

    def new_encoder(self, settings: Learner, generator: np.random.Generator) -> Encoder:
        """A random encoder without slots; ``roomy`` adds those of the first event."""
        return random_flat_encoder(settings.flat_units, settings.units, generator)

    def roomy(self, encoder: Encoder, flows: int, generator: np.random.Generator) -> Encoder:
        """The encoder with at least one slot per flow."""
        return grown(encoder, self.columns, flows, generator)

    def _read(self, situation: Situation) -> Features:
        features = super()._read(situation)
        features.rows[:, MASK] = 1.0
        return features

    def found(
        self, events: Events, counts: IntArray, level: IntArray, levels: FloatArray
    ) -> FloatArray:
        """Share of every flow, and power of every sender in the slot of the sender's number."""
        sent = np.zeros_like(counts)
        np.add.at(sent, (np.arange(len(counts))[:, None], events.group), counts)
        power = np.zeros(counts.shape)
        power[:, : level.shape[1]] = levels[level]
        power[sent == 0] = 0.0
        return np.stack((counts / np.maximum(events.chunks, 1), power), axis=2)


class Mode(NamedTuple):
    """How a learner works in a scenario."""

    view: View
    levels: FloatArray
    """Power budgets of a rack, as shares of its maximum."""
    how: Search
    raw: bool
    """Whether rewards are learnt uncompressed."""
    law: Law
    """Rate of a THz link."""


def mode_of(scenario: Scenario, settings: Learner) -> Mode:
    """The mode that a scenario's keys select."""
    keys = scenario.coordinator
    kind = Flat if keys.encoder == "flat" else View
    view = kind(scenario.thz.subbands, keys.gains == "sorted")
    how = search_settings(settings, keys.search == "partial")
    levels, law = np.array(keys.power_levels), law_of(scenario.thz)
    return Mode(view, levels, how, keys.reward == "raw", law)


def search_settings(settings: Learner, partial: bool = False) -> Search:
    """The search's parameters; a partial search has no uniform action to deviate from."""
    cost = 0.0 if partial else settings.deviation_cost
    return Search(settings.count_levels, settings.beam_width, cost, partial)


def model_generator(streams: Streams, name: str) -> np.random.Generator:
    """A model's random numbers: its own, whatever other models there are."""
    return streams.generator("policy", *model_stream(name))


def model_stream(name: str) -> tuple[int, ...]:
    """Path of a model's draws in the policy stream."""
    number = _NUMBERED.get(name)
    return (number,) if number is not None else (len(_NUMBERED), name_key(name))


def chosen_action(
    situation: Situation, features: Features, encoder: Encoder, head: Head, how: Search
) -> Action:
    """The best action that the beam search finds."""
    offer = situation.offer
    if offer.units == 0:
        return Action.uniform(offer, 0.0, 0.0)
    levels = np.asarray(situation.power_levels, dtype=np.float64)
    counts, level, _ = search(encoder, head, features, levels, how)
    return Action.of(offer, counts, levels[level][offer.rack_group])


def uniform_action(situation: Situation, share: float, place: float) -> Action:
    """The same share for all flows, and the level at this place (0..1) among the levels."""
    level = int(place * len(situation.power_levels))
    return Action.uniform(situation.offer, float(share), float(situation.power_levels[level]))


def spread_action(situation: Situation, number: int) -> Action:
    """The n-th of a sequence of uniform actions that covers shares and powers evenly.

    A Kronecker sequence: multiples of the golden section leave the smallest gaps in the share,
    which matters most; multiples of the square root of two mix the levels.
    """
    share, place = (number * np.array([(5**0.5 - 1) / 2, 2**0.5])) % 1.0
    return uniform_action(situation, share, place)


def learnable_reward(situation: Situation, outcome: Outcome, raw: bool = False) -> float:
    """The reward, compressed unless ``raw``; a reward that is not finite is refused."""
    if not math.isfinite(outcome.reward):
        raise ThzSyncError(
            f"{situation.kind} event: its reward is {outcome.reward}; a policy learns from finite "
            "rewards only: check the event's time, energy and their references"
        )
    return outcome.reward if raw else compress(outcome.reward)


def compress(reward: float) -> float:
    """Let rewards below -1, the mean of All-Wired, fall only logarithmically.

    A straggler or an overloaded subband can cost ten times the mean. Squared errors would then
    mostly fit how bad a bad action was. The mapping is smooth and increasing, so it never swaps
    two actions of the same event.
    """
    return reward if reward >= -1.0 else -1.0 - math.log(-reward)
