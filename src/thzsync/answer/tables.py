"""An answer as tables: what every candidate reached, and what each check changes."""

from __future__ import annotations

from math import isfinite

from thzsync.answer.question import TITLES, Answer, Row
from thzsync.answer.sentences import VERDICTS
from thzsync.display import Column, Interval, Table, counted
from thzsync.display.table import Value
from thzsync.experiments.statistics import verdict


def candidates_table(answer: Answer) -> Table:
    """What every candidate reached."""
    columns = (
        Column("Candidate", left=True),
        Column("Iteration", "ms", better="low"),
        Column("Against fibre only", "ms", priority=1),
        Column("Exposed", "ms", better="low", priority=2),
        Column("Energy", "J", better="low", priority=1),
    )
    metrics = ("makespan_ms", "diff_makespan_ms", "exposed_ms", "energy_j")
    first, last = answer.iterations // 2 + 1, answer.iterations
    window = f"Iteration {last}" if first == last else f"Means of iterations {first} to {last}"
    caption = f"{window}, ± 95 % over {counted(len(answer.seeds), 'seed')}."
    rows: list[list[Value]] = [
        [TITLES[row["candidate"]], *(_interval(row, metric) for metric in metrics)]
        for row in answer.candidates
    ]
    return Table("Candidates", columns, rows, caption)


def checks_table(answer: Answer) -> Table:
    """How the pipelined hybrid compares with fibre only when one assumption changes."""
    columns = (
        Column("Assumption changed", left=True),
        Column("Against fibre only", "ms"),
        Column("Does the overlay pay?", left=True),
    )
    known = [answer.hybrid | {"check": "none"}, *answer.most_sensitive()]
    judged: list[list[Value]] = [
        [row["check"], _interval(row, "diff_makespan_ms"), _verdict(row)] for row in known
    ]
    caption = (
        "Iteration time of the pipelined hybrid minus that of the best fibre-only schedule in the "
        "same seeds, ± 95 %; below 0 the hybrid is faster. The check that moves it most is first."
    )
    return Table("One assumption changed", columns, judged, caption)


def _interval(row: Row, metric: str) -> Interval:
    return Interval(row[metric], row[f"ci95_{metric}"])


def _verdict(row: Row) -> str:
    diff, half = row["diff_makespan_ms"], row["ci95_diff_makespan_ms"]
    return VERDICTS[verdict(-diff, half)] if isfinite(half) else "Undecided, one seed"
