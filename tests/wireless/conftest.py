"""Shared by the overlay's tests: kernels as plain Python."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.wireless.worlds import plain_kernels


@pytest.fixture
def uncompiled() -> Iterator[None]:
    """Run every kernel of the overlay as the Python it is written in."""
    with plain_kernels():
        yield
