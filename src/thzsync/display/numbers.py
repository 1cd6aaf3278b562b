"""Numbers as people read them: few digits, a unit that fits their size, a line of bars."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import floor, isfinite, log10
from typing import Final

DASH: Final = "–"
"""Stands where a value is missing."""
MINUS: Final = "\N{MINUS SIGN}"

LADDERS: Final = (
    (("ns", 1e-6), ("µs", 1e-3), ("ms", 1.0), ("s", 1e3)),
    (("nJ", 1e-9), ("µJ", 1e-6), ("mJ", 1e-3), ("J", 1.0), ("kJ", 1e3)),
)
"""Units that may stand for each other, rising, each with its size in the ladder's own unit."""
_SI: Final = (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0))
_BINARY: Final = (("Ti", 2.0**40), ("Gi", 2.0**30), ("Mi", 2.0**20), ("Ki", 2.0**10))
_SMALL: Final = (("", 1.0), ("m", 1e-3), ("µ", 1e-6), ("n", 1e-9), ("p", 1e-12))
PREFIXED: Final = {
    "bit/s": ("b/s", _SI),
    "Hz": ("Hz", _SI),
    "bytes": ("B", _BINARY),
    "W": ("W", (("k", 1e3), *_SMALL[:-1])),
    "J/bit/hop": ("J/bit/hop", _SMALL),
    "J/bit": ("J/bit", _SMALL),
}
"""How units of scenario keys are written, and their prefixes, falling."""
_LEAST: Final = 0.1
_MOST: Final = 10_000.0


def number(value: object, digits: int = 4, pad: bool = False) -> str:
    """A value's text: numbers with few digits (``pad`` keeps zeros), a dash for what is missing."""
    if value is None or (isinstance(value, float) and not isfinite(value)):
        return DASH
    if not isinstance(value, float):
        return str(value)
    rounded = float(f"{value:.{digits}g}")
    if 0 < abs(rounded) < 1e-4:
        text = f"{rounded:.{digits}g}"
    else:
        decimals = max(0, digits - 1 - floor(log10(abs(rounded)))) if rounded else 0
        text = f"{rounded:,.{decimals}f}"
        text = text if pad or "." not in text else text.rstrip("0").rstrip(".")
    return text.replace("-", MINUS, 1) if text.startswith("-") else text


def half_width(mean: float | None, half: float | None, pad: bool = False) -> str:
    """The half-width of an interval with two digits; nothing where it is unknown.

    It is ``0`` where it is less than half a unit in the fourth digit of the mean: less than what
    is shown of the mean, such as the rounding error of a sum that is the same in every seed.
    """
    if half is None or not isfinite(half):
        return ""
    if mean is not None and half < 0.5e-3 * 10.0 ** floor(log10(abs(mean) or 1e-300)):
        return "0"
    return number(half, 2, pad)


def counted(number: int, noun: str) -> str:
    """How many of something, such as ``1 run`` or ``1,200 runs``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def signed(value: float | None, digits: int = 4) -> str:
    """A number that says its sign also where it is positive."""
    return f"+{number(value, digits)}" if value is not None and value > 0 else number(value, digits)


def fitting_unit(unit: str, largest: float | None) -> tuple[str, float]:
    """The unit that suits values up to ``largest``, and the factor that takes values to it.

    A unit is kept while the largest value lies between a tenth and ten thousand.
    """
    ladder = next((rungs for rungs in LADDERS if unit in dict(rungs)), None)
    size = abs(largest or 0.0)
    if ladder is None or not isfinite(size) or _LEAST <= size < _MOST or size == 0.0:
        return unit, 1.0
    own = dict(ladder)[unit]
    fitting = [(name, rung) for name, rung in ladder if size * own / rung >= 1.0]
    name, rung = fitting[-1] if fitting else ladder[0]
    return name, own / rung


def with_unit(value: float, unit: str, digits: int = 4) -> str:
    """A number of a base unit with a prefix that fits: ``5 Gb/s`` for 5e9 bit/s, ``512 KiB``."""
    if unit in ("s", "J"):
        return quantity(1e3 * value, "ms", digits) if unit == "s" else quantity(value, "J", digits)
    name, steps = PREFIXED.get(unit, (unit, ()))
    fitting = next((step for step in steps if 0 < step[1] <= abs(value)), ("", 1.0))
    return f"{number(float(value) / fitting[1], digits)} {fitting[0]}{name}".rstrip()


def quantity(value: float | None, unit: str, digits: int = 4, largest: float | None = None) -> str:
    """A number with the unit that fits its size, such as ``62.92 s`` for 62,920 ms.

    Beside a larger number of the same sentence, ``largest`` decides, so that both read alike.
    """
    if value is None:
        return DASH
    name, factor = fitting_unit(unit, value if largest is None else largest)
    return f"{number(value * factor, digits)} {name}"


def with_half(value: float, half: float | None, unit: str, digits: int = 4) -> str:
    """A mean and the half-width of its interval, such as ``207.3 ± 3.7 ms``, as far as known.

    The mean has no digit below the last one of the half-width.
    """
    name, factor = fitting_unit(unit, value)
    mean, width = value * factor, half and half * factor
    text = half_width(mean, width)
    if text and text != "0" and width and mean:
        digits = max(1, min(digits, 2 + floor(log10(abs(mean))) - floor(log10(width))))
    return f"{number(mean, digits)}{f' ± {text}' if text else ''} {name}".rstrip()


def sparkline(values: Sequence[float], width: int = 40, plain: bool = False) -> str:
    """Values as one line of bars, lowest to highest; a gap where a value is not finite.

    More values than ``width`` are averaged in groups. ``plain`` keeps to ASCII.
    """
    shown = _squeeze(values, width)
    finite = [v for v in shown if isfinite(v)]
    low, high = min(finite, default=0.0), max(finite, default=0.0)
    marks = "_.-=+*%#" if plain else "▁▂▃▄▅▆▇█"
    top = len(marks) - 1
    places = [
        (round(top * (v - low) / (high - low)) if high > low else top // 2) if isfinite(v) else None
        for v in shown
    ]
    return "".join(" " if place is None else marks[place] for place in places)


def _squeeze(values: Sequence[float], width: int) -> list[float]:
    count = len(values)
    if count <= width:
        return list(values)
    edges = [count * k // width for k in range(width + 1)]
    return [sum(values[a:b]) / (b - a) for a, b in pairwise(edges) if b > a]
