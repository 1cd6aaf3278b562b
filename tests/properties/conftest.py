"""Shared by the properties: what one registers, the next does not know."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def independent(nothing_stays_registered: None) -> None:
    """Every property stands alone."""
