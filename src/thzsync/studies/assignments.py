"""Axes as the command line writes them: ``--set KEY=A,B,C`` and ``--zip KEY,KEY``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from thzsync.errors import ThzSyncError
from thzsync.scenario.changes import parse_assignment, parse_value

_OPENING, _CLOSING = "[{", "]}"


def read_assignments(changes: Sequence[str], zipped: Sequence[str]) -> dict[str, Any]:
    """The parts of a specification that the options say; empty parts are left out."""
    values: dict[str, list[Any]] = {}
    for text in changes:
        key, value = parse_assignment(text)
        if key in values:
            raise ThzSyncError(f"--set: {key} is set twice; give all its values at once")
        values[key] = [parse_value(part.strip()) for part in split_values(value)]
    groups = [_group(text, values) for text in zipped]
    parts = {
        "set": {key: found[0] for key, found in values.items() if len(found) == 1},
        "axes": {key: found for key, found in values.items() if len(found) > 1},
        "zipped": groups,
    }
    return {name: part for name, part in parts.items() if part}


def split_values(text: str) -> Iterator[str]:
    """Cut at commas, but not inside brackets or quotes."""
    depth, quote, start = 0, "", 0
    for position, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign == "," and depth == 0:
            yield text[start:position]
            start = position + 1
        else:
            depth += (sign in _OPENING) - (sign in _CLOSING)
    yield text[start:]


def _group(text: str, values: dict[str, list[Any]]) -> dict[str, list[Any]]:
    keys = [key.strip() for key in text.split(",")]
    for key in keys:
        if key not in values:
            raise ThzSyncError(f"--zip: {key} has no values; give them with --set {key}=A,B,C")
    return {key: values.pop(key) for key in keys}
