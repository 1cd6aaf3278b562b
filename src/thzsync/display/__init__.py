"""Results as text, tables and small pictures.

One `Table` is rendered for terminals (`terminal`), Markdown pages (`markdown`) and HTML (`html`).
`labels`, `kinds` and `metrics` say how policies, collectives and metrics are called everywhere.
"""

from __future__ import annotations

from thzsync.display.html import html_table, page_table
from thzsync.display.markdown import markdown_table
from thzsync.display.numbers import (
    counted,
    half_width,
    number,
    quantity,
    signed,
    with_half,
    with_unit,
)
from thzsync.display.sparkline import sparkline
from thzsync.display.table import Column, Interval, Table

__all__ = [
    "Column",
    "Interval",
    "Table",
    "counted",
    "half_width",
    "html_table",
    "markdown_table",
    "number",
    "page_table",
    "quantity",
    "signed",
    "sparkline",
    "with_half",
    "with_unit",
]
