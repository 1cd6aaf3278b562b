"""From scores to actions: the searched one, and the uniform ones that exploration uses."""

from __future__ import annotations

import numpy as np

from thzsync.coordinator.encoder import Encoder
from thzsync.coordinator.features import Features
from thzsync.coordinator.interface import Action, Situation
from thzsync.coordinator.scoring import Head
from thzsync.coordinator.search import Search, search
from thzsync.scenario import Learner


def search_settings(settings: Learner, partial: bool = False) -> Search:
    """The search as the kernel takes it; built up from nothing, no action is there to leave."""
    cost = 0.0 if partial else settings.deviation_cost
    return Search(settings.count_levels, settings.beam_width, cost, partial)


def chosen_action(
    situation: Situation, features: Features, encoder: Encoder, head: Head, how: Search
) -> Action:
    """The action that the beam search finds best; an event without units gets an empty one."""
    offer = situation.offer
    if offer.units == 0:
        return Action.of(offer, np.zeros(0, dtype=np.int64), np.zeros(len(offer.racks)))
    levels = np.asarray(situation.power_levels, dtype=np.float64)
    counts, level, _ = search(encoder, head, features, levels, how)
    return Action.of(offer, counts, levels[level][offer.rack_group])


def uniform_action(situation: Situation, share: float, place: float) -> Action:
    """The same share for all flows, and the level at this place (0..1) among the levels."""
    level = int(place * len(situation.power_levels))
    return Action.uniform(situation.offer, float(share), float(situation.power_levels[level]))


def spread_action(situation: Situation, number: int) -> Action:
    """The n-th of a sequence of uniform actions that fills shares and powers evenly.

    A Kronecker sequence: multiples of the golden section leave the smallest gaps in the share,
    which matters most, and those of the square root of two mix the levels.
    """
    share, place = (number * np.array([(5**0.5 - 1) / 2, 2**0.5])) % 1.0
    return uniform_action(situation, float(share), float(place))
