"""Sizes from callers, read like those of a scenario."""

from __future__ import annotations

from typing import Any

from thzsync.errors import ThzSyncError


def read_bytes(given: Any, place: str) -> int:
    """A size such as 4194304, ``"4194304"`` or ``"4 MiB"`` [bytes]."""
    from pydantic import TypeAdapter, ValidationError

    from thzsync.scenario.base import Bytes
    from thzsync.scenario.explain import explain

    plain = isinstance(given, str) and given.lstrip("-").isdecimal()
    try:
        found: int = TypeAdapter(Bytes).validate_python(f"{given} B" if plain else given)
    except ValidationError as error:
        raise ThzSyncError(f"{place}: {explain(error)[0].removeprefix(': ')}") from None
    return found
