"""How far ours is from a published value, and how good that is."""

from __future__ import annotations

from typing import Any, Final

from thzsync.display.numbers import DASH, MINUS

NEAR_PCT: Final = 5.0
FAIR_PCT: Final = 15.0


def deviation_pct(ours: Any, published: Any) -> float | None:
    """How far ours is from the published value, relative to its size [%]."""
    if ours is None or not published:
        return None
    return float(100 * (ours - published) / abs(published))


def shown_pct(percent: float) -> float:
    """The deviation as it is printed; this is what is judged, so that text and colour agree."""
    return round(percent, 1)


def deviation_text(percent: float | None) -> str:
    """A signed percentage, or a dash where nothing was published."""
    if percent is None:
        return DASH
    shown = shown_pct(percent)
    sign = "+" if shown > 0 else MINUS if shown < 0 else ""
    return f"{sign}{abs(shown):.1f} %"


def deviation_tone(percent: float) -> str:
    """``near``, ``fair`` or ``far``."""
    size = abs(shown_pct(percent))
    return "near" if size <= NEAR_PCT else "fair" if size <= FAIR_PCT else "far"
