"""A run that is cut anywhere loses at most an iteration, and goes on as if nothing had happened."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import polars as pl
import pytest

from thzsync.auditor import audit
from thzsync.cli import main
from thzsync.coordinator import Action, Outcome, Situation, save_policy
from thzsync.coordinator.static import ALL_WIRELESS
from thzsync.coordinator.store import read_policy
from thzsync.errors import ThzSyncError
from thzsync.records.folder import sealed, with_marker
from thzsync.records.journal import (
    PART,
    PROGRESS,
    STARTED,
    Journal,
    RunSpec,
    in_progress,
    part_name,
)
from thzsync.records.parts import (
    DECISIONS,
    PackedRecord,
    decision_bytes,
    read_decisions,
    write_packed,
)
from thzsync.records.run import frame_bytes
from thzsync.scenario import Scenario
from thzsync.simulation import Run, simulate
from thzsync.simulation.simulator import first_policy, reference_costs, resume
from thzsync.version import __version__

POLICIES = ("thz-sync", "ddqn", "fixed-ratio")
ITERATIONS = 4
TWO_JOBS = {
    "name": "two",
    "floor": {"rings": 2, "slots_per_ring": 4},
    "stragglers": {"probability": 0.2, "min_delay_s": 1e-4, "max_delay_s": 1e-3},
    "jobs": [
        {
            "name": name,
            "first_lane": 2 * k,
            "lanes": 2,
            "start_s": 0.004 * k,
            "training": {
                "microbatches": 2 + k,
                "allreduce_buckets": 1,
                "allreduce_bytes": 2**21,
                "p2p_bytes": 2**20,
                "a2a_bytes_per_rack": 2**20,
                "moe_stages": [1],
                "forward_s": 1e-3,
                "backward_s": 2e-3,
            },
        }
        for k, name in enumerate(("train", "second"))
    ],
}
"""Iterations of one job end while decisions of the other wait for their outcomes."""


@pytest.fixture(scope="module", params=["one job", "two jobs"])
def scenario(request: pytest.FixtureRequest) -> Scenario:
    if request.param == "one job":
        return Scenario.preset("tiny")
    return Scenario.model_validate(TWO_JOBS)


def begin(scenario: Scenario, policy: str) -> RunSpec:
    return RunSpec(scenario, policy, 5, ITERATIONS, reference_costs(scenario, 5))


def journaled(spec: RunSpec, folder: Path) -> Run:
    return simulate(
        spec.scenario,
        first_policy(spec),
        spec.iterations,
        spec.seed,
        spec.references,
        journal=Journal.begin(folder, spec),
    )


class Killed(BaseException):
    """The process is gone."""


def kill_at(step: int, patch: pytest.MonkeyPatch) -> None:
    """Let the process end before its ``step``-th rename."""
    done, rename = 0, Path.replace

    def replace(self: Path, target: Path) -> Path:
        nonlocal done
        done += 1
        if done > step:
            raise Killed
        return rename(self, target)

    patch.setattr(Path, "replace", replace)


def same_files(one: Path, other: Path) -> bool:
    names = sorted(file.name for file in one.iterdir())
    return names == sorted(file.name for file in other.iterdir()) and all(
        (one / name).read_bytes() == (other / name).read_bytes() for name in names
    )


@pytest.mark.parametrize("policy", POLICIES)
def test_a_run_that_is_cut_twice_leaves_the_record_of_one_that_is_not(
    policy: str, scenario: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = begin(scenario, policy)
    whole = journaled(spec, tmp_path / "whole")
    rng = np.random.default_rng(7)
    with monkeypatch.context() as patch:
        kill_at(int(rng.integers(5, 7)), patch)  # some parts are there, and not all
        with pytest.raises(Killed):
            journaled(spec, tmp_path / "cut")
    with monkeypatch.context() as patch:
        kill_at(0, patch)
        with pytest.raises(Killed):
            resume(Journal.open(tmp_path / "cut"))
    record, _ = resume(Journal.open(tmp_path / "cut"))
    assert same_files(record.save(tmp_path / "a"), whole.save(tmp_path / "b"))


@pytest.mark.parametrize("policy", POLICIES[:2])
def test_a_learner_goes_on_with_what_it_had_learnt(
    policy: str, scenario: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = begin(scenario, policy)
    trained = first_policy(spec)
    simulate(scenario, trained, ITERATIONS, 5, spec.references)
    with monkeypatch.context() as patch:
        kill_at(6, patch)
        with pytest.raises(Killed):
            journaled(spec, tmp_path / "cut")
    _, resumed = resume(Journal.open(tmp_path / "cut"))
    save_policy(trained, tmp_path / "trained", scenario)
    save_policy(resumed, tmp_path / "resumed", scenario)
    (*told, arrays), (*found, others) = (read_policy(tmp_path / n) for n in ("trained", "resumed"))
    assert told == found
    assert all(np.array_equal(arrays[k], others[k], equal_nan=True) for k in arrays | others)


def test_what_was_finished_can_be_read_and_audited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as patch:
        kill_at(5, patch)
        with pytest.raises(Killed):
            journaled(begin(Scenario.preset("tiny"), "fixed-ratio"), tmp_path / "cut")
    run = Run.load(tmp_path / "cut")
    assert 0 < run.iterations.height < ITERATIONS
    assert audit(run).violations == []
    assert main(["audit", str(tmp_path / "cut")]) == 0


class Moody:
    """Cannot be saved, and would decide otherwise a second time."""

    name = "fixed-ratio"

    def decide(self, situation: Situation) -> Action:
        return ALL_WIRELESS.decide(situation)

    def learn(self, situation: Situation, action: Action, outcome: Outcome) -> None: ...


def test_a_policy_that_decides_otherwise_than_recorded_is_refused(tmp_path: Path) -> None:
    tiny = Scenario.preset("tiny")
    spec = begin(tiny, "fixed-ratio")
    journal = Journal.begin(tmp_path / "cut", spec)
    simulate(tiny, Moody(), 2, 5, spec.references, journal=journal)
    with pytest.raises(ThzSyncError, match=f"^{tmp_path / 'cut'}: "):
        resume(Journal.open(tmp_path / "cut"))


def test_nothing_to_resume_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--resume", str(tmp_path)]) == 2
    assert str(tmp_path) in capsys.readouterr().err
    assert main(["run", "--resume", str(tmp_path), "--out", "elsewhere"]) == 2
    assert "--resume" in capsys.readouterr().err


def test_finished_iterations_of_an_interrupted_run_are_not_thrown_away(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "cut")
    journaled(begin(Scenario.preset("tiny"), "fixed-ratio"), tmp_path / "cut")
    held = sorted((tmp_path / "cut" / PROGRESS).iterdir())
    again = ["run", "tiny", "--policy", "fixed-ratio", "--iterations", "1", "--json"]
    line = refused(capsys, *again, "--out", folder)
    assert f"`thzsync run --resume {folder}`" in line
    assert "--force" in line
    assert sorted((tmp_path / "cut" / PROGRESS).iterdir()) == held
    assert main([*again, "--out", folder, "--force"]) == 0
    capsys.readouterr()
    assert "holds a run" in refused(capsys, *again, "--out", folder)
    assert not in_progress(tmp_path / "cut")


def test_what_had_finished_nothing_is_begun_anew(tmp_path: Path) -> None:
    Journal.begin(tmp_path, begin(Scenario.preset("tiny"), "fixed-ratio"))
    again = ["run", "tiny", "--policy", "fixed-ratio", "--iterations", "1", "--json"]
    assert main([*again, "--out", str(tmp_path)]) == 0


def test_a_damaged_part_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    journaled(begin(Scenario.preset("tiny"), "ddqn"), tmp_path / "cut")
    (policy,) = (tmp_path / "cut" / PROGRESS).glob("policy-*")
    policy.write_bytes(policy.read_bytes()[:-1])
    assert main(["run", "--resume", str(tmp_path / "cut")]) == 2
    assert policy.name in capsys.readouterr().err


@pytest.mark.parametrize("damage", ["cut", "changed", "emptied"])
def test_a_damaged_file_of_a_part_is_one_line(
    damage: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journaled(begin(Scenario.preset("tiny"), "fixed-ratio"), tmp_path / "cut")
    part = tmp_path / "cut" / PROGRESS / part_name(2)
    content = part.read_bytes()
    middle = len(content) // 2
    changed = content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :]
    part.write_bytes({"cut": content[:-9], "changed": changed, "emptied": b""}[damage])
    assert main(["run", "--resume", str(tmp_path / "cut")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert part.name in line


# -- other versions -------------------------------------------------------------------------------

TINY = Scenario.preset("tiny")


def begun_by(version: str, folder: Path) -> None:
    """Let another version have begun the run."""
    marker = folder / PROGRESS / STARTED
    told = json.loads(marker.read_text())
    told["environment"]["thzsync"] = version
    marker.write_text(json.dumps(sealed(told)))


def keep_in_parquet(progress: Path) -> None:
    """Parts as they were before they became Arrow streams."""
    for file in progress.glob("part-*"):
        part = PackedRecord.open(file, PART)
        tables = ((n, pl.read_ipc_stream(part.read(n))) for n in part.document["files"])
        files = [(n.replace(".arrow", ".parquet"), frame_bytes(frame)) for n, frame in tables]
        write_packed(file, with_marker(PART, {"kind": "part", "policy": None}, files))


def keep_in_folders(progress: Path) -> None:
    """Parts as they were before each was one file."""
    for file in progress.glob("part-*"):
        with ZipFile(file) as archive:
            archive.extractall(file.with_suffix(""))
        file.unlink()


def refused(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    """The one line with which a command is refused."""
    assert main([*command]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


@pytest.mark.parametrize("keep", [keep_in_parquet, keep_in_folders])
@pytest.mark.parametrize("version", [None, "0.1.7"])
def test_parts_of_another_version_are_not_called_damaged(
    keep: Callable[[Path], None],
    version: str | None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    cut = tmp_path / "cut"
    journaled(begin(TINY, "fixed-ratio"), cut)
    keep(cut / PROGRESS)
    if version is not None:
        begun_by(version, cut)
    versions = (f"thzsync {version}", __version__) if version else ("version",)
    for command in (("run", "--resume"), ("audit",)):
        line = refused(capsys, *command, str(cut))
        assert f"{cut}: " in line
        assert all(told in line for told in versions)
        assert "damaged" not in line
        assert f"`thzsync run ... --out {cut} --force`" in line
    anew = ["run", "tiny", "--policy", "all-wired", "--iterations", "1", "--out", str(cut)]
    assert main([*anew, "--force"]) == 0


def test_what_another_version_cannot_read_or_repeat_is_told_with_both_versions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec, moody, damaged = begin(TINY, "fixed-ratio"), tmp_path / "a", tmp_path / "b"
    journal = Journal.begin(moody, spec)
    simulate(TINY, Moody(), 2, 5, spec.references, journal=journal)
    journaled(spec, damaged)
    (damaged / PROGRESS / part_name(2)).write_bytes(b"")
    for folder, reason in (
        (moody, str(moody)),
        (damaged, part_name(2)),
    ):
        begun_by("9.0", folder)
        line = refused(capsys, "run", "--resume", str(folder))
        assert reason in line
        assert all(told in line for told in (str(folder), "thzsync 9.0", __version__))
        assert "--force" in line


def test_another_version_that_computes_the_same_may_go_on(tmp_path: Path) -> None:
    whole = journaled(begin(TINY, "fixed-ratio"), tmp_path / "cut")
    begun_by("9.0", tmp_path / "cut")
    (tmp_path / "cut" / PROGRESS / part_name(ITERATIONS - 1)).unlink()
    record, _ = resume(Journal.open(tmp_path / "cut"))
    assert same_files(record.save(tmp_path / "a"), whole.save(tmp_path / "b"))


def test_a_beginning_that_lacks_something_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Journal.begin(tmp_path / "cut", begin(TINY, "fixed-ratio"))
    marker = tmp_path / "cut" / PROGRESS / STARTED
    told = json.loads(marker.read_text())
    del told["frozen"]
    marker.write_text(json.dumps(sealed(told)))
    assert STARTED in refused(capsys, "run", "--resume", str(tmp_path / "cut"))


# -- real processes -------------------------------------------------------------------------------


def start(folder: Path, policy: str) -> subprocess.Popen[bytes]:
    asked = ["run", "tiny", "--policy", policy, "--iterations", "8", "--out", str(folder)]
    quiet = subprocess.DEVNULL
    return subprocess.Popen([sys.executable, "-m", "thzsync", *asked], stdout=quiet, stderr=quiet)


def until_part(folder: Path, process: subprocess.Popen[bytes]) -> None:
    """Wait until some iterations are on disk."""
    while process.poll() is None and not (folder / PROGRESS / part_name(1)).exists():
        time.sleep(0.005)


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
def test_a_killed_process_is_resumed_to_the_same_bytes(policy: str, tmp_path: Path) -> None:
    asked = ["run", "tiny", "--policy", policy, "--iterations", "8", "--out"]
    assert main([*asked, str(tmp_path / "whole")]) == 0
    process = start(tmp_path / "cut", policy)
    until_part(tmp_path / "cut", process)
    time.sleep(np.random.default_rng().uniform(0, 0.2))
    process.send_signal(signal.SIGKILL)
    process.wait()
    if in_progress(tmp_path / "cut"):
        assert main(["run", "--resume", str(tmp_path / "cut")]) == 0
    assert same_files(tmp_path / "cut", tmp_path / "whole")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_process_that_is_asked_to_end_writes_what_is_finished(
    number: signal.Signals, tmp_path: Path
) -> None:
    process = start(tmp_path / "cut", "fixed-ratio")
    until_part(tmp_path / "cut", process)
    process.send_signal(number)
    status = process.wait()
    told = json.loads((tmp_path / "cut" / "run.json").read_text())
    assert (status, in_progress(tmp_path / "cut")) == (
        (0, False) if told["iterations"] == 8 else (130, True)
    )
    assert audit(Run.load(tmp_path / "cut")).ok


def test_decisions_on_several_carriers_are_read_again(tmp_path: Path) -> None:
    decisions = [(np.array([[1, 2], [0, 3]]), np.array([1.0, 0.0])), (np.array([[4]]), np.ones(1))]
    content = [(DECISIONS, decision_bytes(decisions))]
    write_packed(tmp_path / "part.zip", with_marker(PART, {"kind": "part"}, content))
    again = read_decisions(PackedRecord.open(tmp_path / "part.zip", PART))
    for (chunks, power), (old_chunks, old_power) in zip(again, decisions, strict=True):
        np.testing.assert_array_equal(chunks, old_chunks)
        np.testing.assert_array_equal(power, old_power)
