from __future__ import annotations

from pathlib import Path

import pytest

from tests.report.results import HOSTILE, renamed, save_reproduction, tiny_comparison
from thzsync.experiments.compare import Comparison
from thzsync.report import Results, open_results, write_report
from thzsync.simulation import Run


@pytest.fixture(scope="session")
def comparison() -> Comparison:
    """Three static policies, two seeds, three iterations of the tiny scenario."""
    return tiny_comparison()


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
