"""Hypothesis profiles, and what tests of several folders share.

Few examples by default, many with THZSYNC_THOROUGH=1 (`make verify`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.registries import forgetting

# Deadlines measure the machine, and the first call of a kernel compiles it.
# The fast profile tries the same examples every time; only the thorough one looks for new ones.
settings.register_profile(
    "fast",
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "thorough", settings.get_profile("fast"), max_examples=1000, derandomize=False
)
settings.load_profile("thorough" if os.environ.get("THZSYNC_THOROUGH") == "1" else "fast")


@pytest.fixture
def nothing_stays_registered() -> Iterator[None]:
    """What a test registers, the next one does not know."""
    with forgetting():
        yield
