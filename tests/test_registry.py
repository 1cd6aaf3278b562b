"""Objects of packages and of this process are found by name, and a name belongs to one object."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from thzsync.errors import ThzSyncError
from thzsync.registry import Registry


def family(monkeypatch: pytest.MonkeyPatch, **packages: Callable[[], Any]) -> Registry[str, Any]:
    """A family of named things; the keywords are entry points and what loads them."""
    entries = [SimpleNamespace(name=name, load=load) for name, load in packages.items()]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: entries)
    monkeypatch.setattr(Registry, "families", [])

    def check(thing: Any, place: str) -> None:
        if not hasattr(thing, "name"):
            raise ThzSyncError(f"{place}: no name")

    return Registry("thing", "group", lambda: [thing("first")], check, lambda t: str(t.name))


def thing(name: str) -> Any:
    return SimpleNamespace(name=name)


def test_a_module_may_register_what_its_entry_point_names(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = thing("mine")
    things = family(monkeypatch, mine=lambda: things.register(mine))
    assert list(things.known()) == ["first", "mine"]
    assert things.register(mine) is mine


def test_a_name_is_given_once_wherever_it_comes_from(monkeypatch: pytest.MonkeyPatch) -> None:
    things = family(monkeypatch, mine=lambda: thing("mine"))
    assert "mine" in things.known()
    with pytest.raises(ThzSyncError, match=r"^thing 'mine' exists already"):
        things.register(thing("mine"))
    things = family(monkeypatch, mine=lambda: thing("first"))
    for _ in range(2):  # and it stays so
        with pytest.raises(ThzSyncError, match=r"^entry point 'mine' of group: thing 'first' "):
            things.known()


def test_an_unknown_name_is_told_the_known_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    things = family(monkeypatch, mine=lambda: thing("mine"))
    assert things.find("mine").name == "mine"
    with pytest.raises(ThzSyncError, match=r"^thing 'their' does not exist; .* first, mine;"):
        things.find("their")


def test_an_entry_point_that_cannot_be_loaded_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    things = family(monkeypatch, mine=lambda: 1 / 0)
    with pytest.raises(ThzSyncError, match=r"^entry point 'mine' of group: .*ZeroDivisionError"):
        things.known()


def test_registering_loads_no_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    """The module that registers may be half imported, for an entry point of another family."""
    things = family(monkeypatch, mine=lambda: pytest.fail("loaded"))
    things.register(thing("other"))
    assert list(things.registered) == ["other"]


def test_what_is_of_another_kind_is_refused_with_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ThzSyncError, match=r"^entry point 'mine' of group: no name"):
        family(monkeypatch, mine=lambda: 42).known()
    with pytest.raises(ThzSyncError, match=r"^thing: no name"):
        family(monkeypatch).register(42)
