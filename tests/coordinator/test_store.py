from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.coordinator.environment import ToyFloor
from thzsync.coordinator import LearningPolicy, load_policy, make_policy, save_policy
from thzsync.coordinator.store import read_policy, write_policy
from thzsync.errors import ThzSyncError
from thzsync.scenario import Scenario
from thzsync.streams import Streams

LEARNERS = ["thz-sync", "shared-bandit", "ddqn"]


def trained(name: str, events: int = 75) -> LearningPolicy:
    policy: Any = make_policy(name, Scenario.paper(), Streams(0))
    ToyFloor(0).play(policy, events)
    return policy


def save(policy: LearningPolicy, file: Path) -> None:
    save_policy(policy, file, Scenario.paper())


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
    save(policy, tmp_path / "policy.safetensors")
    loaded = load_policy(tmp_path / "policy.safetensors", Scenario.paper(), Streams(99))
    both = [ToyFloor(1).play(p, 45) for p in (policy, loaded)]
    np.testing.assert_array_equal(*both)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_frozen_policy_neither_explores_nor_learns(name: str, tmp_path: Path) -> None:
    file = tmp_path / "policy.safetensors"
    save(trained(name), file)
    frozen = load_policy(file, Scenario.paper(), Streams(0), frozen=True)
    floor = ToyFloor(1)
    context = floor.context(0, "allreduce")
    before = frozen.decide(context)
    floor.play(frozen, 60)
    after = frozen.decide(context)
    np.testing.assert_array_equal(before.thz_chunks, after.thz_chunks)
    np.testing.assert_array_equal(before.power, after.power)


def test_the_same_policy_gives_the_same_bytes(tmp_path: Path) -> None:
    policy, file = trained("thz-sync"), tmp_path / "policy.safetensors"
    contents = set()
    for _ in range(16):  # as often as it takes for a random order to show
        save(policy, file)
        contents.add(file.read_bytes())
    assert len(contents) == 1


def test_a_policy_of_another_name_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "p"
    save(trained("ddqn", 3), file)
    with pytest.raises(ThzSyncError, match=r"'ddqn'.*'thz-sync'"):
        load_policy(file, Scenario.paper(), Streams(0), policy="thz-sync")


@pytest.mark.parametrize(
    ("scenario", "reason"),
    [
        (changed(power_levels=(0.5, 1.0)), r"\[0.25, 0.5, 0.75, 1.0\]"),
        (
            changed(bandit=Scenario.paper().coordinator.bandit.model_copy(update={"units": 9})),
            "units",
        ),
        (
            Scenario.paper().model_copy(
                update={"thz": Scenario.paper().thz.model_copy(update={"subbands": 2})}
            ),
            r"subbands 4, .*\b2\b",
        ),
        (
            Scenario.paper().model_copy(
                update={"floor": Scenario.paper().floor.model_copy(update={"rings": 2})}
            ),
            r"racks 32, .*\b16\b",
        ),
    ],
)
def test_a_file_for_another_shape_is_refused_with_the_difference(
    scenario: Scenario, reason: str, tmp_path: Path
) -> None:
    file = tmp_path / "p"
    save(trained("thz-sync", 3), file)
    with pytest.raises(ThzSyncError, match=reason):
        load_policy(file, scenario, Streams(0))


def test_a_missing_file_names_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(ThzSyncError, match="absent"):
        load_policy(tmp_path / "absent", Scenario.paper(), Streams(0))


def test_a_file_cut_short_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "p"
    save(trained("thz-sync", 3), file)
    whole = file.read_bytes()
    for length in (0, 5, 100, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:length])
        with pytest.raises(ThzSyncError, match=f"^{file}: "):
            load_policy(file, Scenario.paper(), Streams(0))


