"""How a learner reads events: situations and actions as the numbers that its encoder takes.

All three learners look through the same view, so they differ in how they learn and in nothing
else. ``Pooled`` is ours; ``Flat`` is the paper's (see ``coordinator.encoder``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.coordinator.encoder import Encoder, grown, random_encoder, random_flat_encoder
from thzsync.coordinator.features import (
    ACTION_COLUMNS,
    FLAT_ACTION_COLUMNS,
    MASK,
    Events,
    Features,
    action_columns,
    columns,
    featurise,
)
from thzsync.coordinator.interface import Action, Situation
from thzsync.scenario import Learner, Scenario

_features: WeakKeyDictionary[Situation, tuple[View, Features]] = WeakKeyDictionary()
"""Of situations that still have a decision or an outcome before them: each is read for both."""


@dataclass(frozen=True)
class View(ABC):
    """What a learner needs to know about its encoder."""

    subbands: int
    best_gain_first: bool = True

    actions: ClassVar[int]
    """Numbers per flow that the action fills."""

    @property
    def columns(self) -> int:
        """Numbers per flow, the action's included."""
        return columns(self.subbands, self.actions)

    @abstractmethod
    def new_encoder(self, settings: Learner, generator: np.random.Generator) -> Encoder:
        """A random encoder."""

    @abstractmethod
    def roomy(self, encoder: Encoder, flows: int, generator: np.random.Generator) -> Encoder:
        """The encoder, large enough for an event of so many flows."""

    @abstractmethod
    def taken(self, features: Features, situation: Situation, action: Action) -> FloatArray:
        """An action as numbers, a row per flow."""

    @abstractmethod
    def found(
        self, events: Events, counts: IntArray, level: IntArray, levels: FloatArray
    ) -> FloatArray:
        """What searches have found, as ``taken`` would write it, by event and flow.

        Several actions of a single event may be written, too.
        """

    def featurise(self, situation: Situation) -> Features:
        """The context; what was made of a situation before is given out again."""
        known = _features.get(situation)
        if known is None or known[0] != self:
            known = _features[situation] = (self, self._read(situation))
        return known[1]

    def _read(self, situation: Situation) -> Features:
        return featurise(situation, self.best_gain_first)


@dataclass(frozen=True)
class Pooled(View):
    """Flows share their weights and are pooled; columns that fade out with the last THz chunk."""

    actions: ClassVar[int] = ACTION_COLUMNS

    def new_encoder(self, settings: Learner, generator: np.random.Generator) -> Encoder:
        """A random encoder."""
        return random_encoder(self.columns, settings.flow_units, settings.units, generator)

    def roomy(self, encoder: Encoder, flows: int, generator: np.random.Generator) -> Encoder:
        """Shared weights serve any number of flows."""
        return encoder

    def taken(self, features: Features, situation: Situation, action: Action) -> FloatArray:
        """Share, air time and radiated energy of every flow."""
        return action_columns(features, situation, action)

    def found(
        self, events: Events, counts: IntArray, level: IntArray, levels: FloatArray
    ) -> FloatArray:
        """Share, air time and radiated energy of every flow."""
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
        """A random encoder without slots; ``roomy`` gives it those of its first event."""
        return random_flat_encoder(settings.flat_units, settings.units, generator)

    def roomy(self, encoder: Encoder, flows: int, generator: np.random.Generator) -> Encoder:
        """As many slots as the widest event has flows."""
        return grown(encoder, self.columns, flows, generator)

    def _read(self, situation: Situation) -> Features:
        """With a mask where the pooled view has the number of flows."""
        features = super()._read(situation)
        features.rows[:, MASK] = 1.0
        return features

    def taken(self, features: Features, situation: Situation, action: Action) -> FloatArray:
        """Share of every flow, and power of every sender in the slot of its number."""
        offer = situation.offer
        power = np.zeros(len(features.rows))
        power[features.group] = action.power[np.searchsorted(offer.racks, offer.src)]
        return np.column_stack((action.thz_chunks / offer.chunks, power))

    def found(
        self, events: Events, counts: IntArray, level: IntArray, levels: FloatArray
    ) -> FloatArray:
        """Share of every flow, and power of every sender in the slot of its number."""
        sent = np.zeros_like(counts)
        np.add.at(sent, (np.arange(len(counts))[:, None], events.group), counts)
        power = np.zeros(counts.shape)
        power[:, : level.shape[1]] = levels[level]
        power[sent == 0] = 0.0
        return np.stack((counts / np.maximum(events.chunks, 1), power), axis=2)


class Mode(NamedTuple):
    """How all learners of a scenario work: each part is a key of its own."""

    view: View
    levels: FloatArray
    """Power budgets that a rack may be given, as shares of its maximum."""
    partial: bool = False
    """Whether the search builds actions up from the empty one."""
    raw: bool = False
    """Whether rewards are learnt as they come."""


def mode_of(scenario: Scenario) -> Mode:
    """What a scenario's keys say."""
    keys = scenario.coordinator
    kind = Flat if keys.encoder == "flat" else Pooled
    view = kind(scenario.thz.subbands, keys.gains == "sorted")
    levels = np.array(keys.power_levels)
    return Mode(view, levels, keys.search == "partial", keys.reward == "raw")
