from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from thzsync.cli import main
from thzsync.errors import ThzSyncError
from thzsync.feasibility import check_scenario
from thzsync.scenario import Scenario, preset_names
from thzsync.scenario.files import build_scenario


def tiny(**changes: Any) -> Scenario:
    return build_scenario({"preset": "tiny", **changes}, "test")


def job(**training: Any) -> dict[str, Any]:
    return {"jobs": [{"training": {"moe_stages": [], **training}}]}


@pytest.mark.parametrize("name", preset_names())
def test_presets_can_be_run_and_give_no_cause_for_remarks(name: str) -> None:
    assert check_scenario(Scenario.preset(name)) == []


IMPOSSIBLE: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown method": (
        {"collectives": {"allreduce": "rings"}},
        r"x: collectives\.allreduce: .*'rings'.* proposed, ring",
    ),
    "an unknown model": (
        {"jobs": [{"model": {"name": "gpt-9"}}]},
        r"x: jobs\.0: .*'gpt-9'.* gpt3-175b",
    ),
    "a missing trace": (
        {"jobs": [{"trace": "nowhere.jsonl.gz"}]},
        r"x: jobs\.0: nowhere\.jsonl\.gz: ",
    ),
    "missing gains": (
        {"channel": {"gains_file": "nowhere.csv"}},
        r"x: channel\.gains_file: nowhere\.csv: ",
    ),
    "a fibre so slow that the run would seem stalled": (
        {"optical": {"access_bps": 400}},
        r'x: optical\.access_bps: at 400 b/s one packet .* 1311 s.* did you mean "400 Gb/s"\?',
    ),
    "a billion racks": (
        {"floor": {"rings": 50, "slots_per_ring": 2 * 10**7, "inner_radius_m": 1e5}, "jobs": []},
        r"x: floor: 1000000000 racks .* TB ",
    ),
    "more rings than fibres could join": (
        {"floor": {"rings": 10**6, "slots_per_ring": 3}},
        r"x: floor: 3000000 racks .* PB ",
    ),
    "a million micro-batches on many stages": (
        {"floor": {"rings": 60, "slots_per_ring": 3}, **job(microbatches=10**6)},
        r"x: jobs\.0: .* [GT]B ",
    ),
    "an exchange among a hundred thousand": (
        {
            "floor": {"rings": 1, "slots_per_ring": 20_000, "inner_radius_m": 100},
            **job(moe_stages=[0]),
        },
        r"x: jobs\.0: .* GB ",
    ),
    "a plan of ten billion chunks": (
        job(p2p_bytes=2**53),
        r"x: jobs: .* 5\.15e\+10 chunks .* 6 racks .* TB ",
    ),
    "a model that never ends": (
        {"jobs": [{"model": {"name": "gpt3-175b", "efficiency": 1e-6, "accelerator_flops": 1e6}}]},
        r"x: jobs\.0: .* 10000 s",
    ),
}


@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_what_cannot_be_run_is_refused_before_anything_is_allocated(case: str) -> None:
    changes, message = IMPOSSIBLE[case]
    with pytest.raises(ThzSyncError, match=message):
        check_scenario(tiny(**changes), "x")


