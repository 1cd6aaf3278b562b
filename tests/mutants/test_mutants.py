"""Tests are tested: every deliberate fault of the catalogue makes one of its tests fail."""

from __future__ import annotations

import pytest

from tests.mutants.catalogue import MUTANTS
from tests.mutants.hunt import sound, survives
from tests.mutants.mutant import ROOT, Mutant


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: m.name)
def test_the_catalogue_fits_the_sources(mutant: Mutant) -> None:
    """What it replaces is there once, and so are the tests that it names."""
    assert mutant.original.count(mutant.old) == 1
    assert mutant.new != mutant.old
    for test in mutant.tests:
        file, _, name = test.partition("::")
        assert f"def {name}" in (ROOT / file).read_text("utf-8")


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
