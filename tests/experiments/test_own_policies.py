"""Objects, classes and functions as policies of comparisons and sweeps."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.coordinator.outside import Averaging, Share, half
from tests.plugins.lab import thzsync
from tests.studies.sweeps import ROOT, environment
from thzsync import Scenario, compare, simulate, sweep
from thzsync.auditor import audit
from thzsync.coordinator import load_policy, make_policy, register_policy, save_policy
from thzsync.errors import ThzSyncError
from thzsync.experiments.comparison import Comparison
from thzsync.experiments.policies import given_policies
from thzsync.streams import Streams

pytestmark = pytest.mark.usefixtures("nothing_stays_registered")
TINY = Scenario.preset("tiny")
OWN: dict[str, Any] = {
    "mine": Averaging,
    "quarter": Share(0.25),
    "half": half,
    "fibre": "all-wired",
}


def test_two_workers_do_what_single_runs_do(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # all of them can be sent
        found = compare(TINY, OWN, seeds=2, iterations=2, workers=2)
    assert found.policies == tuple(OWN)
    for seed in (0, 1):
        alone = simulate(TINY, Averaging, 2, seed)
        mine = found.of("mine").iterations.filter(seed=seed)
        assert mine.drop("policy", "seed").equals(alone.iterations)
    assert found.details["mine"].policy == "mine"
    assert audit(found.details["mine"]).violations == []
    assert Comparison.load(found.save(tmp_path / "own")).policies == tuple(OWN)


def test_workers_change_no_number_and_every_run_begins_afresh() -> None:
    objects = [Averaging(Streams(3)), "thz-sync"]
    near, far = (compare(TINY, objects, seeds=2, iterations=1, workers=w) for w in (1, 2))
    assert near.iterations.equals(far.iterations)
    assert not objects[0].totals  # type: ignore[union-attr]


def test_what_cannot_be_sent_runs_here_and_says_so() -> None:
    class Local(Averaging):
        name = "local"

    with pytest.warns(UserWarning, match=r"^local: .* this process") as told:
        found = compare(TINY, ["all-wired", Local], seeds=2, iterations=1, workers=2)
    assert len(told) == 1
    expected = compare(TINY, {"local": Averaging}, seeds=2, iterations=1, workers=1)
    assert found.of("local").iterations.equals(expected.iterations)


def test_a_script_compares_its_own_class(tmp_path: Path) -> None:
    source = (ROOT / "tests/coordinator/outside.py").read_text()
    use = "from thzsync import compare\nprint(compare('tiny', [Averaging, Share()], 2, 1, 2))\n"
    script = tmp_path / "script.py"
    script.write_text(source + use)
    done = subprocess.run(
        [sys.executable, script], env=environment(), capture_output=True, text=True, check=True
    )
    assert "averaging, share 0.5" in done.stdout
    assert done.stderr.count("this process") == 1


def test_trained_objects_are_evaluated_in_workers(tmp_path: Path) -> None:
    """Train, save, and compare what was learnt, frozen, with a fresh start."""
    for name in ("ddqn", "thz-sync"):
        policy = make_policy(name, TINY, Streams(0))
        simulate(TINY, policy, 2)
        save_policy(policy, tmp_path / name, TINY)
        frozen = load_policy(tmp_path / name, TINY, Streams(0), frozen=True)
        given = {"frozen": frozen, name: name}
        near, far = (compare(TINY, given, seeds=2, iterations=1, workers=w) for w in (1, 2))
        assert near.iterations.equals(far.iterations)
        assert far.details["frozen"].learning == "frozen"
        again = simulate(TINY, load_policy(tmp_path / name, TINY, Streams(0), frozen=True), 1, 1)
        theirs = far.of("frozen").iterations.filter(seed=1).drop("policy", "seed")
        assert theirs.equals(again.iterations)


def test_a_registered_class_is_known_to_workers() -> None:
    register_policy(Averaging)
    found = compare(TINY, ["averaging", "all-wired"], seeds=2, iterations=1, workers=2)
    assert found.policies == ("averaging", "all-wired")


@pytest.mark.parametrize(
    ("policies", "told"),
    [
        ({"all-wired": Averaging}, "another policy"),
        ([half], r"no name.*\{'mine'"),
        ([Averaging, Averaging], "twice"),
        ({"../there": Averaging}, r"\.\./there"),
        (["nobody"], "does not exist"),
    ],
)
def test_unclear_names_are_refused(policies: Any, told: str) -> None:
    with pytest.raises(ThzSyncError, match=told):
        compare(TINY, policies, seeds=1, iterations=1)


def test_a_sweep_of_objects_is_resumed_by_what_they_are(tmp_path: Path) -> None:
    axes, how = {"thz.max_power_w": [0.05, 0.2]}, {"seeds": 1, "iterations": 1}

    def swept(share: float, resume: bool = True) -> Any:
        counted = []
        found = sweep(
            TINY,
            axes,
            policies={"fibre": "all-wired", "share": Share(share)},
            workers=2,
            out=tmp_path / "study",
            resume=resume,
            watch=lambda tally: counted.append(tally.kept),
            **how,
        )
        return found, counted[-1]

    first, _ = swept(0.25, resume=False)
    again, kept = swept(0.25)
    assert kept == 4
    assert again.frame.equals(first.frame)
    other, kept = swept(0.75)
    assert kept == 2
    shares = [f.frame.filter(policy="share")["thz_share"].mean() for f in (first, other)]
    assert shares[0] < shares[1]


def test_what_nobody_can_recognise_is_not_resumed(tmp_path: Path) -> None:
    class Local(Averaging):
        name = "local"

    how: dict[str, Any] = {"policies": [Local], "seeds": 1, "iterations": 1, "workers": 1}
    sweep(TINY, {"thz.subbands": [1, 2]}, out=tmp_path / "s", **how)
    with pytest.raises(ThzSyncError, match="resume: policy 'local'"):
        sweep(TINY, {"thz.subbands": [1, 2]}, out=tmp_path / "s", resume=True, **how)


def test_a_plugin_brings_a_policy_everywhere(tmp_path: Path) -> None:
    source = (ROOT / "tests/coordinator/outside.py").read_text()
    register = "from thzsync.coordinator import register_policy\nregister_policy(Averaging)\n"
    (tmp_path / "lab.py").write_text(source + register)
    it = ("tiny", "--plugin", "lab", "--iterations", "1")
    thzsync(tmp_path, "run", *it, "--policy", "averaging", "--save", "learnt")
    thzsync(tmp_path, "run", *it, "--policy", "averaging", "--from", "learnt", "--frozen")
    both = (*it, "--policies", "averaging,all-wired", "--workers", "2")
    assert "lab" not in thzsync(tmp_path, "compare", *both, "--seeds", "2").stderr
    swept = ("sweep", *both, "--set", "thz.subbands=1,2", "--seeds", "1", "--out", "swept")
    thzsync(tmp_path, *swept)
    (tmp_path / "lab.py").write_text(source + register + "# other\n")
    plan = thzsync(tmp_path, *swept, "--resume", "--dry-run", "--json").stdout
    assert json.loads(plan)["done"] == 0
    thzsync(tmp_path, *swept, "--resume")
    assert len(list((tmp_path / "swept/finished").iterdir())) == 8


def test_an_object_is_recognised_in_another_process() -> None:
    code = (
        "from tests.experiments.test_own_policies import OWN, given_policies\n"
        "print([own.identity for own in given_policies(OWN).values() if own])"
    )
    run = [sys.executable, "-c", code]
    env = environment() | {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    done = subprocess.run(run, env=env, capture_output=True, text=True, check=True)
    here = [own.identity for own in given_policies(OWN).values() if own]
    assert done.stdout.strip() == str(here)
    assert len({*here}) == len(here)
    assert np.all([own.sendable and own.lasting for own in given_policies(OWN).values() if own])
