"""A table on a terminal: whole where it fits, with fewer columns or as blocks where it does not.

A number is never cut. Rich is imported late, since most of what imports this prints nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import fill
from typing import TYPE_CHECKING, Final, Literal

from thzsync.display.numbers import DASH, MINUS
from thzsync.display.table import Column, Table
from thzsync.errors import printable

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

_GAP: Final = 3
"""Blanks between columns."""
_WORDS: Final = 24
"""A column of words may be wrapped down to this width."""
_ASCII: Final = str.maketrans({MINUS: "-", DASH: "-"})


class TerminalTable:
    """Something that Rich prints."""

    def __init__(self, table: Table) -> None:
        self.table = table.fitted()

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        from rich.text import Text

        yield Text(printable(self.table.title), style="bold")
        dropped = columns_to_drop(self.table, options.max_width)
        shown = self.table.without(dropped)
        if _width(shown) > options.max_width:
            yield from map(Text, _blocks(self.table))
        else:
            yield _grid(shown)
            if dropped:
                names = ", ".join(self.table.headings()[k] for k in sorted(dropped))
                told = f"left out: {names}; widen the terminal or use --json"
                yield Text(told, style="dim")
        if self.table.caption:
            yield Text(printable(self.table.caption), style="italic")


def columns_to_drop(table: Table, width: int) -> list[int]:
    """Places of the columns to leave out, the least important first, until the rest fits."""
    order = sorted(range(len(table.columns)), key=lambda k: (-table.columns[k].priority, -k))
    dropped: list[int] = []
    for k in order:
        if table.columns[k].priority == 0 or _width(table.without(dropped)) <= width:
            break
        dropped.append(k)
    return dropped


def _width(table: Table) -> int:
    """The least width at which no number and no heading is cut."""
    from rich.cells import cell_len

    total = _GAP * (len(table.columns) - 1) + 2
    for column, heading, texts in _columns(table):
        longest = max(map(cell_len, texts), default=0)
        least = min(longest, _WORDS) if _wraps(column, texts) else longest
        total += max(least, *map(cell_len, heading.splitlines() or [""]))
    return total


def _columns(table: Table) -> Iterator[tuple[Column, str, list[str]]]:
    """Every column with its heading and its texts."""
    rows = _texts(table)
    for k, (column, heading) in enumerate(zip(table.columns, table.headings(), strict=True)):
        yield column, _folded(heading), [row[k] for row in rows]


def _folded(heading: str) -> str:
    """A heading in lines that no column of words is narrower than."""
    return fill(heading, _WORDS, break_long_words=False, break_on_hyphens=False)


def _wraps(column: Column, texts: list[str]) -> bool:
    """Words may be broken between lines; a number with its interval may not."""
    return column.left and any(len(text.split()) > 3 for text in texts)


def _texts(table: Table) -> list[list[str]]:
    return [[printable(str(cell)).translate(_ASCII) for cell in row] for row in table.cells()]


def _grid(table: Table) -> RenderableType:
    from rich import box
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False)
    for column, heading, texts in _columns(table):
        # As Text, since Rich would take a unit in brackets for markup.
        justify: Literal["left", "right"] = "left" if column.left else "right"
        grid.add_column(Text(heading), justify=justify, no_wrap=not _wraps(column, texts))
    for row in _texts(table):
        grid.add_row(*map(Text, row))
    return grid


def _blocks(table: Table) -> Iterator[str]:
    """Every row as lines of name and value."""
    names = table.headings()
    for row in _texts(table):
        lines = [f"  {name}: {text}" for name, text in zip(names[1:], row[1:], strict=True)]
        yield "\n".join(("", row[0], *lines))
    yield ""
