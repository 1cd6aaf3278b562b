"""Every command that simulates flows says how near they are to packets."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from thzsync.cli import main
from thzsync.experiments.compare import Comparison
from thzsync.studies import Sweep

FLOWS = ["--set", "optical.fidelity=flow", "--set", "optical.background.load=0.3"]
STRICT = ["--set", "optical.fidelity_tolerance=1e-9", "--set", "optical.replayed_share=1"]
RUN = ["run", "tiny", "--policy", "all-wired", "--iterations", "1"]
SEVERAL = [
    *("--policies", "all-wired,fixed-ratio", "--seeds", "2", "--iterations", "1"),
    *("--workers", "1"),
]
COMPARE = ["compare", "tiny", *SEVERAL]
SWEEP = ["sweep", "tiny", "--set", "thz.subbands=2,4", *SEVERAL]
LINE = re.compile(r"flow fidelity: (\w+) [+-]\d+\.\d\d ± \d+\.\d\d % against packets \(\d+ events")


@pytest.mark.parametrize("words", [RUN, COMPARE, SWEEP], ids=["run", "compare", "sweep"])
def test_a_line_per_collective_type_and_status_3_beyond_the_tolerance(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, *FLOWS, *STRICT, "--json"]) == 3
    said = capsys.readouterr()
    told = json.loads(said.out)["fidelity"]
    assert told["tolerance"] == 1e-9
    assert told["within"] is False
    assert set(LINE.findall(said.err)) == {row["kind"] for row in told["kinds"]}
    lines = [line for line in said.err.splitlines() if "optical.fidelity_tolerance" in line]
    beyond = {row["kind"] for row in told["kinds"] if abs(row["error"]) > 1e-9}
    assert len(lines) == len(beyond)  # each once, whatever the number of runs
    assert all(line.startswith("thzsync: warning: ") for line in lines)


@pytest.mark.parametrize("words", [RUN, COMPARE, SWEEP], ids=["run", "compare", "sweep"])
def test_within_the_tolerance_is_a_success_and_packets_say_nothing(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, *FLOWS, "--set", "optical.fidelity_tolerance=0.9", "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["fidelity"]["within"] is True
    assert "warning" not in said.err
    assert main([*words, "--json"]) == 0
    said = capsys.readouterr()
    assert "fidelity" not in json.loads(said.out)
    assert "fidelity" not in said.err


def test_what_is_told_of_several_names_the_worst_place(capsys: pytest.CaptureFixture[str]) -> None:
    main([*SWEEP, *FLOWS, *STRICT, "--json"])
    said = capsys.readouterr()
    for kind in ("a2a", "p2p"):
        rows = [r for r in json.loads(said.out)["fidelity"]["kinds"] if r["kind"] == kind]
        worst = max(rows, key=lambda row: abs(row["error"]))
        where = f"under {worst['policy']} at thz.subbands={worst['thz.subbands']}"
        lines = [line for line in said.err.splitlines() if where in line]
        assert any(f"{kind} {where} is {100 * worst['error']:+.2f} %" in line for line in lines)
        assert any(f"{kind} " in line and f" of {len(rows)}" in line for line in lines)


def test_an_open_verdict_says_so_and_how_to_sharpen_it(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "tiny", "--policy", "all-wired", "--iterations", "4", "--json"]
    tight = ["--set", "optical.fidelity_tolerance=0.006", "--set", "optical.fidelity=flow"]
    assert main([*words, *tight]) == 0
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "undecided" in line]
    assert "(0.6 %)" in line
    assert "optical.replayed_share" in line


def test_nothing_replayed_is_nothing_certified(capsys: pytest.CaptureFixture[str]) -> None:
    for words, why in (
        ([*RUN, "--set", "optical.replayed_share=0"], "optical.replayed_share is 0"),
        (["run", "tiny", "--policy", "all-wireless", "--iterations", "1"], "not certified"),
    ):
        assert main([*words, *FLOWS, "--json"]) == 0
        lines = [x for x in capsys.readouterr().err.splitlines() if "fidelity" in x]
        assert len(lines) == 1
        assert why in lines[0]


@pytest.mark.parametrize("words", [RUN, COMPARE, SWEEP], ids=["run", "compare", "sweep"])
def test_a_page_shows_the_certificate_and_one_of_packets_has_none(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, more in (("flows", FLOWS), ("packets", [])):
        assert main([*words, *more, "--out", str(tmp_path / name)]) == 0
        assert main(["report", str(tmp_path / name)]) == 0
        page = (tmp_path / name / "report.html").read_text("utf-8")
        assert ("Flow fidelity" in page) == (name == "flows")
    capsys.readouterr()


def test_a_folder_keeps_the_certificate_and_its_runs_pass_the_audit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    iterations = ["--iterations", "2"]  # of which a comparison records the last
    assert main([*COMPARE, *iterations, *FLOWS, "--out", str(tmp_path / "c")]) == 0
    assert main(["audit", str(tmp_path / "c" / "runs" / "all-wired")]) == 0
    told = Comparison.load(tmp_path / "c").fidelity
    assert told is not None
    assert told.document() == json.loads((tmp_path / "c" / "compare.json").read_text())["fidelity"]
    sweep = [*SWEEP, *FLOWS, "--out", str(tmp_path / "s")]
    assert main(sweep) == 0
    first = Sweep.load(tmp_path / "s")
    assert "fidelity" not in first.frame.columns
    assert main([*sweep, "--resume"]) == 0  # from what the folder holds
    again = Sweep.load(tmp_path / "s")
    assert again.fidelity == first.fidelity is not None
    capsys.readouterr()
