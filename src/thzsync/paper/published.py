"""The paper's published numbers, typed, so that every result can stand beside them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from thzsync.errors import ThzSyncError


@dataclass(frozen=True)
class Published:
    """One number of the paper."""

    figure: str
    """Experiment: ``fabric``, ``synthesis`` or ``weights``."""
    series: str
    """Policy, or collective and method, or an ablation."""
    setting: str
    metric: str
    value: float
    unit: str
    note: str = ""


_LATE: Final = "iterations 11-20"
_CLEAN: Final = "N=12 no stragglers"
_LATE_RACKS: Final = "N=12 stragglers"
_FOUR: Final = "N=12 all four settings"
_LAST_FIVE: Final = "last 5 iterations"


def _fabric() -> Iterator[Published]:
    times = {
        "thz-sync": (1050.0, ""),
        "shared-bandit": (1186.0, ""),
        "all-wired": (1359.0, ""),
        "all-wireless": (1758.0, ""),
        "fixed-ratio": (1218.0, "derived from a reduction of 13.8 %"),
        "ddqn": (1306.0, "derived from a reduction of 19.6 %"),
    }
    energies = {
        "thz-sync": 14.51,
        "shared-bandit": 12.71,
        "all-wired": 27.52,
        "all-wireless": 1.13,
    }
    for policy, (milliseconds, note) in times.items():
        yield Published("fabric", policy, _LATE, "completion", milliseconds, "ms", note)
    for policy, joules in energies.items():
        yield Published("fabric", policy, _LATE, "energy", joules, "J")
    yield Published("fabric", "thz-sync", _LATE, "reward", -0.54, "")


def _synthesis() -> Iterator[Published]:
    times = (
        ("a2a proposed", "N=4 no stragglers", 17.7, ""),
        ("a2a proposed", _CLEAN, 24.2, ""),
        ("a2a demand-sorted", _CLEAN, 32.8, "derived from a reduction of 26.2 %"),
        ("a2a cyclic", _CLEAN, 56.4, "derived from a reduction of 57.1 %"),
        ("a2a proposed", _LATE_RACKS, 92.3, ""),
        ("a2a demand-sorted", _LATE_RACKS, 116.2, ""),
        ("a2a cyclic", _LATE_RACKS, 140.4, ""),
        ("allreduce proposed", _CLEAN, 495.4, ""),
        ("allreduce ring", _CLEAN, 577.2, ""),
        ("allreduce single-tree", _CLEAN, 613.0, ""),
        ("allreduce proposed", _LATE_RACKS, 507.9, ""),
        ("allreduce ring", _LATE_RACKS, 659.0, ""),
        ("allreduce single-tree", _LATE_RACKS, 714.2, ""),
    )
    for series, setting, milliseconds, note in times:
        yield Published("synthesis", series, setting, "completion", milliseconds, "ms", note)
    for ablation, least, most in (("no-channel", 7.3, 14.0), ("equal-power", 13.3, 28.1)):
        yield Published("synthesis", ablation, _FOUR, "least increase", least, "%", "of a range")
        yield Published("synthesis", ablation, _FOUR, "most increase", most, "%", "of a range")


def _weights() -> Iterator[Published]:
    for setting, milliseconds, joules in (("0.7/0.3", 1040.0, 14.32), ("0.3/0.7", 1278.0, 11.41)):
        yield Published(
            "weights", "thz-sync", setting, "completion", milliseconds, "ms", _LAST_FIVE
        )
        yield Published("weights", "thz-sync", setting, "energy", joules, "J", _LAST_FIVE)


PUBLISHED: Final = (*_fabric(), *_synthesis(), *_weights())
"""All numbers that the paper's text states."""


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
