"""The tables of results, and the one description that all three renderers read."""

from __future__ import annotations

from pathlib import Path

from tests.report.results import ABLATIONS, SYNTHESIS, WEIGHTS
from tests.report.test_answer import of_rows, row
from thzsync.display import Table
from thzsync.experiments.compare import Comparison
from thzsync.paper import synthesis_tables, tables
from thzsync.paper.deviation import deviation_pct, deviation_text, deviation_tone
from thzsync.report import Results
from thzsync.report.tables import page_tables


def texts(table: Table) -> list[list[str]]:
    return [[str(cell) for cell in line] for line in table.cells()]


def test_ablations_stand_beside_the_papers_range() -> None:
    assert texts(synthesis_tables.ablations(ABLATIONS)) == [
        ["All-to-All", "Equal power", "+21.5", "13.3 to 28.1"]
    ]


def test_deviations_keep_their_sign_also_for_negative_values() -> None:
    assert round(deviation_pct(-0.6, -0.5) or 0.0, 6) == -20.0
    assert deviation_pct(None, 1.0) is None
    assert deviation_pct(1.0, None) is None
    assert deviation_text(-5.0) == "−5.0 %"
    assert deviation_text(-0.04) == "0.0 %"


def test_the_number_that_is_shown_is_the_one_that_is_judged() -> None:
    tones = [deviation_tone(d) for d in (0, -5, -5.04, 5.06, -15.04, 15.06)]
    assert tones == ["near", "near", "near", "fair", "fair", "far"]
    assert deviation_text(-5.04) == "−5.0 %"


def test_published_columns_stand_only_where_something_was_published(
    comparison: Comparison,
) -> None:
    rows = [row("thz-sync", 1.0, 2.0, -0.5), row("ddqn", 2.0, 1.0, -0.6)]
    (plain,) = page_tables(of_rows(comparison, *rows))["headline"]
    assert plain.headings() == [
        "Policy", "Completion [ms]", "Transmission [J]", "Reward", "Iteration time [ms]",
        "Exposed [ms]",
        "on THz",
    ]  # fmt: skip
    (beside,) = page_tables(of_rows(comparison, rows[0] | {"paper_completion_ms": 2.0}, rows[1]))[
        "headline"
    ]
    assert beside.headings().count("deviation") == 3
    assert [len(line) for line in beside.rows] == [len(beside.columns)] * 2
    assert beside.groups()[1] == ("Completion [ms]", 3)
    assert sum(span for _, span in beside.groups()) == len(beside.columns)
    best = [[cell.text for cell in line if cell.best] for line in plain.cells()]
    assert best == [["1.000", "−0.500"], ["1.000"]]


def test_every_table_has_a_value_for_every_column() -> None:
    filled = page_tables(
        Results("reproduce", Path(), synthesis=SYNTHESIS, ablations=ABLATIONS, weights=WEIGHTS)
    )
    for table in (made for section in filled.values() for made in section):
        assert {len(line) for line in table.rows} == {len(table.columns)}


def test_no_end_of_a_trade_off_is_called_the_best() -> None:
    assert not tables.weights(WEIGHTS).has_best()
