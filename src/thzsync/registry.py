"""Objects by name: built-in ones, those of installed packages, and those of this process."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Final, Generic, TypeVar, cast

from thzsync.errors import ThzSyncError, in_one_line

K = TypeVar("K", str, tuple[str, str])
T = TypeVar("T")
S = TypeVar("S")

BUILT_IN: Final = "built in"
Foreign = tuple[str, Any, str]
"""Noun and key of an object of another process, and the module that registered it there."""

_plugin: list[str] = []
"""The plug-in that is being imported, if any."""
_elsewhere: dict[tuple[str, Any], str] = {}


class Registry(Generic[K, T]):
    """One family of objects, such as all synthesis methods.

    Packages add theirs through an entry-point group, modules with :meth:`register`. A module may do
    both for one object.
    """

    families: ClassVar[list[Registry[Any, Any]]] = []
    """All families whose modules have been imported."""

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
        self._packages: dict[K, str] = {}
        self.registered: dict[K, T] = {}
        """Those of this process."""
        self.modules: dict[K, str] = {}
        """The plug-in that registered an object, or else the module."""
        self._all: dict[K, T] | None = None
        Registry.families.append(self)

    def register(self, thing: S) -> S:
        """Make an object known to this process; a class can be decorated.

        It loads no entry point, because the caller may be a module that is loaded for one.
        """
        self._check(thing, self.noun)
        member = cast(T, thing)
        others = self._first() if self._installed is None else self._installed
        self._add(member, self.registered, others, "")
        self.modules.setdefault(self._key(member), _plugin[-1] if _plugin else _calling_module())
        return thing

    @contextmanager
    def temporarily(self, *things: T) -> Iterator[None]:
        """Know some objects inside a ``with`` block, where they are not known anyway."""
        before, modules = dict(self.registered), dict(self.modules)
        for thing in things:
            self.register(thing)
        try:
            yield
        finally:
            self.registered, self.modules, self._all = before, modules, None

    def known(self) -> dict[K, T]:
        """All objects, built-in ones first."""
        if self._all is None:
            if self._installed is None:
                self._installed = self._load()
            self._all = self._installed | self.registered
        return self._all

    def get(self, key: K) -> T | None:
        """The object of a key, if it is known.

        One that only the process knows from which this worker got its task is refused.
        """
        found = self.known().get(key)
        if found is None and (self.noun, key) in _elsewhere:
            module = _elsewhere[self.noun, key]
            what = self._named(key)
            raise ThzSyncError(
                f"{what} is registered in the calling process only; name its module in the "
                f'scenario: plugins = ["{module}"]'
                if module != "__main__"
                else f"{what} is registered in the calling program only; put it into a module and "
                "name that in the scenario's plugins"
            )
        return found

    def find(self, key: K) -> T:
        """The object of a key; an unknown one is refused."""
        found = self.get(key)
        if found is None:
            alike = [k for k in self.known() if isinstance(k, str) or k[0] == key[0]]
            names = ", ".join(k if isinstance(k, str) else k[1] for k in alike)
            others = f"use one of {names}" if names else "none is known"
            raise ThzSyncError(
                f"{self._named(key)} does not exist; {others}; plug-ins may bring more"
            )
        return found

    def origin(self, key: K) -> str:
        """Where a known object comes from: built in, a package, or a module."""
        return self._packages.get(key) or self.modules.get(key, BUILT_IN)

    def drop(self, module: str) -> None:
        """Forget what a module registered."""
        for key in [key for key, name in self.modules.items() if name == module]:
            del self.modules[key]
            self.registered.pop(key, None)
        self._all = None

    def forget(self) -> None:
        """Look for entry points again at the next question."""
        self._installed = self._all = None
        self.modules = {key: self.modules[key] for key in self.registered if key in self.modules}

    def _first(self) -> dict[K, T]:
        return {self._key(thing): thing for thing in self._built_in()}

    def _load(self) -> dict[K, T]:
        from importlib.metadata import entry_points

        found = self._first()
        for entry in entry_points(group=self.group):
            place = f"entry point {entry.name!r} of {self.group}"
            try:
                thing = self._load_entry(entry)
            except Exception as error:
                raise ThzSyncError(f"{place}: cannot load it: {in_one_line(error)}") from error
            self._check(thing, place)
            self._add(thing, found, self.registered, f"{place}: ")
            package = getattr(entry, "dist", None)
            self._packages[self._key(thing)] = (
                entry.name if package is None else f"{package.name} {package.version}"
            )
        return found

    def _add(self, thing: T, to: dict[K, T], others: dict[K, T], place: str) -> T:
        key = self._key(thing)
        if any(known.get(key, thing) is not thing for known in (to, others)):
            raise ThzSyncError(f"{place}{self._named(key)} exists already; choose another name")
        to[key] = thing
        self._all = None
        return thing

    def _named(self, key: K) -> str:
        if isinstance(key, str):
            return f"{self.noun} {key!r}"
        return f"{key[0]} {self.noun} {key[1]!r}"


@contextmanager
def registering(plugin: str) -> Iterator[None]:
    """What is registered inside belongs to a plug-in."""
    _plugin.append(plugin)
    try:
        yield
    finally:
        _plugin.pop()


def only_here(plugins: Iterable[str]) -> tuple[Foreign, ...]:
    """What modules of this process have registered that are none of these plug-ins."""
    packages = {name.partition(".")[0] for name in plugins}
    return tuple(
        (family.noun, key, module)
        for family in Registry.families
        for key, module in family.modules.items()
        if family.origin(key) == module and module.partition(".")[0] not in packages
    )


def note_elsewhere(objects: Iterable[Foreign]) -> None:
    """Remember what the calling process has registered, for the error if it is needed here."""
    _elsewhere.update({(noun, key): module for noun, key, module in objects})


def _calling_module() -> str:
    """The module outside of this package that called."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _name(frame).startswith("thzsync."):
        frame = frame.f_back
    return _name(frame)


def _name(frame: Any) -> str:
    return str(frame.f_globals.get("__name__", ""))
