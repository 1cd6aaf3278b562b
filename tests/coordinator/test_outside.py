"""Policies from outside: registered, saved, restored, frozen and warm-started like ours."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from tests.coordinator.environment import ToyFloor
from tests.coordinator.outside import Averaging, Share, half
from thzsync import simulate
from thzsync.cli import main
from thzsync.coordinator import (
    LearningPolicy,
    load_policy,
    make_policy,
    policy_names,
    register_policy,
    save_policy,
)
from thzsync.errors import ThzSyncError
from thzsync.records import Run
from thzsync.scenario import Scenario
from thzsync.scenario.base import Model
from thzsync.scenario.files import build_scenario
from thzsync.streams import Streams

pytestmark = pytest.mark.usefixtures("nothing_stays_registered")
PAPER = Scenario.paper()
ALL = ["thz-sync", "shared-bandit", "ddqn", Averaging]


def trained(policy: Any, events: int = 60) -> LearningPolicy:
    made = make_policy(policy, PAPER, Streams(0))
    assert isinstance(made, LearningPolicy)
    ToyFloor(0).play(made, events)
    return made


@pytest.mark.parametrize("policy", ALL)
def test_a_state_in_memory_is_as_good_as_a_file(policy: Any) -> None:
    """Neither the policy that it came from nor one that loads it changes it."""
    first = trained(policy)
    state = first.state()
    rewards = ToyFloor(1).play(first, 45)
    for _ in range(2):
        again = make_policy(policy, PAPER, Streams(99))
        assert isinstance(again, LearningPolicy)
        again.load(state)
        np.testing.assert_array_equal(ToyFloor(1).play(again, 45), rewards)


def test_a_saved_policy_from_outside_goes_on_bit_for_bit(tmp_path: Path) -> None:
    policy, file = trained(Averaging), tmp_path / "averaging"
    save_policy(policy, file, PAPER)
    again = load_policy(file, PAPER, Streams(99), policy=Averaging)
    np.testing.assert_array_equal(*(ToyFloor(1).play(p, 45) for p in (policy, again)))
    save_policy(again, tmp_path / "again", PAPER)
    save_policy(policy, file, PAPER)
    assert (tmp_path / "again").read_bytes() == file.read_bytes()


def test_what_was_frozen_stays_the_same(tmp_path: Path) -> None:
    save_policy(trained(Averaging), tmp_path / "p", PAPER)
    frozen = load_policy(tmp_path / "p", PAPER, Streams(0), frozen=True, policy=Averaging)
    save_policy(frozen, tmp_path / "before", PAPER)
    ToyFloor(2).play(frozen, 60)
    save_policy(frozen, tmp_path / "after", PAPER)
    assert (tmp_path / "before").read_bytes() == (tmp_path / "after").read_bytes()


def test_a_run_may_start_from_a_file_on_the_command_line(tmp_path: Path) -> None:
    register_policy(Averaging)
    file, start = tmp_path / "learnt", ["run", "tiny", "--policy", "averaging", "--iterations"]
    assert main([*start, "2", "--save", str(file), "--out", str(tmp_path / "first")]) == 0
    more = ["--from", str(file), "--out", str(tmp_path / "more")]
    assert main([*start, "1", *more]) == 0
    assert main([*start, "1", *more, "--frozen", "--force"]) == 0
    tiny = Scenario.preset("tiny")
    frozen = load_policy(file, tiny, Streams(0), frozen=True)
    assert Run.load(tmp_path / "more").events.equals(simulate(tiny, frozen, 1).events)


def test_the_refusals_of_files_are_one_line(tmp_path: Path) -> None:
    file = tmp_path / "p"
    save_policy(trained(Averaging, 3), file, PAPER)
    for policy, scenario, told in (
        ("thz-sync", PAPER, r"'averaging', not 'thz-sync'"),
        (None, PAPER, r"averaging.* does not exist"),
        (Averaging, PAPER.with_({"thz.subbands": 2}), r"subbands 4, .*\b2\b"),
        (Averaging, PAPER.with_({"coordinator.power_levels": [1.0]}), r"power levels"),
    ):
        with pytest.raises(ThzSyncError, match=told):
            load_policy(file, scenario, Streams(0), policy=policy)
    with pytest.raises(ThzSyncError, match=r"'share 0\.5' .*state, load, freeze"):
        save_policy(Share(), file, PAPER)


def test_what_a_file_cannot_hold_is_refused(tmp_path: Path) -> None:
    class Odd(Averaging):
        odd: Any = None

        def state(self) -> dict[str, Any]:
            return {"odd": self.odd}

    for odd in ({1, 2}, np.array([object()]), np.array(["text"]), {(1, 2): 3}):
        policy = Odd(Streams(0))
        policy.odd = odd
        with pytest.raises(ThzSyncError, match=r"'averaging': its state cannot be saved"):
            save_policy(policy, tmp_path / "p", PAPER)
    assert not (tmp_path / "p").exists()


def test_a_shape_of_its_own_says_what_must_agree(tmp_path: Path) -> None:
    class Anywhere(Averaging):
        shape: ClassVar[dict[str, Any]] = {"sizes": (5,)}

    file = tmp_path / "p"
    save_policy(trained(Anywhere, 3), file, PAPER)
    load_policy(file, PAPER.with_({"thz.subbands": 2}), Streams(0), policy=Anywhere)
    Anywhere.shape = {"sizes": (6,)}
    with pytest.raises(ThzSyncError, match=r"sizes \[5\], .*\[6\]"):
        load_policy(file, PAPER, Streams(0), policy=Anywhere)


def test_arrays_of_any_shape_come_back_as_they_were(tmp_path: Path) -> None:
    arrays = {"point": np.array(3.5), "none": np.zeros((0, 2)), "b": np.array([True, False])}

    class Holder(Averaging):
        kept: ClassVar[dict[str, Any]] = {}

        def state(self) -> dict[str, Any]:
            return dict(arrays)

        def load(self, state: dict[str, Any]) -> None:
            Holder.kept = state

    save_policy(Holder(Streams(0)), tmp_path / "p", PAPER)
    load_policy(tmp_path / "p", PAPER, Streams(0), policy=Holder)
    for name, array in arrays.items():
        assert Holder.kept[name].shape == array.shape
        np.testing.assert_array_equal(Holder.kept[name], array)


def test_classes_functions_and_objects_are_registered() -> None:
    register_policy(Averaging)
    register_policy(Share(0.25))
    assert policy_names()[-2:] == ["averaging", "share 0.25"]
    assert make_policy("averaging", PAPER, Streams(0)) is not Averaging
    first, second = (make_policy("share 0.25", PAPER, Streams(0)) for _ in range(2))
    assert first is not second
    with pytest.raises(ThzSyncError, match="name"):
        register_policy(half)
    with pytest.raises(ThzSyncError, match="exists already"):
        register_policy(type("Other", (Averaging,), {}))


def test_a_factory_of_an_entry_point_has_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    from thzsync.coordinator.registry import POLICIES

    def load() -> Any:
        return lambda setting, draws: Averaging(draws)  # parameters of other names, in order

    entry = SimpleNamespace(name="averaging", load=load)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [entry])
    POLICIES.forget()
    assert make_policy("averaging", PAPER, Streams(0)).name == "averaging"


def test_a_policy_gets_its_parameters() -> None:
    class Parameters(Model):
        share: float = 0.25

    class Tuned(Share):
        name = "tuned"
        parameters = Parameters

        def __init__(self, parameters: Parameters) -> None:
            super().__init__(parameters.share)
            self.name = "tuned"

    register_policy(Tuned)
    given = build_scenario({"preset": "tiny", "parameters": {"tuned": {"share": 0.75}}}, "test")
    for scenario, share in ((PAPER, 0.25), (given, 0.75)):
        for policy in ("tuned", Tuned):
            assert make_policy(policy, scenario, Streams(0)).share == share  # type: ignore[attr-defined]
    with pytest.raises(ThzSyncError, match=r"parameters\.tuned\.share"):
        build_scenario({"preset": "tiny", "parameters": {"tuned": {"share": "x"}}}, "test")


def test_a_class_that_needs_more_is_refused() -> None:
    class Needy(Share):
        def __init__(self, a: int, b: int, c: int) -> None: ...

    with pytest.raises(ThzSyncError, match=r"Needy\(a.*object"):
        make_policy(Needy, PAPER, Streams(0))
