"""Shared by the properties: what one registers, the next does not know."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.registries import forgetting


@pytest.fixture(autouse=True)
def nothing_stays_registered() -> Iterator[None]:
    with forgetting():
        yield
