"""From scores to actions: the searched one, and the uniform ones that exploration uses."""

from __future__ import annotations

import numpy as np

from thzsync.coordinator.beam import Search, search
from thzsync.coordinator.encoder import Encoder
from thzsync.coordinator.features import featurise
from thzsync.coordinator.interface import Action, Context
from thzsync.coordinator.scoring import Head
from thzsync.scenario import Learner


def search_settings(settings: Learner) -> Search:
    """The search as the kernel takes it."""
    return Search(settings.count_levels, settings.beam_width, settings.deviation_cost)


def chosen_action(context: Context, encoder: Encoder, head: Head, how: Search) -> Action:
    """The action that the beam search finds best; an event without flows gets an empty one."""
    plan = context.plan
    if plan.flows == 0:
        return Action.of(plan, np.zeros(0, dtype=np.int64), np.zeros(len(plan.racks)))
    levels = np.asarray(context.power_levels, dtype=np.float64)
    counts, level, _ = search(encoder, head, featurise(context), levels, how)
    power = np.zeros(len(plan.racks))
    power[np.searchsorted(plan.racks, plan.senders)] = levels[level]
    return Action.of(plan, counts, power)


def uniform_action(context: Context, share: float, place: float) -> Action:
    """The same share for all flows, and the level at this place (0..1) among the levels."""
    level = int(place * len(context.power_levels))
    return Action.uniform(context.plan, float(share), float(context.power_levels[level]))


def spread_action(context: Context, number: int) -> Action:
    """The n-th of a sequence of uniform actions that fills shares and powers evenly.

    A Kronecker sequence: multiples of the golden section leave the smallest gaps in the share,
    which matters most, and those of the square root of two mix the levels.
    """
    share, place = (number * np.array([(5**0.5 - 1) / 2, 2**0.5])) % 1.0
    return uniform_action(context, float(share), float(place))
