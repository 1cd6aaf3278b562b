"""Columns of a record, however their cells were given."""

from __future__ import annotations

import numpy as np
import pytest

from thzsync.records import Recorder

LINK = {"start_ps": 0, "end_ps": 5, "link": 1, "bytes": 2, "background_bytes": 3}


def test_scalars_are_repeated_beside_arrays() -> None:
    recorder = Recorder()
    recorder.add("links", 2, **LINK | {"link": np.array([4, 6]), "bytes": np.array([7, 8])})
    recorder.add("links", 1, **LINK | {"link": np.array([9]), "start_ps": 1})
    recorder.add("links", 0, **LINK | {"link": np.zeros(0, dtype=np.int64)})
    found = recorder.frames()["links"]
    assert found["start_ps"].to_list() == [0, 0, 1]  # scalars only
    assert found["link"].to_list() == [4, 6, 9]  # arrays only
    assert found["bytes"].to_list() == [7, 8, 2]  # both


def test_new_rows_are_handed_over_once() -> None:
    recorder = Recorder()
    recorder.add("links", **LINK)
    assert recorder.new_frames()["links"].height == 1
    recorder.add("links", **LINK | {"link": 7})
    assert recorder.new_frames()["links"]["link"].to_list() == [7]
    assert recorder.new_frames()["links"].height == 0
    assert recorder.frames()["links"].height == 2


def test_what_one_recorder_takes_over_the_other_no_longer_has() -> None:
    """Rows that are frames already, and rows that still wait, go over in their order."""
    whole, part = Recorder(), Recorder()
    whole.add("links", **LINK)
    part.add("links", **LINK | {"link": 2})
    assert part.new_frames()["links"].height == 1  # which makes a frame of it
    part.add("links", **LINK | {"link": 3})
    whole.extend(part)
    assert whole.frames()["links"]["link"].to_list() == [1, 2, 3]
    assert part.frames()["links"].height == 0
    whole.extend(part)
    assert whole.frames()["links"].height == 3


def test_a_missing_column_is_an_error() -> None:
    with pytest.raises(KeyError):
        Recorder().add("links", start_ps=0)
