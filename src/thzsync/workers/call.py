"""What crosses the border between processes: a call by name, and its answer."""

from __future__ import annotations

import threading
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import cast

from thzsync.errors import ThzSyncError, interrupted
from thzsync.version import __version__

Function = Callable[[bytes], bytes]

_ONE_AT_A_TIME = threading.Lock()  # a Dask worker may have threads; captured warnings are global


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
        answer = _attempt(call)
    texts = dict.fromkeys(" ".join(str(found.message).split()) for found in caught)
    return Answer(answer.payload, answer.error, answer.traceback, tuple(texts))


def _attempt(call: Call) -> Answer:
    try:
        return Answer(_find(call)(call.payload))
    except Exception as problem:
        if interrupted(problem):
            raise
        return Answer(error=in_one_line(problem), traceback=traceback.format_exc())


def in_one_line(problem: BaseException) -> str:
    """An exception as a line; the type's name helps where the message was not ours."""
    text = " ".join(str(problem).split())
    return text if isinstance(problem, ThzSyncError) else f"{type(problem).__name__}: {text}"


def _find(call: Call) -> Function:
    if call.version != __version__:
        raise ThzSyncError(
            f"a worker has thzsync {__version__} but was asked by {call.version}; "
            f"install one version everywhere"
        )
    module, _, name = call.function.partition(":")
    return cast(Function, getattr(import_module(module), name))
