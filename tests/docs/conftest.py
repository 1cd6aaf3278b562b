"""What a page registers is forgotten after its test; other tests register under the same names."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from thzsync.collectives import collective
from thzsync.importers import importer
from thzsync.synthesis import registry


@pytest.fixture(autouse=True)
def nothing_stays_registered() -> Iterator[None]:
    homes = (
        (collective._added, collective._collectives),
        (importer._added, importer._importers),
        (registry._added, registry._methods),
    )
    before = [dict(added) for added, _ in homes]
    yield
    for (added, cached), kept in zip(homes, before, strict=True):
        added.clear()
        added.update(kept)
        cached.cache_clear()
