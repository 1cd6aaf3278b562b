"""References are found once per realisation, whatever asks for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from thzsync.experiments import references, store
from thzsync.experiments.compare import compare
from thzsync.records import References
from thzsync.scenario import Reward, Scenario
from thzsync.simulation import reference_costs

TINY = Scenario.preset("tiny")


@pytest.fixture(autouse=True)
def _nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(references, "FOUND", found := dict[str, References]())
    monkeypatch.setattr(store, "FOUND", found)


def test_weights_do_not_change_references() -> None:
    other = TINY.model_copy(update={"reward": Reward(time_weight=0.3, energy_weight=0.7)})
    found = reference_costs(TINY, 1)
    assert reference_costs(other, 1) == found
    assert references.references_of(TINY, 1) == found
    assert references.known_references(other, 1) == found
    assert references.known_references(other, 2) is None


def test_a_comparison_finds_them_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def counted(scenario: Scenario, seed: int, *step: Any) -> References:
        asked.append(seed)
        return reference_costs(scenario, seed, *step)

    monkeypatch.setattr("thzsync.experiments.runs.reference_costs", counted)
    first = compare(TINY, ("all-wired", "fixed-ratio"), (0, 3), 1, workers=1)
    again = compare(TINY, ("all-wired", "fixed-ratio"), (3, 0, 4), 1, workers=1)
    assert asked == [0, 3, 4]
    both = again.iterations.filter(again.iterations["seed"] != 4).sort("seed", "policy")
    assert both.equals(first.iterations.sort("seed", "policy"))


def test_what_a_file_decides_is_remembered_by_its_content(tmp_path: Path) -> None:
    gains = tmp_path / "gains.csv"
    measured = TINY.model_copy(
        update={"channel": TINY.channel.model_copy(update={"gains_file": str(gains)})}
    )
    names = []
    for text in ("1", "2", "1"):
        gains.write_text(text)
        names.append(references.reference_key(measured, 0))
    assert names[0] == names[2] != names[1]