def test_arrays_without_the_header_are_refused(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    file = tmp_path / "p"
    save_file({"x": np.zeros(3)}, file)
    with pytest.raises(ThzSyncError, match=f"^{file}: "):
        load_policy(file, Scenario.paper(), Streams(0))


def test_static_policies_have_nothing_to_load(tmp_path: Path) -> None:
    write_policy(tmp_path / "p", "all-wired", {}, {}, {"x": np.zeros(1)})
    with pytest.raises(ThzSyncError, match="all-wired"):
        load_policy(tmp_path / "p", Scenario.paper(), Streams(0))


def rewritten(file: Path, **changed: Any) -> None:
    """Replace arrays, or header entries, of a saved policy and sign it again."""
    name, shape, progress, arrays = read_policy(file)
    header = {"shape": shape, "progress": progress}
    for key, value in changed.items():
        if key in header:
            header[key] = value
        else:
            arrays[key.replace("__", ".")] = value
    write_policy(file, name, header["shape"], header["progress"], arrays)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("policies") / "p"
    save(trained("thz-sync", 30), file)
    return file


DAMAGE: dict[str, tuple[str, Any, str]] = {
    "a wrong size": ("encoder.flow", lambda a: a[:, :-1], r"\b23 .* axis 1, .*\b24"),
    "a longer bias": ("encoder.dense_bias", lambda a: np.tile(a, 2), r"\b46 .* axis 0"),
    "a missing axis": ("head.precision", lambda a: a[0], r"\b1 .*\b2"),
    "other numbers": (
        "encoder.dense",
        lambda a: a.astype(np.float32),
        "float32, .*float64",
    ),
    "no number": ("head.moment", lambda a: a * np.nan, "not finite"),
    "too large a number": ("head.precision", lambda a: a + 1e300, "not finite"),
    "samples that are not there": ("replay.added", lambda a: a + 1, "samples"),
    "fewer than no samples": ("replay.added", lambda a: a * 0 - 5, "-5 samples"),
    "lost rewards": ("replay.reward", lambda a: a[:-1], "samples"),
    "narrow groups": ("replay.group", lambda a: a[:, :-1], "flows"),
    "senders out of range": ("replay.group", lambda a: a + 10**6, "senders"),
    "negative senders": ("replay.group", lambda a: a - 7, "senders"),
    "flows without chunks": ("replay.chunks", lambda a: a * 0, "chunks"),
    "an infinite reward": ("replay.reward", lambda a: a - np.inf, "not finite"),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_arrays_that_would_lead_compiled_code_astray_are_refused(
    case: str, saved: Path, tmp_path: Path
) -> None:
    name, damage, message = DAMAGE[case]
    file = Path(shutil.copy(saved, tmp_path))
    key = f"allreduce.{name}"
    rewritten(file, **{key.replace(".", "__"): damage(read_policy(file)[3][key])})
    with pytest.raises(ThzSyncError, match=f"{key.split('.')[1]}.* {message}"):
        load_policy(file, Scenario.paper(), Streams(0))


def test_an_array_that_nobody_knows_is_refused(saved: Path, tmp_path: Path) -> None:
    file = Path(shutil.copy(saved, tmp_path))
    rewritten(file, extra=np.zeros(3))
    with pytest.raises(ThzSyncError, match=r"\bextra\b"):
        load_policy(file, Scenario.paper(), Streams(0))


@pytest.mark.parametrize("progress", [{}, {"allreduce": 3}, {"p2p": {"decisions": "x"}}])
def test_damaged_progress_is_refused(progress: Any, saved: Path, tmp_path: Path) -> None:
    file = Path(shutil.copy(saved, tmp_path))
    rewritten(file, progress=progress)
    with pytest.raises(ThzSyncError, match="incomplete"):
        load_policy(file, Scenario.paper(), Streams(0))


def test_a_byte_that_changed_is_found_by_the_checksum(saved: Path, tmp_path: Path) -> None:
    file = Path(shutil.copy(saved, tmp_path))
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    with pytest.raises(ThzSyncError, match="checksum"):
        load_policy(file, Scenario.paper(), Streams(0))
