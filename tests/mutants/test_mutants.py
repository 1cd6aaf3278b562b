"""Tests are tested: every deliberate fault of the catalogue makes one of its tests fail."""

from __future__ import annotations

import ast

import pytest

from tests.mutants.anchor import replaced
from tests.mutants.catalogue import MUTANTS
from tests.mutants.hunt import sound, survives
from tests.mutants.mutant import ROOT, Mutant


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: m.name)
def test_the_catalogue_fits_the_sources(mutant: Mutant) -> None:
    """What it replaces is there once, and so are the tests that it names."""
    assert ast.dump(ast.parse(mutant.planted)) != ast.dump(ast.parse(mutant.original))
    for test in mutant.tests:
        file, _, name = test.partition("::")
        assert f"def {name}" in (ROOT / file).read_text("utf-8")


SOURCE = """
class Beam:
    def best(self, scores):
        if (scores[0] >
                scores[1]):  # the first one
            first = 1; return scores[0]
        return scores[1]

    def worst(self, scores):
        return scores[1]
"""


@pytest.mark.parametrize(
    ("function", "old", "new", "expected"),
    [
        ("Beam.best", "scores[0]>scores[1]", "True", "(True)):"),
        ("Beam.best", "first = 1\nreturn scores[0]", "", "    pass\n"),
        (
            "Beam.worst",
            "scores[1]",
            "scores[0]",
            "def worst(self, scores):\n        return (scores",
        ),
    ],
)
def test_a_place_is_found_in_any_layout(function: str, old: str, new: str, expected: str) -> None:
    assert expected in replaced(SOURCE, function, old, new)


@pytest.mark.parametrize(
    ("function", "old"),
    [("Beam.best", "scores[1]"), ("Beam.worst", "scores[0]"), ("Beam.none", "scores[0]")],
)
def test_a_place_that_is_not_the_only_one_is_refused(function: str, old: str) -> None:
    with pytest.raises(LookupError):
        replaced(SOURCE, function, old, "0")


def test_every_mutant_has_a_name_of_its_own() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


@pytest.fixture(scope="session")
def soundness() -> None:
    """Without a mutant the same tests pass."""
    assert sound(MUTANTS)


@pytest.mark.slow
@pytest.mark.usefixtures("soundness")
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: m.name)
def test_a_mutant_is_noticed(mutant: Mutant) -> None:
    assert not survives(mutant), f"{mutant.why}, and {', '.join(mutant.tests)} did not notice"
