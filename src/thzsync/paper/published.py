"""The paper's published numbers, typed, so that every result can stand beside them."""

from __future__ import annotations

from typing import Final, NamedTuple

from thzsync.errors import ThzSyncError


class Published(NamedTuple):
    """One number of the paper."""

    figure: str
    """Experiment: ``fabric``, ``synthesis`` or ``weights``."""
    series: str
    """Policy, or collective and method, or an ablation."""
    setting: str
    metric: str
    value: float
    unit: str


_TRACE: Final = "iterations 11-20"
_CLEAN: Final = "N=12 no stragglers"
_LATE: Final = "N=12 stragglers"
_FOUR: Final = "N=12 all four settings"

PUBLISHED: Final = (
    Published("fabric", "thz-sync", _TRACE, "completion", 1050.0, "ms"),
    Published("fabric", "shared-bandit", _TRACE, "completion", 1186.0, "ms"),
    Published("fabric", "all-wired", _TRACE, "completion", 1359.0, "ms"),
    Published("fabric", "all-wireless", _TRACE, "completion", 1758.0, "ms"),
    Published("fabric", "fixed-ratio", _TRACE, "completion", 1218.0, "ms"),  # from -13.8 %
    Published("fabric", "ddqn", _TRACE, "completion", 1306.0, "ms"),  # from -19.6 %
    Published("fabric", "thz-sync", _TRACE, "energy", 14.51, "J"),
    Published("fabric", "shared-bandit", _TRACE, "energy", 12.71, "J"),
    Published("fabric", "all-wired", _TRACE, "energy", 27.52, "J"),
    Published("fabric", "all-wireless", _TRACE, "energy", 1.13, "J"),
    Published("fabric", "thz-sync", _TRACE, "reward", -0.54, ""),
    Published("synthesis", "a2a proposed", "N=4 no stragglers", "completion", 17.7, "ms"),
    Published("synthesis", "a2a proposed", _CLEAN, "completion", 24.2, "ms"),
    Published("synthesis", "a2a demand-sorted", _CLEAN, "completion", 32.8, "ms"),  # from -26.2 %
    Published("synthesis", "a2a cyclic", _CLEAN, "completion", 56.4, "ms"),  # from -57.1 %
    Published("synthesis", "a2a proposed", _LATE, "completion", 92.3, "ms"),
    Published("synthesis", "a2a demand-sorted", _LATE, "completion", 116.2, "ms"),
    Published("synthesis", "a2a cyclic", _LATE, "completion", 140.4, "ms"),
    Published("synthesis", "allreduce proposed", _CLEAN, "completion", 495.4, "ms"),
    Published("synthesis", "allreduce ring", _CLEAN, "completion", 577.2, "ms"),
    Published("synthesis", "allreduce single-tree", _CLEAN, "completion", 613.0, "ms"),
    Published("synthesis", "allreduce proposed", _LATE, "completion", 507.9, "ms"),
    Published("synthesis", "allreduce ring", _LATE, "completion", 659.0, "ms"),
    Published("synthesis", "allreduce single-tree", _LATE, "completion", 714.2, "ms"),
    Published("synthesis", "no-channel", _FOUR, "least increase", 7.3, "%"),
    Published("synthesis", "no-channel", _FOUR, "most increase", 14.0, "%"),
    Published("synthesis", "equal-power", _FOUR, "least increase", 13.3, "%"),
    Published("synthesis", "equal-power", _FOUR, "most increase", 28.1, "%"),
    Published("weights", "thz-sync", "0.7/0.3", "completion", 1040.0, "ms"),
    Published("weights", "thz-sync", "0.7/0.3", "energy", 14.32, "J"),
    Published("weights", "thz-sync", "0.3/0.7", "completion", 1278.0, "ms"),
    Published("weights", "thz-sync", "0.3/0.7", "energy", 11.41, "J"),
)  # fmt: skip
"""All numbers that the paper's text states; those of weights are means of the last 5 iterations, an
ablation has the ends of a range. Where the paper gives a reduction instead, it stands beside."""

COLUMNS: Final = {"completion": "completion_ms", "energy": "energy_j", "reward": "reward"}
"""By metric: the column of our tables with the same unit."""


def published_value(
    figure: str, series: str, metric: str, setting: str | None = None
) -> float | None:
    """A published number in the unit of its row; ``None`` where the paper gives none.

    The setting may be left out where the paper has only one for the series.
    """
    found = [
        row
        for row in PUBLISHED
        if (row.figure, row.series, row.metric) == (figure, series, metric)
        and setting in (None, row.setting)
    ]
    if len(found) > 1:
        settings = ", ".join(repr(row.setting) for row in found)
        raise ThzSyncError(f"{figure} {series} {metric}: name one of the settings {settings}")
    return found[0].value if found else None


def published_fabric(policy: str, metric: str) -> float | None:
    """Mean over iterations 11-20 of ``completion`` [ms], ``energy`` [J] or ``reward``."""
    return published_value("fabric", policy, metric)


def published_gain_pct(policy: str) -> float | None:
    """By how much the paper's THz-SynC completes earlier than ``policy`` [%]."""
    ours, other = (published_fabric(p, "completion") for p in ("thz-sync", policy))
    if ours is None or other is None or policy == "thz-sync":
        return None
    return 100 * (other - ours) / other


def published_synthesis(collective: str, method: str, racks: int, stragglers: bool) -> float | None:
    """Mean completion time of one collective on the single ring [ms]."""
    setting = f"N={racks} {'stragglers' if stragglers else 'no stragglers'}"
    return published_value("synthesis", f"{collective} {method}", "completion", setting)


def published_ablation_pct(method: str) -> tuple[float, float] | None:
    """Smallest and largest increase of completion time over Proposed at 12 racks [%]."""
    least, most = (
        published_value("synthesis", method, f"{end} increase") for end in ("least", "most")
    )
    return None if least is None or most is None else (least, most)


def published_weights(time_weight: float, metric: str) -> float | None:
    """``completion`` [ms] or ``energy`` [J] of THz-SynC at W_T and W_E = 1 - W_T."""
    return published_value("weights", "thz-sync", metric, f"{time_weight:g}/{1 - time_weight:g}")
