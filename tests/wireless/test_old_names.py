"""Names of version 0.2 lead to what they are called now, with a warning that says so."""

from __future__ import annotations

from importlib import import_module

import pytest

from thzsync.wireless import group, state


@pytest.mark.parametrize(
    ("place", "old", "new"),
    [
        ("party", "Party", group.FlowGroup),
        ("state", "Seat", state.GroupView),
        ("state", "Frontier", state.ReadyQueue),
    ],
)
def test_an_old_name_still_works_and_names_the_new_one(place: str, old: str, new: type) -> None:
    module = import_module(f"thzsync.wireless.{place}")
    with pytest.warns(DeprecationWarning, match=new.__name__):
        assert getattr(module, old) is new


def test_other_names_are_unknown() -> None:
    with pytest.raises(AttributeError):
        state.Sofa  # noqa: B018
