"""`thzsync synthesize` and `thzsync reproduce synthesis`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from thzsync.cli import main
from thzsync.collectives.catalogue import TOKEN_BYTES
from thzsync.scenario import Scenario

SMALL = ["--racks", "3", "--size", "1 MiB"]


def document(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("collective", ["p2p", "a2a", "allreduce"])
def test_json_tells_completion_bound_and_rounds(
    collective: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = document(capsys, "synthesize", collective, *SMALL)
    assert found["collective"] == collective
    assert 0 < found["bound_ms"] <= found["completion_ms"]
    last = found["rounds"][-1]
    assert {"round", "start_ms", "duration_ms", "links", "power_w"} <= set(last)
    assert last["start_ms"] + last["duration_ms"] == pytest.approx(found["completion_ms"])


def test_the_same_seed_gives_the_same_result_and_stragglers_a_later_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    first, again, late = (
        document(capsys, "synthesize", "a2a", *SMALL, "--seed", "4", *more)
        for more in ([], [], ["--stragglers"])
    )
    assert first == again
    assert late["completion_ms"] > first["completion_ms"] + 50


def test_the_table_shows_rounds_and_the_picture_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "rounds.svg"
    assert main(["synthesize", "allreduce", *SMALL, "--draw", str(picture)]) == 0
    printed = capsys.readouterr()
    assert "duration_ms" in printed.out
    assert str(picture) in printed.err.replace("\n", "")
    assert picture.exists()


def test_on_fibre_it_tells_time_bound_and_the_links_that_set_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    case = ["allreduce", "--method", "ring", "--fibre", "--racks", "8", "--size", "8 MiB"]
    quiet = ["--set", "optical.background.load=0"]
    found = document(capsys, "synthesize", *case, *quiet)
    rate_bps = Scenario.preset("single-ring").optical.access_bps
    assert found["bound_ms"] == pytest.approx(1e3 * 2 * 7 / 8 * 8 * 8 * 2**20 / rate_bps)
    assert 1 < found["times_bound"] < 1.05
    assert found["carrier"] == "fibre"
    late = document(capsys, "synthesize", *case, *quiet, "--stragglers")
    assert late["completion_ms"] > late["bound_ms"] > 50
    assert main(["synthesize", *case, *quiet]) == 0
    assert f"{found['times_bound']:.2f} times" in capsys.readouterr().out


BLOCKED = [
    "--set", "channel.blockage.share=0.3",
    "--set", "channel.blockage.mean_duration_s=5 ms",
    "--set", "channel.blockage.loss_db=60",
]  # fmt: skip
"""In seed 0, pairs that an AllReduce of four racks cannot do without are blocked at its start."""


def line(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What is said of the bound."""
    assert main(["synthesize", *arguments]) == 0
    return " ".join(capsys.readouterr().out.split("done after")[-1].split())


def test_where_a_blockage_lifts_the_bound_of_the_first_gains_is_no_measure(
    capsys: pytest.CaptureFixture[str],
) -> None:
    case = ["allreduce", "--racks", "4", "--size", "4 MiB", *BLOCKED]
    found = document(capsys, "synthesize", *case)
    assert found["completion_ms"] < 0.01 * found["bound_ms"]
    assert found["times_bound"] is None
    assert found["gains_change"] is True
    said = line(capsys, *case)
    assert f"{found['bound_ms']:.3f}" in said
    assert "times" not in said


def test_gains_that_change_are_told_beside_the_bound(capsys: pytest.CaptureFixture[str]) -> None:
    changing = ["a2a", "--racks", "3", "--size", "4 MiB", "--set", "channel.coherence_s=1 ms"]
    for case, told in ((changing, True), (changing[:-2], False)):
        found = document(capsys, "synthesize", *case)
        assert found["gains_change"] is told
        assert found["times_bound"] == found["completion_ms"] / found["bound_ms"] > 1
        said = line(capsys, *case)
        assert f"{found['times_bound']:.2f} times" in said
        assert ("gains" in said) == told


def test_a_link_that_is_dead_at_the_start_has_no_bound_to_compare_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gains = tmp_path / "gains.csv"
    rows = ["rack_a,rack_b,subband,time_s,gain_db", "0,1,0,0,-inf", "0,1,0,0.002,-80"]
    gains.write_text("\n".join(rows))
    own = ["--set", "floor.slots_per_ring=2", "--set", "thz.subbands=1"]
    own += ["--set", f"channel.gains_file={gains}"]
    case = ["p2p", "--racks", "2", "--size", "1 MiB", *own]
    found = document(capsys, "synthesize", *case)
    assert found["bound_ms"] is None
    assert found["times_bound"] is None
    assert "times" not in line(capsys, *case)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["a2a", "--method", "nope"], "proposed, demand-sorted"),
        (["a2a", "--racks", "17"], "2..16"),
        (["a2a", "--size", "3 furlongs"], "--size"),
        (["a2a", "--size", "0"], "--size"),
        (["a2a", "--scenario", "nowhere"], "nowhere"),
        (["a2a", *SMALL, "--draw", "x.gif"], ".svg, .png"),
        (["a2a", *SMALL, "--fibre", "--draw", "x.svg"], "--draw"),
    ],
)
def test_mistakes_are_answered_in_one_line(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["synthesize", *arguments]) == 2
    message = capsys.readouterr().err.strip()
    assert words in message
    assert "\n" not in message


def test_reproduce_prints_the_figure_with_the_contracts_keys(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("thzsync.paper.synthesis.QUICK_RACKS", (3,))
    found = document(capsys, "reproduce", "synthesis", "--quick", "--seeds", "1", "--workers", "1")
    assert list(found["rows"][0]) == [
        "collective",
        "method",
        "racks",
        "stragglers",
        "mean_ms",
        "ci95_ms",
        "bound_ms",
        "paper_ms",
        "deviation_pct",
    ]
    assert len(found["rows"]) == 2 * (5 + 6)
    assert main(["reproduce", "synthesis", "--quick", "--seeds", "1", "--workers", "1"]) == 0
    assert f"{found['rows'][0]['mean_ms']:.4g}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("size", "reason"),
    [
        ("9" * 5000, "9" * 20),
        ("1e400 MiB", "'1e400 MiB'"),
        ("100000000000000000000", " 9007199254740992"),
        ("1e15 B", "4 racks"),
    ],
)
def test_a_size_that_no_machine_holds_is_one_line(
    size: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["synthesize", "a2a", "--racks", "4", "--size", size]) == 2
    errors = capsys.readouterr().err
    assert errors.startswith("thzsync: error: --size: ")
    assert reason in errors
    assert errors.count("\n") == 1


def test_a_barrier_moves_a_token_where_nobody_names_a_size(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["synthesize", "barrier", "--racks", "8", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert sum(row["mib"] for row in document["rounds"]) * 2**20 == 2 * 7 * TOKEN_BYTES
