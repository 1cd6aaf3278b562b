"""Plug-ins: modules that a scenario names, and that every process imports before it reads one.

An entry is a module's name, such as ``my_lab.methods``, or ``FOLDER/my_lab.methods`` where the
package lies in a folder that Python does not search. What a plug-in is made of, the ``.py`` files
of its package or its one file, is hashed for records and sent along to workers that lack it.
"""

from __future__ import annotations

import atexit
import hashlib
import re
import shutil
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module, invalidate_caches
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from os.path import abspath
from pathlib import Path
from typing import Any, Final

from thzsync.errors import ThzSyncError, in_one_line
from thzsync.registry import Registry, registering

ENTRY: Final = re.compile(r"(.+/)?[^\W\d]\w*(\.[^\W\d]\w*)*")
HOMES: Final = (
    "scenario.scenario", "collectives.collective", "synthesis.registry", "wireless.discipline",
    "execution.carrier", "coordinator.registry", "importers.importer",
)  # fmt: skip
"""Modules of this package whose import makes all families known."""
MOST_SENT_BYTES: Final = 2**20
"""Largest source that is sent to workers; larger packages must be installed there [bytes]."""


@dataclass(frozen=True)
class Plugin:
    """A module that was imported."""

    name: str
    version: str | None
    """Of the module, its package or its distribution."""
    sha256: str
    """Of all its source files."""
    folder: str
    """Where its package or file lies."""
    sources: dict[str, bytes]
    """Its source files by path below the folder; none if they are too large to be sent."""


_loaded: dict[str, Plugin] = {}
_added: list[str] = []
"""Folders that plug-ins were found in, at the end of Python's path."""


def load(entries: Iterable[str], place: str, beside: Path | None = None) -> tuple[str, ...]:
    """Import the modules that are not loaded yet; ``place`` says in errors who names them.

    The current folder and the folder ``beside`` are searched after Python's path. Returns the
    entries as they are found from the current folder alone.
    """
    return tuple(dict.fromkeys(_load(entry, place, beside) for entry in entries))


def families() -> list[Registry[Any, Any]]:
    """All families of objects that plug-ins may add to."""
    for home in HOMES:
        import_module(f"thzsync.{home}")
    return Registry.families


def loaded(entry: str) -> Plugin:
    """The plug-in of an entry that was loaded."""
    return _loaded[_module(entry)]


def all_loaded() -> tuple[Plugin, ...]:
    """Every plug-in of this process."""
    return tuple(_loaded.values())


def told(entries: Iterable[str]) -> dict[str, dict[str, str | None]]:
    """Version and hash of plug-ins by name, for records."""
    found = map(loaded, entries)
    return {plugin.name: {"version": plugin.version, "sha256": plugin.sha256} for plugin in found}


def changed(recorded: Any, entries: Iterable[str]) -> list[str]:
    """Names of plug-ins whose files are not those that a record tells of."""
    of = recorded if isinstance(recorded, Mapping) else {}
    now = told(entries)
    return [name for name in now if of.get(name, {}).get("sha256") != now[name]["sha256"]]


def warn_if_changed(recorded: Any, entries: Iterable[str], place: str) -> None:
    """Warn if a record was made with other files of its plug-ins."""
    for name in changed(recorded, entries):
        text = f"{place}: plug-in {name} has changed since; results may differ from the record's"
        warnings.warn(text, stacklevel=3)


def located(entry: str) -> str:
    """An entry for a process in another folder."""
    parent, slash, module = entry.rpartition("/")
    return f"{abspath(parent)}/{module}" if slash else entry


def sent(entries: Iterable[str]) -> tuple[Plugin, ...]:
    """What another process needs to load the same plug-ins."""
    return tuple(map(loaded, entries))


def receive(plugins: Sequence[Plugin]) -> None:
    """Load the plug-ins of the calling process: from Python's path, their folder, or as sent."""
    for plugin in plugins:
        top = _top(plugin.name)
        if plugin.name not in _loaded:
            if not _is_on_path(top):
                there = _is_in(plugin.folder, top)
                _search(plugin.folder if there or not plugin.sources else _unpacked(plugin))
            _import(plugin.name, "plugins of this worker")
        if _loaded[plugin.name].sha256 != plugin.sha256:
            raise ThzSyncError(
                f"plug-in {plugin.name}: this worker has other files of it; restart the workers, "
                "or install one version everywhere"
            )


@contextmanager
def blamed(what: str) -> Iterator[None]:
    """What goes wrong inside, in code of others, is one line that names it."""
    try:
        yield
    except ThzSyncError:
        raise
    except Exception as error:
        where = _place(error, _loaded)
        raise ThzSyncError(f"{what} failed with {in_one_line(error)}{where}") from error


def fault(error: BaseException) -> ThzSyncError | None:
    """An error in the code of a plug-in as one line with its place; None for any other error."""
    where = _place(error, _loaded)
    return ThzSyncError(f"a plug-in failed with {in_one_line(error)}{where}") if where else None


