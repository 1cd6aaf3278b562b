"""What THz cannot send waits for its whole timeout, then takes the fibre if that is of any help."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.simulation.traces import event, traced
from thzsync.auditor import audit
from thzsync.collectives import Transfer
from thzsync.coordinator.static import ALL_WIRED, ALL_WIRELESS, StaticPolicy
from thzsync.simulation import Run, simulate

TIMEOUT_S = 4e-3
QUIET = {"fluctuation_db": 0.0, "blockage": {"share": 0.0}}
BLOCKED = {"kind": "pair-blocked", "start_s": 0, "racks": [0, 1]}


def one_transfer(folder: Path, policy: StaticPolicy, **more: Any) -> Run:
    """2 MiB from rack 0 to rack 1."""
    node = event(0, "p2p", Transfer.of([0], [1], [2 * 2**20]), [0, 1])
    thz = {"fallback_timeout_s": TIMEOUT_S, **more.pop("thz", {})}
    scenario = traced(folder, [node], thz=thz, **more)
    run = simulate(scenario, policy, 1, references={})
    assert audit(run).violations == []
    return run


def completion_ms(run: Run) -> float:
    return float(run.events["completion_ms"].item())


def test_a_blocked_transfer_takes_its_timeout_and_then_what_the_fibre_takes(tmp_path: Path) -> None:
    wired = one_transfer(tmp_path, ALL_WIRED)
    blocked = one_transfer(tmp_path, ALL_WIRELESS, faults=[BLOCKED | {"end_s": 3600.0}])
    assert blocked.events["fallback_chunks"].item() == blocked.tables["chunks"].height
    assert completion_ms(blocked) == pytest.approx(1e3 * TIMEOUT_S + completion_ms(wired), rel=1e-9)


def test_a_link_that_returns_just_before_the_timeout_keeps_its_chunks(tmp_path: Path) -> None:
    almost = {"end_s": 0.999 * TIMEOUT_S}
    free = one_transfer(tmp_path, ALL_WIRELESS)
    run = one_transfer(tmp_path, ALL_WIRELESS, faults=[BLOCKED | almost])
    assert run.events["fallback_chunks"].item() == 0
    assert run.tables["chunks"].filter(pl.col("carrier") == 0).is_empty()
    waited_ms = 1e3 * almost["end_s"]
    assert completion_ms(run) == pytest.approx(waited_ms + completion_ms(free), rel=1e-9)


def test_without_a_timeout_a_blocked_transfer_takes_what_the_fibre_takes(tmp_path: Path) -> None:
    wired = one_transfer(tmp_path, ALL_WIRED)
    faults = [BLOCKED | {"end_s": 3600.0}]
    blocked = one_transfer(tmp_path, ALL_WIRELESS, faults=faults, thz={"fallback_timeout_s": 0})
    assert completion_ms(blocked) == pytest.approx(completion_ms(wired), rel=1e-9)


@pytest.mark.parametrize("first_back", ["fibre", "air"])
def test_what_has_neither_fabric_takes_the_one_that_is_back_first(
    tmp_path: Path, first_back: str
) -> None:
    """A chunk is not handed to a dead fibre, where it would have to stay."""
    early_s, late_s = 2 * TIMEOUT_S, 5 * TIMEOUT_S
    ends_s = {"fibre": late_s, "air": late_s, first_back: early_s}
    dead = {"kind": "fibre", "start_s": 0, "end_s": ends_s["fibre"], "rack": 0}
    policy = {"fibre": ALL_WIRED, "air": ALL_WIRELESS}[first_back]
    free = one_transfer(tmp_path, policy)
    faults = [dead, BLOCKED | {"end_s": ends_s["air"]}]
    run = one_transfer(tmp_path, ALL_WIRELESS, faults=faults)
    assert completion_ms(run) == pytest.approx(1e3 * early_s + completion_ms(free), rel=1e-9)
    assert run.tables["chunks"]["carrier"].unique().to_list() == [int(first_back == "air")]


def test_a_link_that_was_blocked_is_tried_again_for_what_returns_to_it(tmp_path: Path) -> None:
    """Chunks leave a blocked pair for a fibre that is cut soon after; the pair works again then."""
    faults = [
        BLOCKED | {"end_s": 1e-5},
        {"kind": "fibre", "rack": 0, "rate_share": 0, "start_s": 2e-5, "end_s": 9.0},
    ]
    keys = {"thz": {"fallback_timeout_s": 0}, "coordinator": {"wired_to_thz": True}}
    run = one_transfer(tmp_path, ALL_WIRELESS, faults=faults, channel=QUIET, **keys)
    kept = run.tables["chunks"].filter(pl.col("carrier") == 0).height
    assert run.tables["chunks"].filter(pl.col("carrier") == 1).height > 0
    assert kept == 0 or completion_ms(run) > 8e3  # of what had begun to leave a packet waits
    sent = run.tables["transmissions"]["start_ps"]
    assert int(sent.min()) < 10**9  # type: ignore[arg-type]


def test_a_stage_begins_when_what_it_waits_for_is_given_up(tmp_path: Path) -> None:
    """Permutations go one after the other on THz; the first is given to the fibre at once."""
    demand = Transfer.of([0, 0], [1, 2], [2 * 2**20, 2**20])
    node = event(0, "a2a", demand, [0, 1, 2])
    scenario = traced(
        tmp_path,
        [node],
        thz={"fallback_timeout_s": 0},
        collectives={"a2a": "demand-sorted"},
        channel=QUIET,
        faults=[BLOCKED | {"end_s": 3600.0}],
    )
    run = simulate(scenario, ALL_WIRELESS, 1, references={})
    assert audit(run).violations == []
    assert run.tables["rounds"]["start_ps"].to_list() == [0]
