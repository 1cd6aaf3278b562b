"""Names that several packages share, without anything heavy behind them."""

from __future__ import annotations

from typing import Final

PUBLISHED_POLICIES: Final = (
    "thz-sync", "shared-bandit", "ddqn", "fixed-ratio", "all-wired", "all-wireless",
)  # fmt: skip
"""The paper's policies, in the order of tables."""

BEST_OF: Final = {"all-wired": "all-wired-best", "all-wireless": "all-wireless-best"}
"""Baselines with the best methods of their carrier, by the paper's weaker version."""

POLICIES: Final = (*PUBLISHED_POLICIES, *BEST_OF.values())
"""The policies that come with the package, in the order of tables."""
