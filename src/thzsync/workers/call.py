"""What processes send each other: a call by name, how far it is, and its answer."""

from __future__ import annotations

import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Final, cast

from thzsync.errors import ThzSyncError, in_one_line, interrupted
from thzsync.version import __version__

Function = Callable[[bytes], bytes]
News = Callable[[int, float], object]
"""Is told the position of a call, and which share of it is done."""

NEWS_EVERY_S: Final = 0.5
"""Time between two pieces of news, at least [s]."""
_ONE_AT_A_TIME = threading.Lock()  # a Dask worker may have threads; captured warnings are global
_listening: list[tuple[Callable[[float], object], list[float]]] = []


@dataclass(frozen=True)
class Call:
    """A function of the package, ``module:name``, and the bytes that it takes."""

    function: str
    payload: bytes
    version: str = __version__
    """Who asks; a worker of another version would mix two programs' numbers."""


@dataclass(frozen=True)
class Answer:
    """What a call returned, or why it did not."""

    payload: bytes = b""
    error: str | None = None
    """One line; ``None`` after success."""
    traceback: str = ""
    warnings: tuple[str, ...] = ()


def carry_out(call: Call) -> Answer:
    """Do what is asked, here. Whatever goes wrong becomes part of the answer."""
    with _ONE_AT_A_TIME, warnings.catch_warnings(record=True) as caught:
        try:
            answer = Answer(_find(call)(call.payload))
        except Exception as problem:
            if interrupted(problem):
                raise
            answer = Answer(error=in_one_line(problem), traceback=traceback.format_exc())
    texts = dict.fromkeys(" ".join(str(found.message).split()) for found in caught)
    return replace(answer, warnings=tuple(texts))


def _find(call: Call) -> Function:
    if call.version != __version__:
        raise ThzSyncError(
            f"a worker has thzsync {__version__} but was asked by {call.version}; "
            f"install one version everywhere"
        )
    module, _, name = call.function.partition(":")
    return cast(Function, getattr(import_module(module), name))


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
def hearing(hear: Callable[[float], object]) -> Iterator[None]:
    """Listen to the shares that calls tell here; nothing is worth telling at once."""
    _listening.append((hear, [time.monotonic() + NEWS_EVERY_S]))
    try:
        yield
    finally:
        _listening.pop()
