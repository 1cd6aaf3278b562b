"""Runs spread over processes give what a plain loop gives."""

from __future__ import annotations

import os

import pytest

from thzsync.errors import ThzSyncError
from thzsync.experiments.parallel import map_runs


def test_order_is_kept_and_progress_reaches_the_total() -> None:
    seen: list[tuple[int, int]] = []
    results = map_runs(abs, [-3, 1, -2], workers=2, progress=lambda *s: seen.append(s))
    assert results == [3, 1, 2]
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_one_worker_runs_here() -> None:
    assert map_runs(_pid, [0, 1], workers=1) == [os.getpid()] * 2


def test_workers_have_one_blas_thread_and_the_caller_keeps_its_own() -> None:
    before = os.environ.get("OMP_NUM_THREADS")
    assert map_runs(os.getenv, ["OMP_NUM_THREADS"] * 2, workers=2) == ["1", "1"]
    assert os.environ.get("OMP_NUM_THREADS") == before


def test_nothing_to_do_is_no_error() -> None:
    assert map_runs(abs, [], workers=2) == []


def test_an_error_in_a_run_reaches_the_caller_as_it_is() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        map_runs(int, ["1", "x", "2"], workers=2)


def test_a_worker_that_dies_is_reported_in_one_line() -> None:
    with pytest.raises(ThzSyncError, match=r"\d times"):
        map_runs(os._exit, [1, 1], workers=2)


def test_zero_workers_are_refused() -> None:
    with pytest.raises(ThzSyncError, match="at least 1"):
        map_runs(abs, [1], workers=0)


def _pid(_: int) -> int:
    return os.getpid()
