"""How a learner reads events: the encoder with all that depends on its kind.

All three learners look through the same view, so they differ in how they learn and in nothing
else. ``Pooled`` is ours; ``Flat`` is the paper's (see ``coordinator.encoder``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol
from weakref import WeakKeyDictionary

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.coordinator import flat
from thzsync.coordinator.beam import Search, search, search_each
from thzsync.coordinator.dense import Descent
from thzsync.coordinator.encoder import Batch, Encoder, random_encoder, represent
from thzsync.coordinator.features import (
    ACTION_COLUMNS,
    Events,
    Features,
    action_columns,
    columns,
    featurise,
    one_of,
)
from thzsync.coordinator.flat_training import encode_flat, fit_flat
from thzsync.coordinator.interface import Action, Situation
from thzsync.coordinator.scoring import Head
from thzsync.coordinator.training import encode, fit
from thzsync.scenario import Learner, Scenario

Found = tuple[IntArray, IntArray, float]
"""THz chunks per flow, level index per sender, and the score."""


_read: WeakKeyDictionary[Situation, tuple[View, Features]] = WeakKeyDictionary()
"""Situations that still have a decision or an outcome before them: each is looked at for both."""


def _read_once(view: View, situation: Situation, read: Callable[[Situation], Features]) -> Features:
    """What was made of a situation before; nobody changes it."""
    known = _read.get(situation)
    if known is None or known[0] != view:
        known = _read[situation] = (view, read(situation))
    return known[1]


class View(Protocol):
    """What a learner needs to know about its encoder."""

    @property
    def columns(self) -> int:
        """Numbers per flow, the action's included."""
        ...

    @property
    def actions(self) -> int:
        """Those of them that the action fills."""
        ...

    def new_encoder(self, settings: Learner, generator: np.random.Generator) -> Encoder:
        """A random encoder."""
        ...

    def roomy(self, encoder: Encoder, flows: int, generator: np.random.Generator) -> Encoder:
        """The encoder, large enough for an event of so many flows."""
        ...

    def featurise(self, situation: Situation) -> Features:
        """The context."""
        ...

    def taken(self, features: Features, situation: Situation, action: Action) -> FloatArray:
        """An action as numbers, a row per flow."""
        ...

    def found(
        self, features: Features, counts: IntArray, level: IntArray, levels: FloatArray
    ) -> FloatArray:
        """What a search has found, as ``taken`` would write it."""
        ...

    def search(
        self, encoder: Encoder, head: Head, features: Features, levels: FloatArray, how: Search
    ) -> Found:
        """The best action that the beam search finds."""
        ...

    def best(
        self,
        encoder: Encoder,
        head: Head,
        events: Events,
        which: IntArray,
        levels: FloatArray,
        how: Search,
    ) -> FloatArray:
        """What searches find for each of some events, as ``taken`` would write it, padded."""
        ...

    def represent(self, encoder: Encoder, features: Features, action: FloatArray) -> FloatArray:
        """phi of one event and action."""
        ...

    def encode(self, encoder: Encoder, batch: Batch) -> FloatArray:
        """phi of every sample."""
        ...

    def fit(
        self,
        encoder: Encoder,
        head: FloatArray,
        memory: Batch,
        draws: IntArray,
        targets: FloatArray,
        how: Descent,
    ) -> tuple[Encoder, FloatArray]:
        """Encoder and head after training."""
        ...


@dataclass(frozen=True)
class Pooled:
    """Flows share their weights and are pooled; columns that fade out with the last THz chunk."""

    subbands: int
    best_gain_first: bool = True
    actions: int = ACTION_COLUMNS

    @property
    def columns(self) -> int:
        """Numbers per flow, the action's included."""
        return columns(self.subbands)

    def new_encoder(self, settings: Learner, generator: np.random.Generator) -> Encoder:
        """A random encoder."""
        return random_encoder(self.columns, settings.flow_units, settings.units, generator)

    def roomy(self, encoder: Encoder, flows: int, generator: np.random.Generator) -> Encoder:
        """Shared weights serve any number of flows."""
        return encoder

    def featurise(self, situation: Situation) -> Features:
        """The context."""
        return _read_once(self, situation, self._read)

    def _read(self, situation: Situation) -> Features:
        return featurise(situation, self.best_gain_first)

    def taken(self, features: Features, situation: Situation, action: Action) -> FloatArray:
        """Share, air time and radiated energy of every flow."""
        return action_columns(features, situation, action)

    def found(
        self, features: Features, counts: IntArray, level: IntArray, levels: FloatArray
    ) -> FloatArray:
        """What a search has found, as ``taken`` would write it."""
        chosen = level[features.group]
        air = features.air[np.arange(len(counts)), chosen]
        return _columns(counts, features.chunks, air, levels[chosen])

    def best(
        self,
        encoder: Encoder,
        head: Head,
        events: Events,
        which: IntArray,
        levels: FloatArray,
        how: Search,
    ) -> FloatArray:
        """What searches find for each of some events, as ``taken`` would write it, padded."""
        counts, level, _ = search_each(encoder, head, events, which, levels, how)
        chosen = np.take_along_axis(level, events.group[which], axis=1)
        air = np.take_along_axis(events.air[which], chosen[..., None], axis=2)[..., 0]
        return _columns(counts, events.chunks[which], air, levels[chosen])

    search = staticmethod(search)
    represent = staticmethod(represent)
    encode = staticmethod(encode)
    fit = staticmethod(fit)


