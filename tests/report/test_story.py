"""The sentences at the end of a reproduction say what the numbers allow, and no more."""

from __future__ import annotations

import re
from math import nan
from typing import Any

import pytest

from tests.report.results import SYNTHESIS, WEIGHTS
from thzsync.report.story import STORIES, undecided

ONE_SEED, TOO_CLOSE = undecided(1.0, nan), undecided(0.0, 1.0)


def fabric(seeds: int, gain_pct: float, ci95_gain_pct: float) -> str:
    rows = [
        {"policy": name, "completion_ms": value, "ci95_completion_ms": nan}
        for name, value in (("thz-sync", 700.0), ("all-wired", 1300.0), ("ddqn", 720.0))
    ]
    gains = [
        {"policy": "all-wired", "gain_pct": 46.0, "ci95_gain_pct": 1.5, "paper_pct": 22.7},
        {
            "policy": "ddqn",
            "gain_pct": gain_pct,
            "ci95_gain_pct": ci95_gain_pct,
            "paper_pct": None,
        },
    ]
    return STORIES["fabric"]({"seeds": list(range(seeds)), "rows": rows, "gains": gains})


def weights(seeds: int, **changes: Any) -> str:
    return STORIES["weights"](
        {"seeds": list(range(seeds)), "rows": [row | changes for row in WEIGHTS]}
    )


def test_gains_stand_with_their_intervals_beside_the_papers() -> None:
    story = fabric(5, 3.0, 1.0)
    assert re.findall(r"[\d.]+(?: ± [\d.]+)?(?= (?:ms|%))", story) == [
        "700", "46 ± 1.5", "22.7", "3 ± 1",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("seeds", "gain", "half", "told"),
    [(5, 1.0, 3.0, "1 ± 3 %"), (1, 1.0, nan, "1 %"), (5, -4.0, 1.0, "4 ± 1 %")],
)
def test_a_gain_that_is_not_certain_is_called_so(
    seeds: int, gain: float, half: float, told: str
) -> None:
    story = fabric(seeds, gain, half)
    assert told in story
    said = [remark for remark in (ONE_SEED, TOO_CLOSE) if remark in story]
    assert said == list(filter(None, [undecided(gain, half)]))


def test_single_collectives_stand_beside_bound_and_paper() -> None:
    story = STORIES["synthesis"]({"rows": SYNTHESIS})
    assert all(part in story for part in ("12 racks", "24 ± 0.5 ms", "1.25", "25 ms"))
    alone = [row | {"ci95_ms": None} for row in SYNTHESIS]
    assert ONE_SEED in STORIES["synthesis"]({"rows": alone})


def test_a_change_between_weights_needs_intervals_that_do_not_meet() -> None:
    sure = weights(5, ci95_completion_ms=10.0, ci95_energy_j=0.1)
    assert all(value in sure for value in ("1,000 ± 10", "1,120 ± 10 ms"))
    assert TOO_CLOSE not in sure
    assert TOO_CLOSE in weights(5, ci95_completion_ms=90.0)
    assert weights(1, ci95_completion_ms=None).count(ONE_SEED) == 2
