"""How far a call is that is under way: told from inside of it, heard by whoever waits for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

NEWS_EVERY_S: Final = 0.5
"""Time between two pieces of news, at least [s]."""
Hear = Callable[[float], object]
"""Is told which share of a call is done."""
News = Callable[[int, float], object]
"""Is told the position of a call, and which share of it is done."""

_listening: list[tuple[Hear, list[float]]] = []


def heard() -> bool:
    """Whether somebody listens to the call under way."""
    return bool(_listening)


def tell(share: float) -> None:
    """Say which share of this call is done; it may be said as often as one likes."""
    for hear, next_s in _listening[-1:]:
        now_s = time.monotonic()
        if now_s >= next_s[0]:
            next_s[0] = now_s + NEWS_EVERY_S
            hear(share)


@contextmanager
def hearing(hear: Hear) -> Iterator[None]:
    """Listen to the calls that are carried out here; nothing is worth telling at once."""
    _listening.append((hear, [time.monotonic() + NEWS_EVERY_S]))
    try:
        yield
    finally:
        _listening.pop()
