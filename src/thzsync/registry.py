"""Objects by name: built-in ones, those of installed packages, and those of this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from thzsync.errors import ThzSyncError

K = TypeVar("K", str, tuple[str, str])
T = TypeVar("T")


class Registry(Generic[K, T]):
    """One family of objects, such as all synthesis methods.

    Packages add theirs through an entry-point group, scripts with :meth:`register`. A module may do
    both for one object.
    """

    def __init__(
        self,
        noun: str,
        group: str,
        built_in: Callable[[], Iterable[T]],
        check: Callable[[Any, str], None],
        key: Callable[[T], K],
        load: Callable[[Any], T] = lambda entry: entry.load(),
    ) -> None:
        """``check`` refuses an object of another kind; it is given the place for its message.

        ``load`` turns an entry point into an object.
        """
        self.noun, self.group = noun, group
        self._built_in, self._check = built_in, check
        self._key: Callable[[T], K] = key
        self._load_entry: Callable[[Any], T] = load
        self._installed: dict[K, T] | None = None  # built-in ones and those of packages
        self.registered: dict[K, T] = {}
        """Those of this process."""
        self._all: dict[K, T] | None = None

    def register(self, thing: T) -> T:
        """Make an object known to this process.

        It loads no entry point, because the caller may be a module that is loaded for one.
        """
        self._check(thing, self.noun)
        others = self._first() if self._installed is None else self._installed
        return self._add(thing, self.registered, others, "")

    @contextmanager
    def temporarily(self, *things: T) -> Iterator[None]:
        """Know some objects inside a ``with`` block, where they are not known anyway."""
        before = dict(self.registered)
        for thing in things:
            self.register(thing)
        try:
            yield
        finally:
            self.registered.clear()
            self.registered.update(before)
            self._all = None

    def known(self) -> dict[K, T]:
        """All objects, built-in ones first."""
        if self._all is None:
            if self._installed is None:
                self._installed = self._load()
            self._all = self._installed | self.registered
        return self._all

    def forget(self) -> None:
        """Look for entry points again at the next question."""
        self._installed = self._all = None

    def _first(self) -> dict[K, T]:
        return {self._key(thing): thing for thing in self._built_in()}

    def _load(self) -> dict[K, T]:
        from importlib.metadata import entry_points

        found = self._first()
        for entry in entry_points(group=self.group):
            place = f"entry point {entry.name!r} of {self.group}"
            thing = self._load_entry(entry)
            self._check(thing, place)
            self._add(thing, found, self.registered, f"{place}: ")
        return found

    def _add(self, thing: T, to: dict[K, T], others: dict[K, T], place: str) -> T:
        key = self._key(thing)
        if any(known.get(key, thing) is not thing for known in (to, others)):
            parts = (
                (self.noun, repr(key))
                if isinstance(key, str)
                else (key[0], self.noun, repr(key[1]))
            )
            raise ThzSyncError(f"{place}{' '.join(parts)} exists already; choose another name")
        to[key] = thing
        self._all = None
        return thing
