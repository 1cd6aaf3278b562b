"""A session as a Gymnasium environment: importing this registers it under :data:`ID`.

``gymnasium.make("thzsync.gym:thzsync/Collectives-v0", scenario="tiny")`` imports it on the way.
It needs the extra ``rl``.
"""

from __future__ import annotations

from typing import Final

from thzsync.errors import ThzSyncError

try:
    import gymnasium
except ImportError:
    raise ThzSyncError(
        "thzsync.gym: Gymnasium is not installed; install it with `pip install 'thzsync[rl]'`"
    ) from None

from thzsync.gym.environment import CollectivesEnv
from thzsync.gym.vector import CollectivesVectorEnv

ID: Final = "thzsync/Collectives-v0"
"""Name of the environment in Gymnasium."""

gymnasium.register(
    ID,
    entry_point="thzsync.gym.environment:CollectivesEnv",
    vector_entry_point="thzsync.gym.vector:CollectivesVectorEnv",
)

__all__ = ["ID", "CollectivesEnv", "CollectivesVectorEnv"]
