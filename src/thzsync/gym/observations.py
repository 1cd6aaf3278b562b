"""Situations as arrays of fixed size: the rows of our learners, padded, with masks."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from gymnasium import spaces

from thzsync.arrays import FloatArray
from thzsync.coordinator import Situation, features
from thzsync.gym.capacity import Capacity
from thzsync.scenario import Scenario

Observation: TypeAlias = dict[str, Any]
"""One array per key of the space; ``collective`` is a number."""


class Observations:
    """The observation space of a scenario, and situations as its elements.

    - ``rows``: a row per unit (eq:bandit_flow_context): source, destination, log of its chunks,
      whether it is a straggler, queued bytes, shared buffer, log of the number of units, then a
      signal-to-noise ratio per subband. Normalised as for our own learners
      (``coordinator.features``), and cut at the bounds, which packets never exceed.
    - ``unit_mask``: which rows are there; the others are zero.
    - ``sender``: the number of every unit's sender, -1 behind the last unit. Racks that share a
      power budget are one sender.
    - ``sender_mask``: which senders there are.
    - ``collective``: position of the collective's name among those of the scenario.
    """

    def __init__(self, scenario: Scenario, capacity: Capacity) -> None:
        self.capacity = capacity
        self._best_first = scenario.coordinator.gains == "sorted"
        self._low, self._high = _bounds(scenario, capacity)
        shape = (capacity.units, len(self._low))
        low, high = (np.broadcast_to(b, shape).astype(np.float32) for b in (self._low, self._high))
        self.space: spaces.Dict = spaces.Dict(
            {
                "rows": spaces.Box(low, high, dtype=np.float32),
                "unit_mask": spaces.MultiBinary(capacity.units),
                "sender": spaces.Box(-1, capacity.senders - 1, (capacity.units,), np.int64),
                "sender_mask": spaces.MultiBinary(capacity.senders),
                "collective": spaces.Discrete(len(capacity.collectives)),
            }
        )

    def of(self, situation: Situation | None) -> Observation:
        """The event to decide; zeros after the last decision."""
        observation: Observation = {
            "rows": np.zeros((self.capacity.units, len(self._low)), dtype=np.float32),
            "unit_mask": np.zeros(self.capacity.units, dtype=np.int8),
            "sender": np.full(self.capacity.units, -1, dtype=np.int64),
            "sender_mask": np.zeros(self.capacity.senders, dtype=np.int8),
            "collective": np.int64(0),
        }
        if situation is not None:
            self._fill(observation, situation)
        return observation

    def _fill(self, observation: Observation, situation: Situation) -> None:
        offer = situation.offer
        self.capacity.check(situation.decision, offer)
        rows = features.featurise(situation, self._best_first).rows
        observation["rows"][: offer.units] = np.clip(rows, self._low, self._high)
        observation["unit_mask"][: offer.units] = 1
        observation["sender"][: offer.units] = offer.group
        observation["sender_mask"][: offer.groups] = 1
        observation["collective"] = np.int64(self.capacity.collectives.index(offer.kind))


def _bounds(scenario: Scenario, capacity: Capacity) -> tuple[FloatArray, FloatArray]:
    """Least and greatest value of every column of a row."""
    optical, fixed = scenario.optical, features.FIXED_COLUMNS
    columns = fixed + scenario.thz.subbands
    low, high = np.zeros(columns), np.ones(columns)
    high[2] = 63 / features.LOG_COUNT  # as many chunks as 64 bits can count
    high[4] = (optical.nic_queue_bytes + 2 * optical.output_queue_bytes) / features.QUEUE_BYTES
    high[6] = np.log2(capacity.units + 1) / features.LOG_COUNT
    low[fixed:], high[fixed:] = -features.GAIN_LIMIT, features.GAIN_LIMIT
    return low, high
