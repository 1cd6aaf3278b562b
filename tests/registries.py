"""What a test registers is forgotten after it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from thzsync.collectives.collective import COLLECTIVES
from thzsync.execution.carrier import CARRIERS
from thzsync.importers.importer import IMPORTERS
from thzsync.scenario.antennas import ANTENNAS
from thzsync.synthesis.registry import METHODS
from thzsync.wireless.discipline import DISCIPLINES

FAMILIES = (METHODS, COLLECTIVES, DISCIPLINES, CARRIERS, IMPORTERS, ANTENNAS)


@contextmanager
def forgetting() -> Iterator[None]:
    """Objects of all families that are registered inside are unknown outside."""
    before = [dict(family.registered) for family in FAMILIES]
    try:
        yield
    finally:
        for family, old in zip(FAMILIES, before, strict=True):
            family.registered.clear()
            family.registered.update(old)
            family.forget()
