"""A series as one line of bars, for terminals and notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import isfinite
from typing import Final

_BLOCKS: Final = "▁▂▃▄▅▆▇█"
_PLAIN: Final = "_.-=+*%#"


def sparkline(values: Sequence[float], width: int = 40, plain: bool = False) -> str:
    """Values as one line of bars, lowest to highest; a gap where a value is not finite.

    More values than ``width`` are averaged in groups. ``plain`` keeps to ASCII.
    """
    shown = _squeeze(values, width)
    finite = [v for v in shown if isfinite(v)]
    if not finite:
        return " " * len(shown)
    low, span = min(finite), max(finite) - min(finite)
    marks = _PLAIN if plain else _BLOCKS
    top = len(marks) - 1

    def mark(value: float) -> str:
        if not isfinite(value):
            return " "
        return marks[round(top * (value - low) / span) if span > 0 else top // 2]

    return "".join(map(mark, shown))


def _squeeze(values: Sequence[float], width: int) -> list[float]:
    count = len(values)
    if count <= width:
        return list(values)
    edges = [count * k // width for k in range(width + 1)]
    return [sum(values[a:b]) / (b - a) for a, b in pairwise(edges) if b > a]
