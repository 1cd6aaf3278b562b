"""Every notebook in examples/ runs from top to bottom; it is stored without outputs."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import ROOT

NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 3


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_runs_and_is_stored_clean(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cells: list[dict[str, Any]] = json.loads(file.read_text("utf-8"))["cells"]
    assert cells[0]["cell_type"] == "markdown", "a notebook opens with what it shows"
    space: dict[str, Any] = {}
    for number, cell in enumerate(cells):
        if cell["cell_type"] == "code":
            assert not cell["outputs"], "outputs are made, not stored"
            tree = ast.parse("".join(cell["source"]))
            exec(compile(tree, f"{file.name}, cell {number}", "exec"), space)
