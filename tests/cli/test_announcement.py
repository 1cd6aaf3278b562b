"""What a reproduction announces follows from seeds and cores."""

from __future__ import annotations

import re

from thzsync.cli.announcement import announcement, next_step
from thzsync.paper.catalogue import FIGURES

FULL_SEEDS = {name: figure.seeds for name, figure in FIGURES.items()}
QUICK_SEEDS = {name: figure.quick_seeds for name, figure in FIGURES.items()}


def minutes(seeds: dict[str, int], quick: bool, workers: int) -> int:
    (found,) = re.findall(r"(\d+) minutes?\b", announcement(seeds, quick, workers))
    return int(found)


def test_every_figure_is_named_with_its_seeds() -> None:
    text = announcement(QUICK_SEEDS, quick=True, workers=1)
    for name, seeds in QUICK_SEEDS.items():
        assert f"{name} ({seeds} seed" in text
    assert "1 core" in text
    assert "synthesis (30" in announcement(FULL_SEEDS, quick=False, workers=1)


def test_more_seeds_take_longer_and_a_quick_look_is_quicker() -> None:
    once, twice = ({"fabric": count} for count in (5, 10))
    assert minutes(twice, False, 1) > minutes(once, False, 1) > minutes(once, True, 1)


def test_the_next_step_names_the_folder_only_if_there_is_one() -> None:
    assert "`thzsync report here`" in next_step(True, "here")
    assert "report" not in next_step(True, None)
    assert "--quick" not in next_step(False, None)
