"""An answer on disk: its document, its picture and the scenario that it is about."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Final

from thzsync.answer.picture import draw
from thzsync.answer.question import ENERGIES, METRICS, Answer, Row
from thzsync.answer.text import candidates_table, checks_table, lines
from thzsync.drawing import save_picture
from thzsync.errors import ThzSyncError
from thzsync.files import write_atomically, write_document
from thzsync.records.run import SCENARIO
from thzsync.scenario import Scenario

MARKER: Final = "answer.json"
PICTURE: Final = "answer.svg"


def save(answer: Answer, folder: Path) -> dict[str, Any]:
    """Write the answer; the document comes last, so that what it names exists."""
    document = answer.document() | {"answer": " ".join(lines(answer))}
    save_picture(draw(answer), folder / PICTURE)
    write_atomically(folder / SCENARIO, answer.scenario.to_toml().encode())
    write_document(folder / MARKER, document)
    return document


def load(folder: Path, document: Row) -> Answer:
    """The answer that a folder holds, whose document was read."""
    if not (folder / SCENARIO).is_file():
        raise ThzSyncError(f"{folder / SCENARIO}: missing; make it anew with `thzsync ask`")
    scenario = Scenario.load(folder / SCENARIO)
    try:
        found = Answer(
            scenario,
            str(document.get("source", scenario.name)),
            tuple(map(int, document["seeds"])),
            int(document["iterations"]),
            tuple(map(_row, document["candidates"])),
            tuple(map(_row, document["checks"])),
        )
        for said in (lines, candidates_table, checks_table):
            said(found)
        return found
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise ThzSyncError(
            f"{folder / MARKER}: is not an answer of this version ({type(error).__name__}: "
            f"{error}); make it anew with `thzsync ask`"
        ) from None


def _row(row: Row) -> Row:
    """A row whose metrics are numbers; an interval that is not known was written as null."""
    found = dict(row)
    known = [metric for metric in METRICS if metric in row or metric not in ENERGIES]
    for key in (f"{part}{metric}" for part in ("", "diff_") for metric in known):
        half = row[f"ci95_{key}"]
        found |= {key: float(row[key]), f"ci95_{key}": math.nan if half is None else float(half)}
    return found
