"""Actions as whole numbers: a step of THz share for every unit and a power level for every sender.

Every element of the spaces is a valid action. Numbers of absent units and senders are ignored, and
so is the level of a sender whose units all stay on fibre.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from thzsync.arrays import IntArray
from thzsync.coordinator import Action, Situation
from thzsync.errors import ThzSyncError
from thzsync.gym.capacity import Capacity, at_least

MaskArray: TypeAlias = npt.NDArray[np.int8]
"""1 for every value that a number may have: those of the first number, then of the next one."""


@dataclass(frozen=True)
class Full:
    """Shares of all units one after another, then levels of all senders."""

    capacity: Capacity
    steps: int
    """Shares: 0, 1/(steps - 1), ..., 1."""
    levels: int
    """Power levels."""

    @property
    def _sizes(self) -> IntArray:
        return np.repeat((self.steps, self.levels), (self.capacity.units, self.capacity.senders))

    @property
    def space(self) -> spaces.MultiDiscrete:
        """The numbers to choose from."""
        return spaces.MultiDiscrete(self._sizes)

    def action(self, situation: Situation, given: object) -> Action:
        """Chunks nearest to every unit's share (halves to even), power of every sender."""
        choice, offer = _checked(given, self._sizes), situation.offer
        share = choice[: offer.units] / (self.steps - 1)
        counts = np.rint(offer.chunks * share).astype(np.int64)
        # Racks of no group (-1) take the last number; Action.of ignores it, as they do not send.
        level = choice[self.capacity.units :][offer.rack_group]
        return Action.of(offer, counts, situation.power_levels[level])

    def mask(self, situation: Situation) -> MaskArray:
        """Every share of the event's units and every level of its senders; 0 for absent ones."""
        offer, capacity = situation.offer, self.capacity
        shares = np.zeros((capacity.units, self.steps), dtype=np.int8)
        levels = np.zeros((capacity.senders, self.levels), dtype=np.int8)
        shares[: offer.units] = levels[: offer.groups] = 1
        shares[:, 0] = levels[:, 0] = 1
        return np.concatenate((shares.ravel(), levels.ravel()))


@dataclass(frozen=True)
class Uniform:
    """One share and one level for all: ``share step * number of levels + level``."""

    steps: int
    levels: int

    @property
    def space(self) -> spaces.Discrete:
        """The numbers to choose from."""
        return spaces.Discrete(self.steps * self.levels)

    def action(self, situation: Situation, given: object) -> Action:
        """The same share of every unit's chunks and the same power."""
        choice = _checked(given, np.array(self.steps * self.levels))
        step, level = divmod(int(choice), self.levels)
        power = float(situation.power_levels[level])
        return Action.uniform(situation.offer, step / (self.steps - 1), power)

    def mask(self, _: Situation) -> MaskArray:
        """Every number is allowed in every event."""
        return np.ones(self.steps * self.levels, dtype=np.int8)


def coding_of(name: str, capacity: Capacity, steps: int, levels: int) -> Full | Uniform:
    """The coding of this name."""
    at_least(2, steps, "count_levels")
    if name == "uniform":
        return Uniform(steps, levels)
    if name != "full":
        raise ThzSyncError(f"actions: found {name!r}; use one of full, uniform")
    return Full(capacity, steps, levels)


def _checked(given: object, sizes: IntArray) -> IntArray:
    """The numbers, each from 0 on and below its size."""
    try:
        choice = np.asarray(given)
    except ValueError:  # lists of different lengths
        choice = np.asarray(None)
    if choice.shape != sizes.shape or not np.issubdtype(choice.dtype, np.integer):
        raise ThzSyncError(
            f"action: needs {sizes.size} whole number{'s' if sizes.shape else ''}, as "
            f"env.action_space.sample() does; found {choice.dtype} of shape {choice.shape}"
        )
    outside = (choice < 0) | (choice >= sizes)
    if outside.any():
        place = int(np.argmax(outside))
        raise ThzSyncError(
            f"action: number {place} is {choice.flat[place]}; use 0..{sizes.flat[place] - 1}"
        )
    return choice.astype(np.int64)
