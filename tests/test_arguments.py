"""What a caller of the Python interface gets wrong is one line, as on the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import thzsync
from thzsync.errors import ThzSyncError

QUICK: dict[str, Any] = {"policy": "all-wired", "iterations": 1}


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: thzsync.simulate("tiny", seed=-1), "seed: found -1; .*0"),
        (lambda: thzsync.simulate("tiny", seed=0.5), r"seed: found 0\.5; "),
        (lambda: thzsync.simulate("tiny", iterations=1.5), r"iterations: found 1\.5; .*1"),
        (lambda: thzsync.synthesize("a2a", 4, size_bytes="4 ells"), "size_bytes: found '4 ells'"),
        (lambda: thzsync.synthesize("a2a", 4, size_bytes=-1), "size_bytes: found -1"),
        (lambda: thzsync.audit("no/such/folder"), r"run\.json"),
    ],
)
def test_a_mistake_is_one_line(call: Callable[[], object], told: str) -> None:
    with pytest.raises(ThzSyncError, match=told) as found:
        call()
    assert "\n" not in str(found.value)


def test_a_size_may_have_a_unit() -> None:
    words, number = (thzsync.synthesize("a2a", 4, size_bytes=s) for s in ("4 MiB", 4 * 2**20))
    assert words.completion_ps == number.completion_ps


def test_a_folder_is_audited_as_the_run_in_it(tmp_path: Path) -> None:
    run = thzsync.simulate("tiny", **QUICK)
    folder = run.save(tmp_path / "run")
    assert thzsync.audit(str(folder)).ok
    assert thzsync.audit(folder).ok


def test_nothing_is_saved_among_the_files_of_others(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    run = thzsync.simulate("tiny", **QUICK)
    comparison = thzsync.compare("tiny", ("all-wired",), 1, 1, 1)
    for save in (run.save, comparison.save):
        with pytest.raises(ThzSyncError, match=r"thesis\.tex"):
            save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_record_is_replaced_by_its_like_and_by_no_other(tmp_path: Path) -> None:
    run = thzsync.simulate("tiny", **QUICK)
    run.save(tmp_path)
    run.save(tmp_path)
    with pytest.raises(ThzSyncError, match=f"{tmp_path}: "):
        thzsync.compare("tiny", ("all-wired",), 1, 1, 1).save(tmp_path)
