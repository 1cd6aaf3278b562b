"""Variants of a scenario: some keys changed, everything validated again."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from thzsync.errors import ThzSyncError
from thzsync.scenario.files import validated
from thzsync.scenario.overlays import with_overlays

if TYPE_CHECKING:
    from thzsync.scenario.scenario import Scenario

OVERLAY: Final = "overlay"
"""The key under which changes name an overlay; scenarios do not have it."""


def changed(scenario: Scenario, changes: Mapping[str, Any], source: str) -> Scenario:
    """The scenario with other values under some dotted keys; ``None`` removes a key.

    A job is named by its position or its name: ``jobs.0.training...`` or
    ``jobs.train.training...``. The key ``overlay`` names an overlay, which comes before all keys.
    Error messages name ``source``.
    """
    if OVERLAY in changes:
        scenario = with_overlays(scenario, [changes[OVERLAY]])
        changes = {key: value for key, value in changes.items() if key != OVERLAY}
    values = scenario.model_dump(mode="json", exclude_none=True)
    for key, value in sorted(changes.items(), key=lambda item: not item[0].endswith(".kind")):
        *path, last = key.split(".")
        place = values
        for depth, part in enumerate(path):
            place = _enter(place, part, ".".join(path[:depth]), source)
        _assign(place, last, value, key, source)
    return validated(values, source)


def value_at(scenario: Scenario, key: str) -> Any:
    """The value of a dotted key in the resolved scenario; ``None`` if there is none."""
    place: Any = scenario.model_dump(mode="json")
    *path, last = key.split(".")
    for depth, part in enumerate(path):
        place = _enter(place, part, ".".join(path[:depth]), key)
    return place[_position(place, last, key, key)] if isinstance(place, list) else place.get(last)


def parse_assignment(text: str) -> tuple[str, str]:
    """The key and the value's text of ``KEY=VALUE``."""
    key, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not all(key.split(".")):
        raise ThzSyncError(f"--set: found {text!r}; write KEY=VALUE, such as thz.subbands=8")
    return key, value


def parse_value(text: str) -> Any:
    """A value as TOML writes it; bare words and quantities are texts, an empty text is ``None``."""
    if not text:
        return None
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def parse_changes(assignments: Iterable[str]) -> dict[str, Any]:
    """The changes that ``--set KEY=VALUE`` options ask for; each key once."""
    changes: dict[str, Any] = {}
    for text in assignments:
        key, value = parse_assignment(text)
        if key in changes:
            raise ThzSyncError(f"--set: {key} is set twice; set it once")
        changes[key] = parse_value(value)
    return changes


def _enter(place: Any, part: str, above: str, source: str) -> Any:
    if isinstance(place, list):
        return place[_position(place, part, above, source)]
    inner = place.setdefault(part, {})
    if not isinstance(inner, (dict, list)):
        name = f"{above}.{part}" if above else part
        raise ThzSyncError(f"{source}: {name} is {inner!r} and has no keys of its own")
    return inner


def _assign(place: Any, last: str, value: Any, key: str, source: str) -> None:
    if isinstance(place, list):
        place[_position(place, last, key.rpartition(".")[0], source)] = value
    elif value is None:
        place.pop(last, None)
    elif last == "kind" and place.get(last) != value:
        place.clear()  # a floor or network of another kind has other keys
        place[last] = value
    else:
        place[last] = value


def _position(items: list[Any], part: str, above: str, source: str) -> int:
    """The place of an item in a list, by its position or its name."""
    names = [item.get("name") if isinstance(item, dict) else None for item in items]
    if part in names:
        return names.index(part)
    if part.isdecimal() and int(part) < len(items):
        return int(part)
    known = [str(k) for k in range(len(items))] + [name for name in names if name]
    remedy = f"use one of {', '.join(known)}" if known else "the list is empty"
    raise ThzSyncError(f"{source}: {above}.{part}: no such item; {remedy}")
