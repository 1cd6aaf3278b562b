"""The replay memory: padded, masked samples in the order they came, the oldest leaving first."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from thzsync.arrays import AnyArray, BoolArray, FloatArray, IntArray
from thzsync.coordinator.encoder import Batch
from thzsync.coordinator.features import ACTION_COLUMNS, Events, Features, group_flows


class Replay:
    """A ring of samples in arrays that grow with the number and the width of what is stored."""

    def __init__(self, capacity: int, inputs: int, actions: int = ACTION_COLUMNS) -> None:
        self.capacity = capacity
        self.contexts = inputs - actions
        self.added = 0
        self.rows: FloatArray = np.zeros((0, 0, inputs))
        self.group: IntArray = np.zeros((0, 0), dtype=np.int64)
        self.chunks: IntArray = np.zeros((0, 0), dtype=np.int64)
        self.reward: FloatArray = np.zeros(0)

    def __len__(self) -> int:
        return min(self.added, self.capacity)

    def add(self, features: Features, action: FloatArray, reward: float) -> int:
        """Store a sample; its serial number. A reward of NaN is one that has yet to come."""
        flows = len(features.rows)
        serial = self.added
        slot = serial % self.capacity
        self._make_room(slot + 1, flows)
        self.rows[slot] = 0.0
        self.rows[slot, :flows, : self.contexts] = features.rows
        self.rows[slot, :flows, self.contexts :] = action
        self.group[slot] = -1
        self.group[slot, :flows] = features.group
        self.chunks[slot, :flows] = features.chunks
        self.reward[slot] = reward
        self.added += 1
        return serial

    def holds(self, serial: int) -> bool:
        """Whether a sample is still (or already) in the memory."""
        return self.added - len(self) <= serial < self.added

    def batch(self, slots: IntArray) -> Batch:
        """Samples with their actions, padded to the widest of them."""
        group = self.group[slots]
        width = int((group >= 0).sum(axis=1).max(initial=0))
        return Batch(self.rows[slots, :width], np.ascontiguousarray(group[:, :width]))

    @property
    def memory(self) -> Batch:
        """Everything stored, to be read by slot; a view, which the next ``add`` may overwrite."""
        return Batch(self.rows[: len(self)], self.group[: len(self)])

    def features(self, slot: int, levels: FloatArray) -> Features:
        """The context of one sample, without its action."""
        flows = int((self.group[slot] >= 0).sum())
        rows = self.rows[slot, :flows, : self.contexts].copy()
        return group_flows(rows, self.group[slot, :flows], self.chunks[slot, :flows], levels)

    @property
    def known(self) -> BoolArray:
        """Slots whose reward has come."""
        return np.isfinite(self.reward[: len(self)])

    def state(self) -> dict[str, AnyArray]:
        """Everything stored, as arrays."""
        size = len(self)
        return {
            "rows": self.rows[:size],
            "group": self.group[:size],
            "chunks": self.chunks[:size],
            "reward": self.reward[:size],
            "added": np.array([self.added]),
        }

    def restore(self, state: dict[str, AnyArray]) -> None:
        """The inverse of ``state``."""
        self.rows, self.group = state["rows"], state["group"]
        self.chunks, self.reward = state["chunks"], state["reward"]
        self.added = int(state["added"][0])

    def _make_room(self, samples: int, width: int) -> None:
        old_samples, old_width = self.group.shape
        if samples <= old_samples and width <= old_width:
            return
        wider = max(width, old_width)
        more = old_samples if samples <= old_samples else min(2 * samples, self.capacity)
        self.rows = _grown(self.rows, (more, wider, self.rows.shape[2]), 0)
        self.group = _grown(self.group, (more, wider), -1)
        self.chunks = _grown(self.chunks, (more, wider), 0)
        self.reward = _grown(self.reward, (more,), np.nan)


class Contexts:
    """The features of the events in a replay memory, by slot, ready to be searched again."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.events: Events | None = None

    def put(self, slot: int, features: Features) -> None:
        """Take the place of what was in a slot."""
        flows, senders = len(features.group), len(features.start) - 1
        events = self.events = self._roomy(slot + 1, flows, features)
        events.rows[slot, :flows] = features.rows
        events.group[slot, :flows] = features.group
        events.members[slot, :flows] = features.members
        events.start[slot, : senders + 1] = features.start
        events.chunks[slot, :flows] = features.chunks
        events.air[slot, :flows] = features.air
        events.size[slot] = flows, senders

    def of(self, replay: Replay, levels: FloatArray) -> Events:
        """All events of a memory; those that are not here yet, as it was restored, are added."""
        held = np.zeros(len(replay), dtype=np.bool_)
        if self.events is not None:
            flows = self.events.size[: len(replay), 0]
            held[: len(flows)] = flows > 0
        for slot in np.flatnonzero(~held).tolist():
            self.put(slot, replay.features(slot, levels))
        assert self.events is not None
        return self.events

    def _roomy(self, slots: int, flows: int, like: Features) -> Events:
        """The arrays, large enough; an empty place has a chunk, so that its share is zero."""
        whole: IntArray = np.zeros((0, 0), dtype=np.int64)
        held = self.events or Events(
            np.zeros((0, 0, like.rows.shape[1])), whole, whole, whole, whole,
            np.zeros((0, 0, like.air.shape[1])), np.zeros((0, 2), dtype=np.int64),
        )  # fmt: skip
        old_slots, old_flows = held.group.shape
        if slots <= old_slots and flows <= old_flows:
            return held
        more = min(2 * slots, self.capacity) if slots > old_slots else old_slots
        wider = max(flows, old_flows)
        return Events(
            _grown(held.rows, (more, wider, held.rows.shape[2]), 0),
            _grown(held.group, (more, wider), 0),
            _grown(held.members, (more, wider), 0),
            _grown(held.start, (more, wider + 1), 0),
            _grown(held.chunks, (more, wider), 1),
            _grown(held.air, (more, wider, held.air.shape[2]), 0),
            _grown(held.size, (more, 2), 0),
        )


def under(state: Mapping[str, AnyArray], prefix: str) -> dict[str, AnyArray]:
    """The part of a saved state whose names begin with ``prefix``, without it."""
    return {k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)}


def _grown(old: AnyArray, shape: tuple[int, ...], fill: float) -> AnyArray:
    new = np.full(shape, fill, dtype=old.dtype)
    new[tuple(slice(0, n) for n in old.shape)] = old
    return new
