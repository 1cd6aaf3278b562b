"""Long tables: made frames as they grow, and equal on disk however they came together."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from thzsync.records import Recorder, recorder
from thzsync.records.recorder import add_frame
from thzsync.records.run import frame_bytes


@pytest.fixture(autouse=True)
def _short_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "SEGMENT_ROWS", 7)


def add(to: Recorder, first: int, rows: int) -> None:
    count = np.arange(first, first + rows)
    to.add("links", rows, start_ps=first, end_ps=2 * count, link=count, bytes=count,
           background_bytes=0)  # fmt: skip


def test_rows_come_out_as_they_went_in_and_once() -> None:
    whole, first, second = Recorder(), Recorder(), Recorder()
    add(whole, 0, 3)
    add(first, 3, 9)
    add(second, 12, 4)
    add(second, 16, 1)
    whole.extend(first)
    assert whole.new_frames()["links"]["link"].to_list() == list(range(12))
    whole.extend(second)
    assert whole.new_frames()["links"]["link"].to_list() == list(range(12, 17))
    assert whole.new_frames()["links"].height == 0
    for _ in range(2):
        assert whole.frames()["links"]["link"].to_list() == list(range(17))
    assert whole.new_frames()["links"].height == 0
    assert whole.frames()["events"].height == 0


@pytest.mark.parametrize("cuts", [(), (1,), (7,), (5, 6, 20), (7, 14, 21), (3, 17, 22)])
def test_equal_tables_are_equal_on_disk_however_they_were_cut(cuts: tuple[int, ...]) -> None:
    random = np.random.default_rng(0)
    lists = [random.integers(0, 9, size).tolist() for size in random.integers(0, 4, 24)]
    table = pl.DataFrame({"a": random.integers(0, 9, 24), "b": random.random(24) < 0.5, "c": lists})
    edges = (0, *cuts, 24)
    pieces = [table[a:b] for a, b in pairwise(edges)]
    assert frame_bytes(pl.concat(pieces, rechunk=False)) == frame_bytes(table)
    together: list[pl.DataFrame] = []
    for piece in pieces:
        add_frame(together, piece)
    assert [piece.height for piece in together] == [7, 7, 7, 3]
    assert pl.concat(together).equals(table)
