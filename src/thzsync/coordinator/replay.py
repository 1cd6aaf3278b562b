"""The replay memory: padded, masked samples in a ring buffer."""

from __future__ import annotations

import numpy as np

from thzsync.arrays import AnyArray, BoolArray, FloatArray, IntArray
from thzsync.coordinator.encoder import Batch
from thzsync.coordinator.features import ACTION_COLUMNS, Events, Features, air_time
from thzsync.coordinator.interface import State


class Replay:
    """A ring buffer whose arrays grow with the number and the width of the samples."""

    def __init__(
        self, capacity: int, inputs: int, levels: FloatArray, actions: int = ACTION_COLUMNS
    ) -> None:
        self.capacity = capacity
        self.levels = levels
        self.contexts = inputs - actions
        self.added = 0
        self.rows: FloatArray = np.zeros((0, 0, inputs))
        self.group: IntArray = np.zeros((0, 0), dtype=np.int64)
        self.chunks: IntArray = np.zeros((0, 0), dtype=np.int64)
        self.air: FloatArray = np.zeros((0, 0, 0))
        """Stored because computing it from rows and levels for every search would take too long."""
        self.reward: FloatArray = np.zeros(0)

    def __len__(self) -> int:
        return min(self.added, self.capacity)

    def add(self, features: Features, action: FloatArray, reward: float) -> int:
        """Store a sample and return its serial number; the reward is NaN until it is known."""
        flows = len(features.rows)
        serial = self.added
        slot = serial % self.capacity
        self._make_room(slot + 1, *features.air.shape)
        self.rows[slot] = 0.0
        self.rows[slot, :flows, : self.contexts] = features.rows
        self.rows[slot, :flows, self.contexts :] = action
        self.group[slot] = -1
        self.group[slot, :flows] = features.group
        self.chunks[slot, :flows] = features.chunks
        self.air[slot, :flows] = features.air
        self.reward[slot] = reward
        self.added += 1
        return serial

    def holds(self, serial: int) -> bool:
        """Whether a sample is in the memory."""
        return self.added - len(self) <= serial < self.added

    def events(self, slots: IntArray) -> Events:
        """Samples as events to be searched, padded to the widest of them."""
        width = int((self.group[slots] >= 0).sum(axis=1).max(initial=0))
        at = slots, slice(width)
        rows, group, chunks, air = self.rows[at], self.group[at], self.chunks[at], self.air[at]
        return Events(rows, group, chunks, air, self.contexts)

    @property
    def memory(self) -> Batch:
        """All samples, by slot; a view, which the next ``add`` may overwrite."""
        return Batch(self.rows[: len(self)], self.group[: len(self)])

    @property
    def known(self) -> BoolArray:
        """Slots whose reward is known."""
        return np.isfinite(self.reward[: len(self)])

    def state(self) -> dict[str, AnyArray]:
        """Everything stored, as arrays."""
        names = ("rows", "group", "chunks", "reward")
        arrays = {name: getattr(self, name)[: len(self)].copy() for name in names}
        return arrays | {"added": np.array([self.added])}

    def restore(self, state: dict[str, AnyArray]) -> None:
        """The inverse of ``state``."""
        self.rows, self.group = state["rows"], state["group"]
        self.chunks, self.reward = state["chunks"], state["reward"]
        self.added = int(state["added"][0])
        contexts = self.rows[..., : self.contexts].reshape(-1, self.contexts)
        self.air = air_time(contexts, self.levels).reshape(*self.group.shape, len(self.levels))

    def _make_room(self, samples: int, width: int, levels: int) -> None:
        old_samples, old_width = self.group.shape
        if samples <= old_samples and width <= old_width:
            return
        wider = max(width, old_width)
        more = old_samples if samples <= old_samples else min(2 * samples, self.capacity)
        self.rows = _grown(self.rows, (more, wider, self.rows.shape[2]), 0)
        self.group = _grown(self.group, (more, wider), -1)
        self.chunks = _grown(self.chunks, (more, wider), 0)
        self.air = _grown(self.air, (more, wider, levels), 0)
        self.reward = _grown(self.reward, (more,), np.nan)


def under(state: State, prefix: str) -> State:
    """Copies of the arrays of a state whose names begin with ``prefix``, without it."""
    return {k.removeprefix(prefix): v.copy() for k, v in state.items() if k.startswith(prefix)}


def _grown(old: AnyArray, shape: tuple[int, ...], fill: float) -> AnyArray:
    new = np.full(shape, fill, dtype=old.dtype)
    new[tuple(slice(0, n) for n in old.shape)] = old
    return new
