"""One table, three renderers; on a narrow terminal no number is ever cut."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from thzsync.display import Column, Interval, Table, markdown_table, page_table
from thzsync.display.html import BOLD, PAIRED
from thzsync.display.terminal import TerminalTable, columns_to_drop

WIDTHS = (40, 60, 80, 120)
TABLE = Table(
    "Policies on the <trace>",
    (
        Column("policy", left=True),
        Column("ours", "ms", "time", better="low", group="Completion"),
        Column("paper", "ms", priority=2, group="Completion"),
        Column("Energy", "J", priority=1, better="low"),
        Column("Utilisation of the overlay", priority=3),
    ),
    [
        ["thz|sync", Interval(706.512, 15.2), 1050.0, Interval(15.6, float("nan")), 0.0009701],
        ["all-wired", Interval(1313.07, 10.1), None, Interval(27.49, 0.0), 0.5484],
    ],
    "Means of five seeds.",
)


def printed(table: Table, width: int) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(TerminalTable(table), crop=False)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_cut_at_any_width(width: int) -> None:
    shown = printed(TABLE, width)
    assert "…" not in shown
    assert all(len(line) <= width for line in shown.splitlines())
    left_out = "".join(re.findall(r"left out: (.*)", shown))
    kept = [cell for cell in ("1,050", "0.0009701") if cell in shown]
    assert len(kept) == 2 or left_out, shown
    assert "706.5 ± 15" in shown
    assert "Completion [ms]" in shown


def test_the_least_important_columns_go_first() -> None:
    assert columns_to_drop(TABLE, 200) == []
    assert columns_to_drop(TABLE, 62) == [4]
    assert columns_to_drop(TABLE, 48) == [4, 2]
    assert columns_to_drop(TABLE, 30) == [4, 2, 3]
    shown = " ".join(printed(TABLE, 62).split())
    assert TABLE.columns[4].name in shown
    assert "--json" in shown
    assert TABLE.columns[4].name + " |" not in shown


def test_rows_become_blocks_where_even_the_first_columns_do_not_fit() -> None:
    shown = printed(TABLE, 20)
    assert "Completion [ms]:" in shown
    assert "0.0009701" in shown
    assert "left out" not in shown


def test_long_words_are_wrapped_and_numbers_are_not() -> None:
    claim = "energy between that of all-wireless and that of all-wired"
    table = Table("T", (Column("claim", left=True), Column("n")), [[claim, 123456.5]])
    shown = printed(table, 40)
    assert claim not in shown
    assert "123,500" in shown
    assert claim.split() == [w for w in re.findall(r"[a-z-]{2,}", shown) if w in claim.split()]


def test_markdown_escapes_pipes_and_joins_intervals() -> None:
    lines = markdown_table(TABLE.only("policy", "time", "Energy")).splitlines()
    assert lines == [
        "| policy | Completion [ms] | Energy [J] |",
        "| --- | ---: | ---: |",
        r"| thz\|sync | 706.5 ± 15 | 15.6 |",
        "| all-wired | 1,313 ± 10 | 27.49 ± 0 |",
        "",
        "Means of five seeds.",
    ]


def test_html_has_groups_bold_winners_and_says_what_bold_means() -> None:
    shown = page_table(TABLE)
    assert '<th scope="colgroup" colspan="2">Completion [ms]</th>' in shown
    assert '<td class="best">706.5 <small>± 15</small></td>' in shown
    assert BOLD in shown
    assert "&lt;trace&gt;" in shown


def test_all_columns_of_a_unit_change_it_together() -> None:
    slow = Table(
        "T",
        (Column("a", "ms"), Column("b", "ms"), Column("c", "J")),
        [[62_920.0, 150, 20.0], [None, Interval(9_000.0, 500.0), "x"]],
    )
    fitted = slow.fitted()
    assert fitted.headings() == ["a [s]", "b [s]", "c [J]"]
    assert [[str(cell) for cell in row] for row in fitted.cells()] == [
        ["62.92", "0.15", "20"],
        ["–", "9 ± 0.50", "x"],
    ]


def test_what_the_intervals_cannot_tell_apart_is_equally_good() -> None:
    values = [Interval(10.0, 1.0), Interval(12.5, 2.0), Interval(14.0, 2.0), Interval(13.5, None)]
    table = Table("T", (Column("a", better="low"),), [[value] for value in values])
    assert [row[0].best for row in table.cells()] == [True, True, False, False]


def test_bold_of_paired_candidates_is_told_and_not_judged_by_intervals() -> None:
    values = [Interval(10.0, 5.0, best=True), Interval(11.0, 5.0), Interval(None)]
    table = Table("T", (Column("a", better="low"),), [[v] for v in values], paired=True)
    assert [row[0].best for row in table.fitted().cells()] == [True, False, False]
    assert PAIRED in page_table(table)
    assert BOLD not in page_table(table)


def test_one_row_has_no_winner() -> None:
    single = Table(TABLE.title, TABLE.columns, TABLE.rows[:1])
    assert not single.has_best()
    assert BOLD not in page_table(single)


def test_no_cell_shows_the_rounding_error_of_an_interval() -> None:
    table = Table("Energy", (Column("Energy", "J"),), [[Interval(27.49, 8.8e-15)]])
    assert str(table.cells()[0][0]) == "27.49 ± 0"
