"""What a test registers or imports as a plug-in is forgotten after it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from thzsync import plugins
from thzsync.registry import Registry


@contextmanager
def forgetting() -> Iterator[None]:
    """Objects of all families that are registered inside are unknown outside."""
    before = {id(family): dict(family.registered) for family in Registry.families}
    path, modules = list(sys.path), set(sys.modules)
    known, added = dict(plugins._loaded), list(plugins._added)
    try:
        yield
    finally:
        for family in Registry.families:
            family.registered.clear()
            family.registered.update(before.get(id(family), {}))
            family.forget()
        tops = {name.partition(".")[0] for name in plugins._loaded.keys() - known.keys()}
        for name in sys.modules.keys() - modules:
            if name.partition(".")[0] in tops:
                del sys.modules[name]
        sys.path[:] = path
        plugins._loaded.clear()
        plugins._loaded.update(known)
        plugins._added[:] = added
