"""What a test registers is forgotten after it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from thzsync.collectives import collective
from thzsync.execution import carrier
from thzsync.importers import importer
from thzsync.synthesis import registry
from thzsync.wireless import discipline

HOMES = (
    (registry._added, registry._methods),
    (collective._added, collective._collectives),
    (discipline._added, discipline._disciplines),
    (carrier._added, carrier._carriers),
    (importer._added, importer._importers),
)


@contextmanager
def forgetting() -> Iterator[None]:
    """What is registered inside is unknown outside."""
    before = [dict(added) for added, _ in HOMES]
    try:
        yield
    finally:
        for (added, known), old in zip(HOMES, before, strict=True):
            added.clear()
            added.update(old)
            known.cache_clear()
