from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.report.results import (
    HOSTILE,
    HOSTILE_SCENARIO,
    renamed,
    save_reproduction,
    tiny_comparison,
    with_iterations,
)
from tests.studies.sweeps import made_up
from thzsync.answer import Answer, Effort, ask
from thzsync.experiments.compare import Comparison
from thzsync.report import Results, open_results, write_report
from thzsync.simulation import Run
from thzsync.studies.specification import specify


@pytest.fixture(scope="session")
def comparison() -> Comparison:
    """Three static policies, two seeds, three iterations of the tiny scenario."""
    return tiny_comparison()


@pytest.fixture(scope="session")
def answered() -> Answer:
    """A quick answer for the tiny scenario."""
    return ask("tiny", Effort(2, 2, 1, 2), workers=1)


@pytest.fixture(scope="session")
def run(comparison: Comparison) -> Run:
    """The last iteration of the fixed ratio, which uses both fabrics."""
    return comparison.details["fixed-ratio"]


@pytest.fixture(scope="session")
def reproduction(comparison: Comparison, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A reproduction with all parts, in which one policy has a hostile name."""
    folder = tmp_path_factory.mktemp("reproduction")
    return save_reproduction(renamed(comparison, "all-wireless", HOSTILE), folder)


@pytest.fixture(scope="session")
def results(reproduction: Path) -> Results:
    return open_results(reproduction)


@pytest.fixture(scope="session")
def page(results: Results) -> Path:
    """The HTML report of the reproduction."""
    return write_report(results)


@pytest.fixture(scope="session")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """A made-up sweep of two axes with a crossover, a hostile name and a failed run."""
    names = ("all-wired", HOSTILE, "fixed-ratio")
    asked = {
        "question": f"When? {HOSTILE_SCENARIO}",
        "axes": {"thz.subbands": [2, 4, 16], "thz.max_power_w": [0.1, 0.4]},
        "contenders": [{"name": name, "policy": "all-wired"} for name in names],
        "seeds": 3,
    }
    found = with_iterations(made_up(specify(asked, "test")))
    failure = {**found.points[0], "policy": HOSTILE, "seed": 2, "error": "it <b>broke</b>"}
    folder = tmp_path_factory.mktemp("swept")
    return open_results(replace(found, failures=(failure,), missing=4).save(folder))