def _module(entry: str) -> str:
    return entry.rpartition("/")[2]


def _top(name: str) -> str:
    """The package of a module."""
    return name.partition(".")[0]


def _place(error: BaseException, plugins: Iterable[str]) -> str:
    """Where plug-ins were at an error: the innermost of their lines; empty if they were not."""
    tops, found = set(map(_top, plugins)), ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        if _top(str(frame.f_globals.get("__name__"))) in tops:
            found = f" ({frame.f_code.co_filename}, line {line})"
    return found


def _load(entry: str, place: str, beside: Path | None) -> str:
    if not ENTRY.fullmatch(entry) or entry.endswith(".py"):
        raise ThzSyncError(f"{place}: found {entry!r}; name a module, such as my_lab.methods")
    parent, slash, module = entry.rpartition("/")
    top = _top(module)
    if top in sys.stdlib_module_names or top == "thzsync":
        raise ThzSyncError(f"{place}: {top} is a module of Python or of thzsync; rename yours")
    here, found = Path(parent), None
    if module not in _loaded:
        invalidate_caches()
    if slash or not _is_on_path(top):
        places = [here] if beside is None else [here, beside / here]
        found = next((folder for folder in places if _is_in(folder, top)), None)
        if found is not None:
            _search(abspath(found))
            entry = module if found == Path() else f"{found.as_posix()}/{module}"
    if module not in _loaded:
        _import(module, place, parent)
    folder = _loaded[module].folder
    if found is not None and folder != abspath(found):
        raise ThzSyncError(
            f"{place}: {entry}: module {top} of {folder} is in use already; rename one of the two"
        )
    return entry


def _is_on_path(top: str) -> bool:
    """Whether Python finds a module or package without the folders that were added here."""
    try:
        spec = find_spec(top)
    except ValueError:  # made by a running program, not found
        return True
    return spec is not None and _folder(spec) not in _added


def _is_in(folder: str | Path, top: str) -> bool:
    return PathFinder.find_spec(top, [abspath(folder)]) is not None


def _folder(spec: ModuleSpec) -> str:
    """Where a package or a file lies."""
    places = list(spec.submodule_search_locations or ())
    place = places[0] if places else spec.origin or ""
    return str(Path(abspath(place)).parent)


def _search(folder: str) -> None:
    if folder not in sys.path:
        sys.path.append(folder)
        _added.append(folder)


def _import(name: str, place: str, parent: str = "") -> None:
    """Import a module; after a failure nothing of it stays, so that it can be tried again."""
    before = set(sys.modules)
    try:
        with registering(name):
            module = import_module(name)
        _loaded[name] = _described(name, module)
    except (Exception, SystemExit) as error:
        for family in Registry.families:
            family.drop(name)
        for module_name in sys.modules.keys() - before:
            if _top(module_name) == _top(name):
                del sys.modules[module_name]
        raise ThzSyncError(f"{place}: {_failure(name, parent, error)}") from error


def _failure(name: str, parent: str, error: BaseException) -> str:
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    if missing is not None and f"{name}.".startswith(f"{missing}."):
        searched = f"in {parent}" if parent else "on Python's path, in this folder"
        return (
            f"there is no module {missing} {searched} or beside the scenario; install it, or say "
            f"where it lies with --plugin FOLDER/{name}"
        )
    text, where = in_one_line(error), _place(error, [name])
    if isinstance(error, SyntaxError) and error.filename is not None:
        text, where = f"SyntaxError: {error.msg}", f" ({error.filename}, line {error.lineno})"
    return f"plug-in {name} cannot be imported: {text}{where}"


def _described(name: str, module: Any) -> Plugin:
    top = sys.modules[_top(name)]
    versions = (getattr(m, "__version__", None) for m in (module, top))
    version = next((str(v) for v in versions if v is not None), None)
    sources = dict(_sources(top))
    digest = hashlib.sha256()
    for path, content in sources.items():
        digest.update(f"{path}\0{len(content)}\0".encode() + content)
    size = sum(map(len, sources.values()))
    spec = top.__spec__
    return Plugin(
        name,
        version or _distribution_version(top.__name__),
        digest.hexdigest(),
        "" if spec is None else _folder(spec),
        sources if size <= MOST_SENT_BYTES else {},
    )


def _distribution_version(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _sources(top: Any) -> Iterator[tuple[str, bytes]]:
    """Path and content of a package's Python files, or of a module's one file."""
    if not hasattr(top, "__path__"):
        if file := getattr(top, "__file__", None):
            yield Path(file).name, Path(file).read_bytes()
        return
    for folder in top.__path__:
        for file in sorted(Path(folder).rglob("*.py")):
            yield f"{top.__name__}/{file.relative_to(folder).as_posix()}", file.read_bytes()


def _unpacked(plugin: Plugin) -> str:
    """A folder of this process with the files that were sent."""
    folder = Path(tempfile.mkdtemp(prefix="thzsync-plugins-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for path, content in plugin.sources.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return str(folder)
