"""The ranks that a group's name stands for."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from thzsync.errors import ThzSyncError
from thzsync.importers.bounded import read_json

Groups = dict[str, tuple[int, ...]]

_CONFIGURATION = re.compile(r"\[\s*\{.*\}\s*\]", re.DOTALL)
_MOST_RANKS = 1 << 31
_EVERYBODY = ("", "0")
"""Names that mean all ranks, unless a group has that name."""


def read_groups(path: Path) -> Groups:
    """A group file: {"name": [ranks]}."""
    found = read_json(path)
    if not isinstance(found, dict):
        raise ThzSyncError(f'{path}: not a group file; write {{"name": [ranks]}}')
    return {name: _ranks(ranks, f"{path}: group {name!r}") for name, ranks in found.items()}


def pytorch_groups(values: str, world: Sequence[int], place: str) -> Groups:
    """Groups from PyTorch's ``process_group:init``; an empty list of ranks means all ranks."""
    match = _CONFIGURATION.search(values.replace('\\"', '"'))
    try:
        found = json.loads(match[0]) if match else []
    except (ValueError, RecursionError):
        found = []
    return configured(found, world, place)


def configured(found: Any, world: Sequence[int], place: str) -> Groups:
    """Groups from a list of tables with ``pg_name`` and ``ranks``, as PyTorch writes them."""
    groups = {}
    for entry in found if isinstance(found, list) else ():
        if isinstance(entry, dict) and "pg_name" in entry:
            name = str(entry["pg_name"])
            ranks = entry.get("ranks") or list(world)
            groups[name] = _ranks(ranks, f"{place}: group {name!r}")
    return groups


def members(name: str, groups: Groups, world: tuple[int, ...], place: str) -> tuple[int, ...]:
    """The ranks of a group; refuse an unknown name."""
    if name in groups:
        return groups[name]
    if name in _EVERYBODY:
        return world
    raise ThzSyncError(
        f"{place}: group {name!r} is not explained; give the group file with --groups FILE"
    )


def _ranks(listed: Any, place: str) -> tuple[int, ...]:
    ranks = listed if isinstance(listed, list) else []
    whole = all(type(rank) is int and 0 <= rank < _MOST_RANKS for rank in ranks)
    if not ranks or not whole or len(set(ranks)) < len(ranks):
        raise ThzSyncError(f"{place}: it must be a list of different ranks")
    return tuple(sorted(ranks))
