"""The redesign changes no result: every recorded number of version 0.1.0 comes out again."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.first_edition.numbers import METHODS, POLICIES, RECORDED, cases

RECORD: dict[str, Any] = json.loads(RECORDED.read_text())
THOROUGH = ("paper", "oracle")
"""Groups that take long; `make verify` runs them."""
GROUPS = [
    *(f"{kind} {method}" for kind, methods in METHODS.items() for method in methods),
    *(f"{name} {policy}" for name in ("tiny", "faulty", "lean", "paper") for policy in POLICIES),
    "oracle tiny",
]


@cache
def _computations(folder: Path) -> dict[str, Any]:
    return dict(cases(folder))


@pytest.fixture(scope="module")
def computations(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return _computations(tmp_path_factory.mktemp("first-edition"))


@pytest.mark.parametrize(
    "group",
    [
        pytest.param(g, marks=pytest.mark.slow) if g.startswith(THOROUGH) else g
        for g in GROUPS
    ],
)  # fmt: skip
def test_every_recorded_number_comes_out_again(group: str, computations: dict[str, Any]) -> None:
    mine = [name for name in computations if name == group or name.startswith(f"{group} ")]
    assert mine
    for name in mine:
        assert json.loads(json.dumps(computations[name]())) == expected(name), name


def expected(name: str) -> Any:
    """What was recorded: bit for bit, but for bounds, whose last digits are the solver's."""
    recorded = RECORD[name]
    if " proposed " not in name:
        return recorded
    *schedule, bound = recorded
    return [*schedule, pytest.approx(bound, rel=1e-9)]


def test_the_record_covers_every_case(computations: dict[str, Any]) -> None:
    assert set(computations) == set(RECORD)
