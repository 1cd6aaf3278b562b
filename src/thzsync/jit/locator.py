"""Tells Numba where machine code is stored, and hears from it when a kernel is compiled."""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from thzsync.jit.stored import about_to_compile, code_folder

# Numba's annotations leave these out
caching: Any = import_module("numba.core.caching")
config: Any = import_module("numba").config
event: Any = import_module("numba.core.event")

USUAL: Final = ("UserProvided", "InTree", "UserWide", "IPython", "Zip")
"""How Numba finds a place for functions outside this package."""

_folder_of = cache(code_folder)
_folders: dict[Any, Path] = {}


def store(kernel: Any) -> None:
    """Have the machine code of a kernel stored, if its module can be imported and has a place.

    Numba's setting CACHE_LOCATOR_CLASSES names those who know a place; ours comes first.
    """
    function = kernel.py_func
    file = Path(function.__code__.co_filename)
    known = file.is_file() and _can_be_imported(function.__module__)
    folder = _folder_of(file.resolve().parent) if known else None
    if folder is None:
        return
    _folders[function] = folder
    ours = f"{__name__}.{Locator.__name__}"
    others = config.CACHE_LOCATOR_CLASSES or ",".join(f"{name}CacheLocator" for name in USUAL)
    if ours not in others:
        config.CACHE_LOCATOR_CLASSES = f"{ours},{others}"
    kernel.enable_caching()


def _can_be_imported(name: str | None) -> bool:
    """Whether the next process finds a module by its name, as it must to load stored code."""
    module = sys.modules.get(name or "")
    return name == "__main__" or getattr(module, "__spec__", None) is not None


class Locator(caching.InTreeCacheLocator):  # type: ignore[misc]
    """Numba's question where the code of a function is stored."""

    def __init__(self, function: Any, file: str) -> None:
        super().__init__(function, file)
        self._folder = _folders[function]

    @classmethod
    def from_function(cls, function: Any, file: str) -> Any:
        """The answer for a kernel; None for functions outside this package."""
        return cls(function, file) if function in _folders else None

    def get_cache_path(self) -> str:
        """The folder, named after the digest of the sources."""
        return str(self._folder)

    def get_source_stamp(self) -> str:
        """The code in a folder is never out of date."""
        return self._folder.name


class _Listener(event.Listener):  # type: ignore[misc]
    def on_start(self, event: Any) -> None:
        if event.data["dispatcher"].py_func in _folders:
            about_to_compile()

    def on_end(self, event: Any) -> None: ...


event.register("numba:compile", _Listener())
