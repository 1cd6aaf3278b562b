"""Names and marks of policies and methods, the same in every picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any, Final

POLICY_LABELS: Final = {
    "thz-sync": "THz-SynC",
    "shared-bandit": "Shared bandit",
    "ddqn": "DDQN",
    "fixed-ratio": "Fixed ratio",
    "all-wired": "All-wired",
    "all-wireless": "All-wireless",
    "all-wired-best": "All-wired, best",
    "all-wireless-best": "All-wireless, best",
    "thz-sync, model-based start": "THz-SynC, model-based start",
    "thz-sync, reckoned start": "THz-SynC, model-based start",  # its name until 0.3
}
METHOD_LABELS: Final = {
    "proposed": "Proposed",
    "demand-sorted": "Demand-sorted",
    "cyclic": "Cyclic",
    "no-channel": "No channel-awareness",
    "equal-power": "Equal power",
    "ring": "Ring",
    "ring-duplex": "Ring, duplex",
    "single-tree": "Single tree",
}
COLOURS: Final = (
    "#0072b2",  # Okabe and Ito's palette: told apart with every kind of colour vision
    "#56b4e9",
    "#cc79a7",
    "#009e73",
    "#e69f00",
    "#d55e00",
    "#7f7f7f",
    "#8c6d31",
)
"""Colours by style index on a light ground; the report's style sheet has those for dark."""


def label(names: Mapping[str, str], key: str) -> str:
    """The name that people read; other names stay as they are."""
    return names.get(key, key)


def policy_name(row: Mapping[str, Any]) -> str:
    """The name of a row's policy that people read."""
    return label(POLICY_LABELS, row["policy"])


def styles(names: Mapping[str, str], keys: Iterable[str]) -> list[dict[str, Any]]:
    """Key, label and style index of every series; built-in ones keep theirs in every report."""
    fixed = {key: index for index, key in enumerate(names)}
    spare = (i for i in range(len(fixed), 10**6))
    return [
        {
            "key": key,
            "label": label(names, key),
            "style": (fixed[key] if key in fixed else next(spare)) % len(COLOURS),
        }
        for key in keys
    ]


def short(value: Any, digits: int = 5) -> float | None:
    """A float with few digits for the embedded data; ``None`` when it is no finite number."""
    if value is None or not isfinite(value):
        return None
    return float(f"{value:.{digits}g}")
