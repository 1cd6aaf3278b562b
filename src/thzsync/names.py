"""Names that several rooms share, without anything heavy behind them."""

from __future__ import annotations

from typing import Final

POLICIES: Final = (
    "thz-sync", "shared-bandit", "ddqn", "fixed-ratio", "all-wired", "all-wireless",
)  # fmt: skip
"""The policies that come with the package, in the order of tables."""
