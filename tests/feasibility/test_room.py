"""A run that does not fit into memory is refused before it starts, with what would fit."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from thzsync import arrays
from thzsync.cli import main
from thzsync.errors import ThzSyncError
from thzsync.feasibility import Asked, Effort, check_memory, effort, effort_of, scarce_disk
from thzsync.scenario import Scenario

PAPER = Scenario.paper()
ASKED = Asked(PAPER, 1000, learns=False, kept=True)


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A machine whose memory a test may choose."""
    machine = SimpleNamespace(size=0)
    monkeypatch.setattr(effort, "memory_bytes", lambda: machine.size)
    return machine


def refusal(asked: Asked) -> str:
    with pytest.raises(ThzSyncError) as found:
        check_memory(asked, effort_of(asked))
    return str(found.value)


def test_what_an_estimate_may_be_wrong_about_is_not_refused(memory: SimpleNamespace) -> None:
    effort = effort_of(ASKED)
    memory.size = int(effort.memory_bytes / 1.19)
    check_memory(ASKED, effort)
    memory.size = int(effort.memory_bytes / 1.21)
    assert "1,000 iterations" in refusal(ASKED)


def test_the_iterations_that_a_refusal_names_fit_and_one_more_does_not(
    memory: SimpleNamespace,
) -> None:
    memory.size = 1_000_000_000
    told = refusal(ASKED)
    most = int(told.split("at most ")[1].split()[0])
    needed = [effort_of(replace(ASKED, iterations=n)).memory_bytes for n in (most, most + 1)]
    assert needed[0] <= memory.size < needed[1]


def test_a_run_that_fits_unrecorded_is_told_so(memory: SimpleNamespace) -> None:
    memory.size = int(effort_of(replace(ASKED, kept=False)).memory_bytes) + 1
    assert "--out" in refusal(ASKED)
    memory.size -= 2
    assert "--out" not in refusal(ASKED)


def test_flows_are_a_remedy_where_they_fit_and_nothing_speaks_against_them(
    memory: SimpleNamespace,
) -> None:
    pod = Asked(Scenario.preset("pod-1024"), 1, learns=False, kept=True)
    flows = replace(pod, scenario=pod.scenario.with_(optical__fidelity="flow"))
    memory.size = int(effort_of(pod).memory_bytes / 1.3)
    fits = effort_of(flows).memory_bytes <= memory.size
    assert ("fidelity=flow" in refusal(pod)) == fits
    loaded = pod.scenario.with_(optical__background__load=0.6)
    assert "fidelity" not in refusal(replace(pod, scenario=loaded))


def test_where_nothing_helps_a_refusal_says_what_to_make_smaller(memory: SimpleNamespace) -> None:
    memory.size = 1000
    assert "at most" not in refusal(ASKED)
    assert "--" not in refusal(ASKED)


def test_run_is_refused_in_one_line(
    memory: SimpleNamespace, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    memory.size = 400_000_000
    out = tmp_path / "out"
    assert main(["run", "tiny", "--iterations", "100000", "--out", str(out)]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "400 MB" in told
    assert not out.exists()


def test_a_full_disk_is_worth_a_warning(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=15_000_000))
    deep = tmp_path / "not" / "there" / "yet"
    assert scarce_disk(Effort(1, 1, 1.0, 0.0, 1.0, 7e6), deep) is None
    told = scarce_disk(Effort(1, 1, 1.0, 0.0, 1.0, 8e6), deep)
    assert told is not None
    assert "15 MB" in told
    assert "16 MB" in told


@pytest.mark.parametrize(("text", "limit"), [("1000000\n", 1000000), ("max\n", None)])
def test_a_container_has_the_memory_it_is_given(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, limit: int | None
) -> None:
    monkeypatch.setattr(arrays, "MEMORY_LIMITS", ())
    physical = arrays.memory_bytes()
    file = tmp_path / "memory.max"
    file.write_text(text)
    monkeypatch.setattr(arrays, "MEMORY_LIMITS", (file, tmp_path / "absent"))
    assert arrays.memory_bytes() == (limit or physical)
