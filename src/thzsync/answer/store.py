"""An answer on disk: its document, its picture and the scenario that it is about."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from thzsync.answer.picture import draw
from thzsync.answer.question import Answer
from thzsync.answer.sentences import lines
from thzsync.drawing import save_picture
from thzsync.files import write_atomically, write_document

MARKER: Final = "answer.json"
PICTURE: Final = "answer.svg"


def save(answer: Answer, folder: Path) -> dict[str, Any]:
    """Write the answer; the document comes last, so that what it names exists."""
    document = answer.document() | {"answer": " ".join(lines(answer))}
    save_picture(draw(answer), folder / PICTURE)
    write_atomically(folder / "scenario.toml", answer.scenario.to_toml().encode())
    write_document(folder / MARKER, document)
    return document
