"""JSON and YAML documents: numbers, texts, lists and mappings.

A YAML document is made of its events, so nothing in it is ever executed or repeated: tags and
aliases are refused, nesting is limited, and it takes a tenth of the time of ``yaml.safe_load``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, Final

from thzsync.errors import ThzSyncError
from thzsync.network.importers.source import Source, shown

MOST_EVENTS: Final = 4_000_000
MOST_LETTERS: Final = 4096
"""Of one text in a YAML file."""
DEEPEST: Final = 64
_WHOLE: Final = re.compile(r"[-+]?[0-9]{1,18}")
_NUMBER: Final = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
_NOTHING: Final = ("", "~", "null")


def read_json(source: Source, text: str) -> Any:
    """The contents of a JSON file."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return _mapping(source, "", pairs)

    try:
        return json.loads(text, object_pairs_hook=once)
    except ThzSyncError:
        raise
    except RecursionError:
        raise source.wrong("", "lists nested too deep", "give a topology") from None
    except ValueError as error:
        raise source.wrong("", f"not valid JSON ({_reason(error)})", "repair it") from None


def read_yaml(source: Source, text: str) -> Any:
    """The contents of a YAML file."""
    import yaml

    try:
        return _made(source, yaml.parse(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    except yaml.YAMLError as error:
        raise source.wrong("", f"not valid YAML ({_reason(error)})", "repair it") from None


def _made(source: Source, events: Iterable[Any]) -> Any:
    documents: list[Any] = []
    stack = [documents]
    for count, event in enumerate(events):
        name = type(event).__name__
        place = f"line {event.start_mark.line + 1}" if event.start_mark else ""
        if count > MOST_EVENTS or len(stack) > DEEPEST or len(documents) > 1:
            raise source.wrong(place, "too many values, levels or documents", "give one topology")
        if name == "AliasEvent" or getattr(event, "tag", None):
            raise source.wrong(place, "an alias or a tag", "write the value itself")
        if name == "ScalarEvent":
            stack[-1].append(_scalar(source, event, place))
        elif name in ("MappingStartEvent", "SequenceStartEvent"):
            stack.append([])
        elif name == "SequenceEndEvent":
            values = stack.pop()
            stack[-1].append(values)
        elif name == "MappingEndEvent":
            values = stack.pop()
            pairs = zip(values[::2], values[1::2], strict=True)
            stack[-1].append(_mapping(source, f"before {place}", pairs))
    return documents[0] if documents else None


def _scalar(source: Source, event: Any, place: str) -> Any:
    text: str = event.value
    if len(text) > MOST_LETTERS:
        raise source.wrong(place, f"a text of {len(text)} letters", f"use at most {MOST_LETTERS}")
    if event.style:  # quoted, or a block of text
        return text
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) else None if text in _NOTHING else text


def _mapping(source: Source, place: str, pairs: Iterable[tuple[Any, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if not isinstance(key, str) or key in found:
            problem = f"the key {shown(key)} comes twice, or is no text"
            raise source.wrong(place, problem, "give every value a name of its own")
        found[key] = value
    return found


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:150]
