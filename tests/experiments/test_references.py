"""References are found once per realisation, whatever asks for them."""

from __future__ import annotations

from typing import Any

import pytest

from thzsync.experiments import references
from thzsync.experiments.compare import compare
from thzsync.scenario import Reward, Scenario
from thzsync.simulation import reference_costs

TINY = Scenario.preset("tiny")


@pytest.fixture(autouse=True)
def _nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(references, "_found", {})


def test_weights_do_not_change_references() -> None:
    other = TINY.model_copy(update={"reward": Reward(time_weight=0.3, energy_weight=0.7)})
    found = reference_costs(TINY, 1)
    assert reference_costs(other, 1) == found
    references.remember(TINY, 1, found)
    assert references.known_references(other, 1) == found
    assert references.known_references(other, 2) is None


def test_a_comparison_finds_them_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def counted(scenario: Scenario, seed: int, *step: Any) -> references.References:
        asked.append(seed)
        return reference_costs(scenario, seed, *step)

    monkeypatch.setattr("thzsync.experiments.compare.reference_costs", counted)
    first = compare(TINY, ("all-wired", "fixed-ratio"), (0, 3), 1, workers=1)
    again = compare(TINY, ("all-wired", "fixed-ratio"), (3, 0, 4), 1, workers=1)
    assert asked == [0, 3, 4]
    both = again.iterations.filter(again.iterations["seed"] != 4).sort("seed", "policy")
    assert both.equals(first.iterations.sort("seed", "policy"))


def test_what_a_file_decides_is_not_remembered() -> None:
    measured = TINY.model_copy(
        update={"channel": TINY.channel.model_copy(update={"gains_file": "gains.csv"})}
    )
    references.remember(measured, 0, {"p2p": (1.0, 1.0)})
    assert references.known_references(measured, 0) is None
