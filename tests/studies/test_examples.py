"""The studies that come with the package can be planned, and the page answers each of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.studies.sweeps import ROOT
from thzsync.studies.specification import read_specification
from thzsync.studies.sweeping import plan_sweep

STUDIES = sorted((ROOT / "examples/studies").glob("*.toml"))
PAGE = (ROOT / "docs/studies.md").read_text("utf-8")
MOST_RUNS = 40
"""About a minute and a half of CPU."""


def test_there_are_studies() -> None:
    assert len(STUDIES) >= 6


@pytest.mark.parametrize("file", STUDIES, ids=lambda file: file.stem)
def test_a_study_has_a_question_and_a_plan_of_reasonable_size(file: Path) -> None:
    plan = plan_sweep(file, {})
    assert plan.specification.question.endswith("?")
    assert len(plan.specification.seeds) >= 3, "an answer needs an interval"
    assert len(plan.keys) <= MOST_RUNS


@pytest.mark.parametrize("file", STUDIES, ids=lambda file: file.stem)
def test_the_page_shows_question_file_and_picture(file: Path) -> None:
    specification = read_specification(file)
    assert specification is not None
    assert specification.question in PAGE
    assert f"examples/studies/{file.name}" in PAGE
    assert f"images/study-{file.stem}.png" in PAGE
