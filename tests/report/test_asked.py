"""The page of an answer, and the answers at the beginning of a reproduction's page."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from tests.report.results import HOSTILE_SCENARIO
from tests.report.test_html import Page
from thzsync.answer import Answer
from thzsync.answer.question import TITLES
from thzsync.answer.store import save
from thzsync.answer.text import headline
from thzsync.assumptions import assumptions
from thzsync.cli import main
from thzsync.files import dump_json
from thzsync.folders import ANSWER, UNFINISHED, claim_folder
from thzsync.report import open_results, write_report
from thzsync.report.asked import panels


@pytest.fixture
def folder(answered: Answer, tmp_path: Path) -> Path:
    save(answered, tmp_path)
    return tmp_path


@pytest.fixture
def around(folder: Path, reproduction: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A reproduction with two answers in its folder."""
    target = tmp_path_factory.mktemp("around")
    shutil.copytree(reproduction, target, dirs_exist_ok=True)
    for name in ("answer", "answer-1to1"):
        shutil.copytree(folder, target / name)
    return target


def headings(text: str) -> list[int]:
    return [int(level) for level in re.findall(r"<h([1-6])", text)]


def rewrite(folder: Path, **changes: Any) -> None:
    document = json.loads((folder / "answer.json").read_text()) | changes
    (folder / "answer.json").write_text(json.dumps(document))


def test_an_answer_is_read_as_it_was_saved(folder: Path, answered: Answer) -> None:
    (found,) = open_results(folder).asked
    assert dump_json(found.document()) == dump_json(answered.document())
    assert str(found) == str(answered)


def test_an_interval_that_is_not_known_stays_unknown(answered: Answer, tmp_path: Path) -> None:
    alone = [row | {"ci95_diff_makespan_ms": float("nan")} for row in answered.candidates]
    save(replace(answered, candidates=tuple(alone)), tmp_path)
    (found,) = open_results(tmp_path).asked
    assert found.pays is None


def test_the_page_has_everything_that_the_answer_says(folder: Path, answered: Answer) -> None:
    text = unescape(write_report(open_results(folder)).read_text("utf-8"))
    for said in (headline(answered).split(" ")[0], *assumptions(answered.scenario)):
        assert said in text
    assert text.count('class="table"') == 2
    for row in answered.candidates:
        assert TITLES[row["candidate"]] in text.split('id="headline"')[1]
    for row in answered.checks:
        assert row["check"] in text


def test_bars_are_drawn_to_scale_and_told_to_who_cannot_see_them(
    answered: Answer, folder: Path
) -> None:
    text = unescape(write_report(open_results(folder)).read_text("utf-8"))
    spoken = re.findall(r'role="img" aria-label="([^"]*)"', text)
    metrics = ("makespan_ms", "energy_j")
    for panel, metric, words in zip(panels(answered), metrics, spoken, strict=True):
        most = max(row[metric] for row in answered.candidates)
        for bar, row in zip(panel.bars, answered.candidates, strict=True):
            assert sum(bar.lengths) == pytest.approx(100 * row[metric] / most)
            assert bar.text in words


def test_the_page_can_be_read_aloud_and_needs_nothing_from_outside(folder: Path) -> None:
    text = write_report(open_results(folder)).read_text("utf-8")
    parsed = Page(text)
    elements = parsed.elements
    assert ("html", {"lang": "en"}) in elements
    assert headings(text)[:2] == [1, 2]
    assert headings(text).count(1) == 1
    pictures = [attributes for _, attributes in elements if attributes.get("role") == "img"]
    assert len(pictures) == 2
    assert all(attributes["aria-label"] for attributes in pictures)
    assert all(attributes.get("alt") for tag, attributes in elements if tag == "img")
    assert len(parsed.ids) == len(set(parsed.ids))
    targets = {(a["href"] or "").removeprefix("#") for tag, a in elements if tag == "a"}
    assert targets <= set(parsed.ids)
    assert "http" not in text.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")


def test_a_name_that_looks_like_markup_stays_text(answered: Answer, tmp_path: Path) -> None:
    hostile = answered.scenario.model_copy(update={"name": HOSTILE_SCENARIO})
    save(replace(answered, scenario=hostile, source=HOSTILE_SCENARIO), tmp_path)
    parsed = Page(write_report(open_results(tmp_path)).read_text("utf-8"))
    assert len(parsed.scripts) == 3  # theme, data, charts


def test_a_reproductions_page_begins_with_the_answers_inside_it(around: Path) -> None:
    parsed = Page(write_report(open_results(around)).read_text("utf-8"))
    sections = [a.get("id") for tag, a in parsed.elements if tag == "section"]
    assert sections[:3] == ["asked-1", "asked-2", "answer"]
    assert len(parsed.ids) == len(set(parsed.ids))
    links = [a["href"] for tag, a in parsed.elements if tag == "a"]
    assert links[:2] == ["#asked-1", "#asked-1"]  # skip link, then the sections


def test_a_new_answer_removes_the_page_that_shows_the_old_one(around: Path) -> None:
    page = write_report(open_results(around))
    with claim_folder(around / "answer", ANSWER, force=True):
        assert not page.exists()


def test_a_forced_answer_takes_page_and_figures_of_the_old_one_with_it(folder: Path) -> None:
    assert main(["report", str(folder), "--figures"]) == 0
    assert (folder / "figures/answer.pdf").stat().st_size > 1000
    (folder / "notes.txt").write_text("mine")
    with claim_folder(folder, ANSWER, force=True):
        left = {path.name for path in folder.rglob("*") if path.is_file()}
        assert left == {"notes.txt", UNFINISHED}


BROKEN: list[dict[str, Any]] = [
    {"kind": "other"},
    {"candidates": []},
    {"candidates": None},
    {"candidates": [{"candidate": "fibre"}]},
    {"candidates": [1, 2, 3]},
    {"checks": [{"check": "x"}]},
    {"checks": []},
    {"seeds": None},
    {"seeds": ["x"]},
    {"iterations": None},
]


@pytest.mark.parametrize("changes", BROKEN)
def test_a_broken_answer_is_refused_in_one_line(
    folder: Path, changes: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    rewrite(folder, **changes)
    assert main(["report", str(folder)]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert str(folder / "answer.json") in line


@pytest.mark.parametrize("content", [None, "", "[floor]\nrings = 'x'", "\xff"])
def test_an_answer_without_its_scenario_is_refused(
    folder: Path, content: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder / "scenario.toml"
    if content is None:
        file.unlink()
    else:
        file.write_bytes(content.encode("latin-1"))
    status = main(["report", str(folder)])
    assert status == 2
    for line in capsys.readouterr().err.strip().splitlines():
        assert line.startswith(f"thzsync: error: {folder / 'scenario.toml'}")


def test_an_answer_has_no_timeline(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(folder), "--perfetto", str(folder / "t.json.gz")]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert str(folder) in line
    assert "`thzsync run`" in line, "the remedy"
