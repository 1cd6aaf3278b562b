"""A quick look is called one wherever its numbers stand."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.report.results import save_reproduction
from thzsync.cli import main
from thzsync.experiments.compare import Comparison
from thzsync.records.folder import sealed
from thzsync.report import open_results, write_report
from thzsync.report.markdown import fill, read_parts
from thzsync.report.tables import QUICK, page_tables

PARTS = {
    "synthesis": "synthesis/synthesis.json",
    "fabric": "fabric/compare.json",
    "weights": "weights/weights.json",
}


def reproduction(comparison: Comparison, folder: Path, *quick: str) -> Path:
    """A reproduction of which these parts are quick."""
    save_reproduction(comparison, folder)
    for part in quick:
        path = folder / PARTS[part]
        path.write_text(json.dumps(sealed(json.loads(path.read_text()) | {"quick": True})))
    return folder


def test_the_page_and_its_tables_say_quick(comparison: Comparison, tmp_path: Path) -> None:
    folder = reproduction(comparison, tmp_path, *PARTS)
    page = write_report(open_results(folder)).read_text("utf-8")
    assert page.count(QUICK) == 4  # policies, bandwidths, synthesis and weights


def test_a_full_figure_beside_a_quick_one_is_not_called_quick(
    comparison: Comparison, tmp_path: Path
) -> None:
    results = open_results(reproduction(comparison, tmp_path, "weights"))
    found = page_tables(results)
    marked = {section: QUICK in made[0].caption for section, made in found.items()}
    full = dict.fromkeys(("headline", "distributions", "synthesis"), False)
    assert marked == {**full, "weights": True}


def test_tables_in_markdown_pages_say_quick(comparison: Comparison, tmp_path: Path) -> None:
    parts = read_parts(reproduction(comparison, tmp_path, "weights"))
    text, _ = fill("<!-- table:weights -->\n<!-- /table -->\n", parts)
    assert QUICK in text
    assert fill(text, parts)[0] == text


def test_a_reproduction_announces_itself_and_ends_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("thzsync.paper.synthesis.QUICK_RACKS", (3,))
    monkeypatch.setenv("COLUMNS", "400")
    out = str(tmp_path / "out")
    command = ["reproduce", "synthesis", "--quick", "--seeds", "1", "--workers", "1"]
    assert main([*command, "--out", out]) == 0
    shown = capsys.readouterr()
    notes = shown.err.splitlines()
    assert "synthesis" in notes[0]
    assert f"`thzsync report {out}`" in notes[-1]
    assert QUICK not in shown.out  # with a folder, the tables are on its page
    assert re.search(r"\b3\b", shown.out.splitlines()[-1]), "the size that was run"
    assert open_results(out).quick == {"synthesis"}
    assert main(command) == 0
    assert QUICK in capsys.readouterr().out
