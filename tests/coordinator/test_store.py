from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.coordinator.environment import ToyFloor
from thzsync.coordinator import make_policy
from thzsync.coordinator.saved import LearningPolicy, load_policy
from thzsync.errors import ThzSyncError
from thzsync.scenario import Scenario
from thzsync.streams import Streams

LEARNERS = ["thz-sync", "shared-bandit", "ddqn"]


def trained(name: str, events: int = 75) -> LearningPolicy:
    policy: Any = make_policy(name, Scenario.paper(), Streams(0))
    ToyFloor(0).play(policy, events)
    return policy


def changed(**coordinator: Any) -> Scenario:
    scenario = Scenario.paper()
    return scenario.model_copy(
        update={"coordinator": scenario.coordinator.model_copy(update=coordinator)}
    )


@pytest.mark.parametrize("name", LEARNERS)
def test_a_loaded_policy_decides_and_learns_on_as_if_nothing_had_happened(
    name: str, tmp_path: Path
) -> None:
    policy = trained(name)
    policy.save(tmp_path / "policy.safetensors")
    loaded = load_policy(tmp_path / "policy.safetensors", Scenario.paper(), Streams(99))
    both = [ToyFloor(1).play(p, 45) for p in (policy, loaded)]
    np.testing.assert_array_equal(*both)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_frozen_policy_neither_explores_nor_learns(name: str, tmp_path: Path) -> None:
    file = tmp_path / "policy.safetensors"
    trained(name).save(file)
    frozen = load_policy(file, Scenario.paper(), Streams(0), frozen=True)
    floor = ToyFloor(1)
    context = floor.context(0, "allreduce")
    before = frozen.decide(context)
    floor.play(frozen, 60)
    after = frozen.decide(context)
    np.testing.assert_array_equal(before.thz_chunks, after.thz_chunks)
    np.testing.assert_array_equal(before.power, after.power)


def test_a_policy_of_another_name_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "p"
    trained("ddqn", 3).save(file)
    with pytest.raises(ThzSyncError, match="holds the policy 'ddqn', not 'thz-sync'"):
        load_policy(file, Scenario.paper(), Streams(0), expected="thz-sync")


@pytest.mark.parametrize(
    ("scenario", "reason"),
    [
        (changed(power_levels=(0.5, 1.0)), r"power levels \[0.25, 0.5, 0.75, 1.0\]"),
        (
            changed(bandit=Scenario.paper().coordinator.bandit.model_copy(update={"units": 9})),
            "units",
        ),
        (
            Scenario.paper().model_copy(
                update={"thz": Scenario.paper().thz.model_copy(update={"subbands": 2})}
            ),
            "subbands 4, but the scenario has 2",
        ),
        (
            Scenario.paper().model_copy(
                update={"floor": Scenario.paper().floor.model_copy(update={"rings": 2})}
            ),
            "racks 32, but the scenario has 16",
        ),
    ],
)
def test_a_file_for_another_shape_is_refused_with_the_difference(
    scenario: Scenario, reason: str, tmp_path: Path
) -> None:
    file = tmp_path / "p"
    trained("thz-sync", 3).save(file)
    with pytest.raises(ThzSyncError, match=reason):
        load_policy(file, scenario, Streams(0))


def test_a_missing_file_names_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(ThzSyncError, match="no such file"):
        load_policy(tmp_path / "absent", Scenario.paper(), Streams(0))


def test_a_file_cut_short_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "p"
    trained("thz-sync", 3).save(file)
    whole = file.read_bytes()
    for length in (0, 5, 100, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:length])
        with pytest.raises(ThzSyncError, match="not a policy saved by thzsync, or cut short"):
            load_policy(file, Scenario.paper(), Streams(0))


def test_arrays_without_the_header_are_refused(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    file = tmp_path / "p"
    save_file({"x": np.zeros(3)}, file)
    with pytest.raises(ThzSyncError, match="not a policy"):
        load_policy(file, Scenario.paper(), Streams(0))


def test_a_write_that_fails_leaves_the_old_file_and_no_rubbish(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "p"
    policy = trained("thz-sync", 3)
    policy.save(file)
    old = file.read_bytes()

    def full(self: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(ThzSyncError, match="No space left"):
        policy.save(file)
    assert file.read_bytes() == old
    assert [f.name for f in tmp_path.iterdir()] == ["p"]


def test_static_policies_have_nothing_to_load(tmp_path: Path) -> None:
    from thzsync.coordinator.store import write_policy

    write_policy(tmp_path / "p", "all-wired", {}, {}, {"x": np.zeros(1)})
    with pytest.raises(ThzSyncError, match="nothing to load"):
        load_policy(tmp_path / "p", Scenario.paper(), Streams(0))
