"""Where every learning model gets its randomness from."""

from __future__ import annotations

from typing import Final

from thzsync.streams import name_key

_NUMBERED: Final = {"p2p": 0, "a2a": 1, "allreduce": 2, "shared": 3, "ddqn": 4}
"""Models that had a number before collectives became open; their draws stay what they were."""


def model_stream(name: str) -> tuple[int, ...]:
    """Path of a model's draws in the policy stream: its own, whatever other models there are."""
    number = _NUMBERED.get(name)
    return (number,) if number is not None else (len(_NUMBERED), name_key(name))
