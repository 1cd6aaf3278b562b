from __future__ import annotations

import pytest

from thzsync.errors import ThzSyncError
from thzsync.paper.published import (
    PUBLISHED,
    published_ablation_pct,
    published_fabric,
    published_gain_pct,
    published_synthesis,
    published_value,
    published_weights,
)


@pytest.mark.parametrize(
    ("policy", "percent"), [("shared-bandit", 11.3), ("fixed-ratio", 13.8), ("ddqn", 19.6)]
)
def test_the_papers_reductions_follow_from_its_times(policy: str, percent: float) -> None:
    assert published_gain_pct(policy) == pytest.approx(percent, abs=0.3)


@pytest.mark.parametrize(
    ("collective", "method", "late", "percent"),
    [
        ("a2a", "demand-sorted", False, 26.2),
        ("a2a", "cyclic", False, 57.1),
        ("allreduce", "ring", True, 22.9),
        ("allreduce", "single-tree", True, 28.9),
    ],
)
def test_the_papers_synthesis_reductions_follow_too(
    collective: str, method: str, late: bool, percent: float
) -> None:
    ours = published_synthesis(collective, "proposed", 12, late)
    other = published_synthesis(collective, method, 12, late)
    assert ours is not None
    assert other is not None
    assert 100 * (1 - ours / other) == pytest.approx(percent, abs=0.05)


def test_what_the_paper_does_not_say_is_none() -> None:
    assert published_fabric("ddqn", "energy") is None
    assert published_gain_pct("thz-sync") is None
    assert published_gain_pct("my-policy") is None
    assert published_weights(0.5, "energy") is None
    assert published_synthesis("a2a", "proposed", 6, False) is None
    assert published_ablation_pct("ring") is None


def test_weights_and_ablations_are_found() -> None:
    assert published_weights(0.7, "completion") == 1040.0
    assert published_weights(0.3, "energy") == 11.41
    assert published_ablation_pct("no-channel") == (7.3, 14.0)


def test_an_ambiguous_question_names_the_settings() -> None:
    with pytest.raises(ThzSyncError, match="settings"):
        published_value("weights", "thz-sync", "energy")


def test_no_number_is_listed_twice() -> None:
    keys = [(p.figure, p.series, p.setting, p.metric) for p in PUBLISHED]
    assert len(set(keys)) == len(keys)
