"""No figure that follows from others can change unnoticed, and no damage can stop the audit."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.auditor import hand_made
from tests.auditor.hand_made import HAND_CHECKS, Rows
from thzsync.auditor import audit
from thzsync.records.schema import TABLES

FREE = {
    "tasks": {
        "job",
        "stage",
        "microbatch",
        "phase",
        "after",
        "duration_ps",
        "start_ps",
        "end_ps",
        "rank",
    },
    "events": {"job", "stage", "microbatch", "label", "method", "delay_ps", "node", "after"},
    "flows": {"local", "shard", "reduces", "after", "discipline"},
    "chunks": {"ready_ps", "end_ps"},
    "links": {"start_ps", "end_ps", "background_bytes"},
}
"""Columns that nothing else determines in every row: names, and times that may have slack."""
DETERMINED = [
    (table, column)
    for table, columns in TABLES.items()
    for column in columns
    if column not in FREE.get(table, set())
]
LARGEST = {"i8": 127, "i32": 2**31 - 1, "i64": 2**63 - 1}


def other_values(kind: str, value: Any) -> list[Any]:
    """Values near to and far from the recorded one."""
    if kind in LARGEST:
        most, least = LARGEST[kind], -LARGEST[kind] - 1
        near = [v for v in (value + 1, value - 1) if least <= v <= most]
        return [*near, most, least]
    if kind == "f64":
        return [value * 1.00001 + 1e-9, -value - 1.0, 1e300, float("inf"), float("nan")]
    if kind == "bool":
        return [not value]
    if kind == "str":
        return ["nonsense"]
    inner = other_values(kind[5:-1], value[0] if value else 0)  # a list of such values
    return [[], *([v, *value[1:]] for v in inner), [*value, *inner[:1]]]


def is_sound(rows: Rows) -> bool:
    return audit(hand_made.as_run(rows), HAND_CHECKS).ok


@pytest.mark.parametrize(("table", "column"), DETERMINED)
def test_no_determined_value_changes_unnoticed(table: str, column: str) -> None:
    rows = hand_made.rows()
    kind = TABLES[table][column]
    for position in {0, len(rows[table]) // 2, len(rows[table]) - 1}:
        value = rows[table][position][column]
        for other in other_values(kind, value):
            if other == value:
                continue
            rows[table][position][column] = other
            assert not is_sound(rows), f"{table} row {position}: {column} {value!r} -> {other!r}"
        rows[table][position][column] = value


@pytest.mark.parametrize("table", TABLES)
def test_no_row_vanishes_or_is_doubled_unnoticed(table: str) -> None:
    whole = hand_made.rows()[table]
    for position in range(len(whole)):
        rows = hand_made.rows()
        del rows[table][position]
        assert not is_sound(rows), f"{table} row {position} vanished"
    rows = hand_made.rows()
    rows[table].append(dict(whole[0]))
    assert not is_sound(rows)


@given(st.data())
def test_no_damage_stops_the_audit(data: st.DataObject) -> None:
    rows = hand_made.rows()
    for _ in range(data.draw(st.integers(1, 4))):
        table = data.draw(st.sampled_from([name for name in TABLES if rows[name]]))
        row = data.draw(st.sampled_from(rows[table]))
        column = data.draw(st.sampled_from(list(TABLES[table])))
        if row[column] is not None:
            values = [None, *other_values(TABLES[table][column], row[column])]
            row[column] = data.draw(st.sampled_from(values))
    audit(hand_made.as_run(rows), HAND_CHECKS)


@pytest.mark.parametrize("table", TABLES)
def test_a_table_that_is_lost_altogether_does_not_stop_the_audit(table: str) -> None:
    rows = hand_made.rows()
    rows[table] = []
    assert not is_sound(rows)


def test_so_many_violations_are_summed_up() -> None:
    rows = hand_made.rows()
    rows["chunks"] = [
        dict(chunk, flow=flow) for flow in range(100, 105) for chunk in rows["chunks"]
    ]
    found = [
        v for v in audit(hand_made.as_run(rows), HAND_CHECKS).violations if v.check == "records"
    ]
    wrong = len(rows["chunks"])
    assert len(found) < 110 < wrong
    assert any(str(wrong - number) in found[-1].message for number in range(wrong))
