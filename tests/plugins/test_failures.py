"""What fails in a plug-in is one line that names the place, wherever it is called."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tests.plugins.lab import thzsync
from thzsync import Scenario
from thzsync.cli import main
from thzsync.coordinator import Action, Outcome, Situation
from thzsync.coordinator.registry import make_policy
from thzsync.errors import ThzSyncError
from thzsync.streams import Streams

BROKEN = """
import math
from typing import Literal

import numpy as np

from thzsync.coordinator import Action, register_policy
from thzsync.scenario import (
    Antenna, PathLoss, RateLaw, register_antenna, register_path_loss, register_rate_law
)
from thzsync.scenario.rates import Step
from thzsync.synthesis import FlowMethod, register_method


class Half:
    def decide(self, situation):
        return Action.uniform(situation.offer, 0.5, 1.0)

    def learn(self, situation, action, outcome):
        pass

    def load(self, state):
        raise IndexError("load")

    def freeze(self):
        raise IndexError("freeze")


def policy(name, **changes):
    register_policy(type(name, (Half,), {"name": name, **changes}))


def fail(*arguments):
    raise KeyError("here")


policy("decides", decide=fail)
policy("decides-none", decide=lambda self, situation: None)
policy("learns", learn=fail)
policy("begins", __init__=lambda self: fail())
policy("saves", state=fail)
policy("saves-list", state=lambda self: [1])
policy("saves-set", state=lambda self: {"a": {1}})
policy("saves-numbers", state=lambda self: {"a": {1: 2}})


class Plans:
    def __init__(self, made):
        self.plan = made


register_method(FlowMethod("allreduce", "plans", Plans(fail), "assignment"))
register_method(FlowMethod("allreduce", "plans-none", Plans(lambda *_: None), "assignment"))


@register_rate_law
class Odd(RateLaw):
    kind: Literal["odd"] = "odd"
    snr_db: float = 10.0
    efficiency: float = 1.0

    def steps(self):
        return (Step("a", self.snr_db, self.efficiency),) if self.efficiency else fail()


@register_antenna
class Lost(Antenna):
    kind: Literal["lost"] = "lost"

    def pattern_db(self, angle_deg, gain_dbi):
        return np.full_like(angle_deg, math.nan)


@register_path_loss
class Weak(PathLoss):
    kind: Literal["weak"] = "weak"

    def gain(self, pairs):
        return fail()
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nothing_stays_registered: None) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken_lab.py").write_text(BROKEN)
    return tmp_path


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line that a run with the broken module says."""
    command = ["run", "tiny", "--plugin", "broken_lab", "--iterations", "1", *arguments]
    assert main(command) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ("--policy decides", ["KeyError: 'here'", "broken_lab.py, line"]),
        ("--policy decides-none", ["None", "Action"]),
        ("--policy learns", ["KeyError: 'here'", "broken_lab.py, line"]),
        ("--policy begins", ["KeyError: 'here'", "broken_lab.py, line"]),
        ("--policy saves --save f", ["KeyError: 'here'", "broken_lab.py, line"]),
        ("--policy saves-list --save f", ["'saves-list'", "[1]", "dictionary"]),
        ("--policy saves-set --save f", ["'saves-set'", "set"]),
        ("--policy saves-numbers --save f", ["'saves-numbers'", "key 1"]),
        ("--set collectives.allreduce=plans", ["KeyError: 'here'", "broken_lab.py, line"]),
        ("--set collectives.allreduce=plans-none", ["'plans-none'", "None", "TransferGraph"]),
        ("--set thz.rate.kind=odd --set thz.rate.efficiency=0", ["thz.rate", "'odd'", "KeyError"]),
        ("--set thz.rate.kind=odd --set thz.rate.efficiency=9", ["thz.rate", "9 bit/s/Hz", "3.4"]),
        ("--set thz.rate.kind=odd --set thz.rate.snr_db=nan", ["thz.rate"]),
        ("--set thz.antenna.kind=lost", ["thz.antenna", "'lost'", "25 dBi"]),
        ("--set channel.path_loss.kind=weak", ["KeyError: 'here'", "broken_lab.py, line"]),
    ],
)
def test_a_failing_object_is_one_line(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: str, named: list[str]
) -> None:
    given = arguments.split()
    line = told(capsys, *given, *(() if "--policy" in given else ("--policy", "fixed-ratio")))
    for part in named:
        assert part in line


def test_workers_tell_it_too(here: Path) -> None:
    failed = thzsync(
        here, "compare", "tiny", "--plugin", "broken_lab", "--policies", "decides,learns",
        "--seeds", "1", "--iterations", "1", "--workers", "2", status=2,
    )  # fmt: skip
    line = failed.stderr.splitlines()[-1]
    assert "KeyError: 'here'" in line
    assert "broken_lab.py, line" in line


@pytest.mark.parametrize("name", ["json", "random", "thzsync", "thzsync.plugins"])
def test_a_file_with_the_name_of_a_module_of_python_is_refused(here: Path, name: str) -> None:
    (here / f"{name}.py").write_text("")
    with pytest.raises(ThzSyncError, match="rename yours"):
        Scenario.load("tiny", [name])


class Locked:
    """A policy that cannot be copied."""

    name = "locked"

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def decide(self, situation: Situation) -> Action:
        return Action.uniform(situation.offer, 0.0, 0.0)

    def learn(self, situation: Situation, action: Action, outcome: Outcome) -> None:
        """Nothing to learn."""


def test_an_object_that_cannot_be_copied_is_told_what_to_do() -> None:
    with pytest.raises(ThzSyncError, match=r"^policy 'locked' cannot be copied .*its class"):
        make_policy(Locked(), Scenario.preset("tiny"), Streams(0))
