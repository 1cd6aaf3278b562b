"""Results as text, tables and small pictures.

One `Table` is rendered for Markdown pages (`table`), terminals (`terminal`) and HTML (`html`).
`labels`, `kinds` and `metrics` say how policies, collectives and metrics are called everywhere.
"""

from __future__ import annotations

from thzsync.display.html import html_table, page_table
from thzsync.display.numbers import (
    counted,
    half_width,
    number,
    quantity,
    signed,
    sparkline,
    with_half,
    with_unit,
)
from thzsync.display.table import Column, Interval, Table, markdown_table

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
