"""Small pictures of results for terminals and notebooks; knows nothing of the domain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise
from math import floor, isfinite, log10
from typing import Final

_BLOCKS: Final = "▁▂▃▄▅▆▇█"
_PLAIN: Final = "_.-=+*%#"
_CELL: Final = "padding:.15em .8em;border-bottom:1px solid rgba(128,128,128,.3);"


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


def number(value: object, digits: int = 4, pad: bool = False) -> str:
    """A cell's text: numbers with few digits (``pad`` keeps zeros), a dash for what is missing."""
    if value is None or (isinstance(value, float) and not isfinite(value)):
        return "–"
    if not isinstance(value, float):
        return str(value)
    rounded = float(f"{value:.{digits}g}")
    if 0 < abs(rounded) < 1e-4:
        text = f"{rounded:.{digits}g}"
    else:
        decimals = max(0, digits - 1 - floor(log10(abs(rounded)))) if rounded else 0
        text = f"{rounded:,.{decimals}f}"
        text = text if pad or "." not in text else text.rstrip("0").rstrip(".")
    return text.replace("-", "\N{MINUS SIGN}", 1) if text.startswith("-") else text


def html_table(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    facts: Mapping[str, object] | None = None,
    caption: str = "",
) -> str:
    """A table that looks after itself in a notebook, light or dark; all text is escaped."""
    head = "".join(
        f'<th scope="col" style="{_cell_style(False)}">{escape(c)}</th>' for c in columns
    )
    body = "".join(f"<tr>{''.join(map(_html_cell, row))}</tr>" for row in rows)
    lead = " · ".join(f"{escape(k)} <b>{escape(number(v))}</b>" for k, v in (facts or {}).items())
    note = f'<div style="opacity:.7;font-size:.9em">{escape(caption)}</div>' if caption else ""
    return (
        f'<div class="thzsync"><div><b>{escape(title)}</b></div><div>{lead}</div>'
        f'<table style="border-collapse:collapse;margin:.4em 0"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>{note}</div>"
    )


def _html_cell(value: object) -> str:
    numeric = isinstance(value, (int, float)) and not isinstance(value, bool)
    return f'<td style="{_cell_style(numeric)}">{escape(number(value))}</td>'


def _cell_style(numeric: bool) -> str:
    figures = "text-align:right;font-variant-numeric:tabular-nums;"
    return _CELL + (figures if numeric else "text-align:left;")
