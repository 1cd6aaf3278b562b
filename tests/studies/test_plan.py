"""A plan names every result by what it depends on, and shards cover it exactly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.studies.sweeps import SMALL
from thzsync.errors import ThzSyncError
from thzsync.studies.plan import Plan
from thzsync.studies.sweeping import plan_sweep

PLAN = plan_sweep("tiny", SMALL)


def keys(**changes: Any) -> set[str]:
    return set(plan_sweep("tiny", SMALL | changes).keys)


def test_every_run_has_a_key_of_its_own() -> None:
    assert len(PLAN.runs) == len(PLAN.keys) == 2 * 2 * 2


def test_a_key_depends_on_scenario_policy_seed_and_iterations_and_on_nothing_else() -> None:
    assert keys(question="why?", first=0) == set(PLAN.keys)
    assert keys(seeds=3) > set(PLAN.keys)
    assert not keys(iterations=2) & set(PLAN.keys)
    assert not keys(set={"thz.noise_figure_db": 9}) & set(PLAN.keys)


def test_a_key_depends_on_the_contents_of_the_files_that_a_scenario_names(tmp_path: Path) -> None:
    gains = tmp_path / "gains.csv"
    found = []
    for text in ("1", "2", "1"):
        gains.write_text(text)
        found.append(keys(set={"channel.gains_file": str(gains)}))
    assert found[0] == found[2] != found[1]


def test_a_contender_that_pins_an_axis_is_run_once() -> None:
    pinned = {"name": "fibre", "policy": "all-wired", "set": {"thz.max_power_w": 0.1}}
    plan = plan_sweep("tiny", SMALL | {"policies": ["fixed-ratio"], "contenders": [pinned]})
    assert len(plan.runs) == 8
    assert len(plan.keys) == 4 + 2


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_shards_cover_the_plan_once_and_keep_realisations_together(parts: int) -> None:
    shards = [PLAN.shard(k + 1, parts) for k in range(parts)]
    assert sorted(run.key for shard in shards for run in shard) == sorted(PLAN.keys)
    homes = [{run.realisation for run in shard} for shard in shards]
    assert sum(map(len, homes)) == len(set().union(*homes))


@pytest.mark.parametrize(("part", "parts"), [(0, 2), (3, 2)])
def test_a_shard_that_does_not_exist_is_refused(part: int, parts: int) -> None:
    with pytest.raises(ThzSyncError, match="1/2 to 2/2"):
        PLAN.shard(part, parts)


def plan_of(**changes: Any) -> Plan:
    return plan_sweep("tiny", SMALL | changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"axes": {"thz.subbands": [1, -3]}}, "thz.subbands=-3: thz.subbands: found -3; "),
        ({"axes": {"thz.subband": [1]}}, "thz.subband=1: thz.subband: .*'subbands'"),
        ({"axes": {"thz.max_power_w": [0.1, "100 mW"]}}, "axes: thz.max_power_w=100 mW "),
        ({"policies": ["none"]}, "policy 'none' does not exist"),
        ({"set": {"jobs": []}}, ".*'tiny'"),
    ],
)
def test_a_point_that_cannot_be_is_refused_before_any_work(
    changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ThzSyncError, match=f"^{message}"):
        plan_of(**changes)


@pytest.mark.parametrize(
    ("key", "values", "cells"),
    [
        ("thz.rf_chains", [None, 2], [None, 2]),
        ("thz.subbands", [1, 4], [1, 4]),
        ("channel.gains_file", [None, "x.csv"], [None, "x.csv"]),
    ],
)
def test_a_key_that_is_absent_somewhere_is_an_empty_cell(
    key: str, values: list[Any], cells: list[Any]
) -> None:
    assert [point[key] for point in plan_of(axes={key: values}).points] == cells


def test_points_show_what_the_resolved_scenario_holds() -> None:
    plan = plan_of(
        axes={"optical.access_bps": ["100 Gbps"], "jobs.train.training.moe_stages": [[1]]}
    )
    assert plan.points == ({"optical.access_bps": 1e11, "jobs.train.training.moe_stages": "[1]"},)