ODD: dict[str, tuple[dict[str, Any], str]] = {
    "a very slow fibre": (
        {"optical": {"inter_bps": 400e3}},
        r"optical\.inter_bps is 400 kb/s; is its unit right\?",
    ),
    "a round longer than an iteration": (
        {"thz": {"round_overhead_s": 30}},
        r"thz\.round_overhead_s .*is 30 s",
    ),
    "a fallback that comes too late": (
        {"thz": {"fallback_timeout_s": 20}},
        r"thz\.fallback_timeout_s \(20 s\) .*collectives\.stall_limit_s \(10 s\)",
    ),
    "very many chunks": (
        {"collectives": {"chunk_bytes": 1}, **job(p2p_bytes=2**22, allreduce_bytes=1)},
        r"collectives\.chunk_bytes is 1, .* 1\.3e\+07 chunks",
    ),
    "very small bursts": (
        {"optical": {"background": {"load": 0.5, "burst_bytes": 1}}},
        r"optical\.background: .* 2e\+09 bursts",
    ),
    "a radio that reaches no step of its rate law": (
        {"thz": {"rate": "802.15.3d", "max_power_w": 1e-6}},
        r"thz\.rate: .* 2\.2 dB",
    ),
    "beams whose headroom takes them below the first step": (
        {
            "thz": {
                "rate": "802.15.3d",
                "max_power_w": 1e-5,
                "interference": "beams",
                "interference_headroom_db": 29,
            }
        },
        r"thz\.rate: .* 2\.2 dB",
    ),
    "distortion below the first step": (
        {"thz": {"rate": {"kind": "802.15.3d", "sndr_db": 1}}},
        r"thz\.rate: .* distortion",
    ),
    "a rack that is hours late": (
        {"stragglers": {"slow_racks": [{"rack": 0, "delay_s": 1e4}]}},
        r"optical\.background: .* bursts",
    ),
    "very small packets": (
        {
            "optical": {"packet_bytes": 1, "background": {"load": 0}},
            **job(allreduce_bytes=2**31),
        },
        r"jobs: .* packets",
    ),
}


@pytest.mark.parametrize("case", ODD)
def test_what_is_possible_but_hardly_meant_gets_a_remark(case: str) -> None:
    changes, message = ODD[case]
    remarks = check_scenario(tiny(**changes), "x")
    assert len(remarks) == 1
    assert re.match("x: " + message, remarks[0])


def test_all_problems_are_told_at_once() -> None:
    changed = tiny(
        collectives={"a2a": "no", "p2p": "nor"},
        optical={"access_bps": 1},
        channel={"gains_file": "absent.csv"},
        jobs=[{"model": {"name": "gpt-9"}}],
    )
    with pytest.raises(ThzSyncError) as caught:
        check_scenario(changed, "x")
    places = [line.split(": ")[1] for line in caught.value.lines]
    assert places == [
        "collectives.a2a",
        "collectives.p2p",
        "optical.access_bps",
        "channel.gains_file",
        "jobs.0",
    ]


COMMANDS = (
    ("scenario", "show"),
    ("run",),
    ("compare", "--policies", "all-wired"),
    ("synthesize", "a2a", "--racks", "2", "--scenario"),
    ("trace", "generate", "--out", "x.gz"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
def test_every_command_refuses_with_one_line_per_problem(
    command: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.toml"
    file.write_text('preset = "tiny"\n[collectives]\na2a = "no"\nallreduce = "nor"\n')
    assert main([*command, str(file)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert [line.startswith(f"thzsync: error: {file}: collectives.a") for line in lines] == [
        True
    ] * 2


def test_remarks_go_to_stderr_and_the_result_to_stdout(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.toml"
    file.write_text('preset = "tiny"\n[optical]\ninter_bps = 400e3\n')
    assert main(["scenario", "show", str(file)]) == 0
    captured = capsys.readouterr()
    assert captured.err.startswith(f"thzsync: warning: {file}: optical.inter_bps is 400 kb/s")
    assert captured.out.startswith("# Oversubscription of the fibre between rings: 750,000:1\n")


def test_a_floor_of_a_thousand_rings_is_told_how_many_bursts_it_asks_for() -> None:
    """A million fibres carry background that nobody crosses; without it the floor is light."""
    values = Scenario.preset("tiny").model_dump(mode="json", exclude_none=True)
    values["floor"]["rings"], values["jobs"][0]["rings"] = 1100, 2
    (remark,) = check_scenario(Scenario.model_validate(values))
    assert "optical.background" in remark
    values["optical"]["background"]["load"] = 0.0
    assert check_scenario(Scenario.model_validate(values)) == []