def _columns(counts: IntArray, chunks: IntArray, air: FloatArray, power: FloatArray) -> FloatArray:
    """Share, air time and radiated energy, from air times and powers of whole flows."""
    columns = np.empty((*counts.shape, ACTION_COLUMNS))
    np.divide(counts, chunks, out=columns[..., 0])
    np.multiply(columns[..., 0], air, out=columns[..., 1])
    np.multiply(columns[..., 1], power, out=columns[..., 2])
    return columns


@dataclass(frozen=True)
class Flat:
    """One padded, masked vector (eq:bandit_representation, eq:bandit_action_vector)."""

    subbands: int
    best_gain_first: bool = False
    actions: int = flat.ACTIONS

    @property
    def columns(self) -> int:
        """Numbers per slot, the action's included."""
        return flat.flat_columns(self.subbands)

    def new_encoder(self, settings: Learner, generator: np.random.Generator) -> Encoder:
        """A random encoder without slots; ``roomy`` gives it those of its first event."""
        return flat.random_flat_encoder(settings.flat_units, settings.units, generator)

    def roomy(self, encoder: Encoder, flows: int, generator: np.random.Generator) -> Encoder:
        """As many slots as the widest event has flows."""
        return flat.grown(encoder, self.columns, flows, generator)

    def featurise(self, situation: Situation) -> Features:
        """The context, with a mask where the pooled view has the number of flows."""
        return _read_once(self, situation, self._read)

    def _read(self, situation: Situation) -> Features:
        features = featurise(situation, self.best_gain_first)
        features.rows[:, flat.MASK] = 1.0
        return features

    def taken(self, features: Features, situation: Situation, action: Action) -> FloatArray:
        """Share of every flow, and power of every sender in the slot of its number."""
        offer = situation.offer
        senders = len(features.start) - 1
        power = np.zeros(len(features.rows))
        first = features.members[features.start[:senders]]
        power[:senders] = action.power[np.searchsorted(offer.racks, offer.src[first])]
        return np.column_stack((action.thz_chunks / offer.chunks, power))

    def found(
        self, features: Features, counts: IntArray, level: IntArray, levels: FloatArray
    ) -> FloatArray:
        """What a search has found, as ``taken`` would write it."""
        senders = len(features.start) - 1
        sending = np.bincount(features.group, counts, senders) > 0
        power = np.zeros(len(features.rows))
        power[:senders] = np.where(sending, levels[level], 0.0)
        return np.column_stack((counts / features.chunks, power))

    def best(
        self,
        encoder: Encoder,
        head: Head,
        events: Events,
        which: IntArray,
        levels: FloatArray,
        how: Search,
    ) -> FloatArray:
        """What searches find for each of some events, as ``taken`` would write it, padded."""
        action = np.zeros((len(which), events.group.shape[1], self.actions))
        for number, slot in enumerate(which.tolist()):
            features = one_of(events, slot)
            counts, level, _ = self.search(encoder, head, features, levels, how)
            action[number, : len(counts)] = self.found(features, counts, level, levels)
        return action

    search = staticmethod(flat.search_flat)
    represent = staticmethod(flat.represent_flat)
    encode = staticmethod(encode_flat)
    fit = staticmethod(fit_flat)


class Manner(NamedTuple):
    """How all learners of a scenario work: each part is a key of its own."""

    view: View
    partial: bool = False
    """Whether the search builds actions up from the empty one."""
    raw: bool = False
    """Whether rewards are learnt as they come."""


def manner_of(scenario: Scenario) -> Manner:
    """What a scenario's keys say."""
    keys = scenario.coordinator
    kind = Flat if keys.encoder == "flat" else Pooled
    view: View = kind(scenario.thz.subbands, keys.gains == "sorted")
    return Manner(view, keys.search == "partial", keys.reward == "raw")
