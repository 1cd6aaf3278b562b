"""A specification says what varies; its mistakes are one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from thzsync.errors import ThzSyncError
from thzsync.studies.specification import (
    read_assignments,
    read_specification,
    specify,
    split_values,
)


def test_axes_are_crossed_and_groups_are_zipped() -> None:
    spec = specify(
        {"axes": {"a": [1, 2]}, "zipped": [{"b": [3, 4, 5], "c": [6, 7, 8]}], "seeds": 2}, "x"
    )
    points = spec.points()
    assert len(points) == 2 * 3
    assert points[0] == {"a": 1, "b": 3, "c": 6}
    assert points[-1] == {"a": 2, "b": 5, "c": 8}
    assert spec.keys == ["a", "b", "c"]
    assert spec.seeds == (0, 1)


def test_no_axis_is_one_point() -> None:
    assert specify({}, "x").points() == [{}]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"axis": {}}, "x: axis: .*'axes'"),
        ({"axes": {"a": []}}, r"x: axes\.a: "),
        ({"zipped": [{"a": [1], "b": [1, 2]}]}, "x: zipped: a .*1, b .*2"),
        ({"axes": {"a": [1]}, "zipped": [{"a": [2]}]}, "x: axes: a "),
        ({"policies": ["ddqn", "ddqn"]}, "x: policies: ddqn "),
        ({"seeds": [1, 1]}, "x: seeds: "),
        ({"seeds": 0}, "x: seeds: found 0"),
        ({"iterations": 3, "first": 3}, r"x: first: found 3; .*iterations \(3\)"),
    ],
)
def test_mistakes_are_refused_in_one_line(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ThzSyncError, match=f"^{message}") as error:
        specify(values, "x")
    assert "\n" not in str(error.value)


def test_a_file_may_write_dotted_keys_with_or_without_quotes(tmp_path: Path) -> None:
    file = tmp_path / "spec.toml"
    file.write_text(
        'base = "tiny"\nset.optical.background.load = 0.1\n'
        '[axes]\nthz.subbands = [1, 2]\n"jobs.0.training.microbatches" = [2]\n'
    )
    spec = read_specification(file)
    assert spec is not None
    assert spec.keys == ["thz.subbands", "jobs.0.training.microbatches"]
    assert spec.set == {"optical.background.load": 0.1}


def test_a_base_beside_the_specification_is_found(tmp_path: Path) -> None:
    (tmp_path / "hall.toml").write_text('preset = "tiny"\n')
    (tmp_path / "spec.toml").write_text('base = "hall.toml"\n')
    spec = read_specification(tmp_path / "spec.toml")
    assert spec is not None
    assert spec.base == str(tmp_path / "hall.toml")
    assert read_specification(tmp_path / "hall.toml") is None, "a scenario is no specification"


def test_options_become_axes_changes_and_groups() -> None:
    found = read_assignments(
        ["a=1,2", "b=ring", "c=[1, 2],[3]", "d=5,6", "e=0.1 W,0.2 W"], ["a, d"]
    )
    assert found == {
        "set": {"b": "ring"},
        "axes": {"c": [[1, 2], [3]], "e": ["0.1 W", "0.2 W"]},
        "zipped": [{"a": [1, 2], "d": [5, 6]}],
    }


def test_options_on_top_of_a_specification_move_keys_and_keep_the_rest() -> None:
    spec = specify(
        {
            "set": {"a": 1, "b": 2},
            "axes": {"c": [1, 2], "d": [3, 4]},
            "zipped": [{"e": [1, 2], "f": [3, 4]}],
            "seeds": 5,
        },
        "x",
    )
    over = spec.overridden({"set": {"c": 9}, "axes": {"a": [5, 6], "e": [7]}, "seeds": 2})
    assert over.set == {"b": 2, "c": 9}
    assert over.axes == {"d": (3, 4), "a": (5, 6), "e": (7,)}
    assert over.zipped == ({"f": (3, 4)},)
    assert over.seeds == (0, 1)
    assert spec.overridden({"iterations": 3}).seeds == spec.seeds


def test_commas_in_quotes_and_brackets_do_not_split() -> None:
    assert list(split_values("'a,b',{x=1,y=[2,3]},c")) == ["'a,b'", "{x=1,y=[2,3]}", "c"]


@pytest.mark.parametrize(
    ("changes", "zipped", "message"),
    [(["a=1", "a=2"], [], "a "), (["a=1,2"], ["a,b"], r"\bb ")],
)
def test_wrong_options_are_refused(changes: list[str], zipped: list[str], message: str) -> None:
    with pytest.raises(ThzSyncError, match=message):
        read_assignments(changes, zipped)
