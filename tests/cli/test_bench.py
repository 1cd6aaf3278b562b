from __future__ import annotations

import json
import sys
from types import ModuleType

import pytest

from thzsync.cli import main
from thzsync.cli.bench import MEASURES, Subject, flatten

FIGURES = {
    Subject.OPTICAL: {"packet_hops_per_s": 9e6, "ratio": 70.0},
    Subject.SYNTHESIS: {"a2a_round_us": 200.0},
    Subject.DECISION: {"p2p": {"p50_us": 300.0, "p99_us": 400.0}},
}


@pytest.fixture(autouse=True)
def _measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand-ins for the measurements: what is tested here is how they are shown."""
    for subject, module in MEASURES.items():
        fake = ModuleType(module)
        fake.measure = lambda subject=subject: FIGURES[subject]  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, module, fake)


def test_one_subject_prints_its_own_keys(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "optical", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == FIGURES[Subject.OPTICAL]


def test_all_prints_every_subject(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {s.value: f for s, f in FIGURES.items()}


def test_the_table_shows_nested_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "decision"]) == 0
    assert "p2p.p99_us" in capsys.readouterr().out
    assert flatten({"a": {"b": {"c": 1}}}) == [("a.b.c", 1)]
