from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thzsync.errors import ThzSyncError
from thzsync.scenario import Floor, Job, Scenario, Training, preset_names
from thzsync.scenario.files import build_scenario, parse_scenario

FLOOR = "[floor]\nrings = 2\nslots_per_ring = 3\n"
JOB = FLOOR + "[[jobs]]\n[jobs.training]\nmoe_stages = []\n"


@pytest.mark.parametrize("name", preset_names())
def test_a_preset_dumps_to_toml_that_loads_equal(name: str) -> None:
    scenario = Scenario.preset(name)
    again = parse_scenario(scenario.to_toml(), "dump")
    assert again == scenario
    assert again.digest == scenario.digest


@given(
    name=st.text(st.characters(exclude_categories=["Cs"])),
    skew=st.floats(0, 1e300),
    forward_s=st.floats(0, 1e9),
    delay=st.floats(0, 1e-9),
    trace=st.booleans(),
)
def test_any_scenario_dumps_to_toml_that_loads_equal(
    name: str, skew: float, forward_s: float, delay: float, trace: bool
) -> None:
    training = Training(moe_stages=(), a2a_skew=skew, forward_s=forward_s)
    job = Job(name="b", first_ring=1, trace=name) if trace else None
    scenario = build_scenario(
        {
            "name": name,
            "floor": {"rings": 2, "slots_per_ring": 3},
            "jobs": [Job(name="a", rings=1, training=training), *([job] if job else [])],
            "faults": [{"kind": "fibre", "rack": 1, "start_s": delay, "end_s": 1}],
            "stragglers": {"slow_racks": [{"rack": 2, "delay_s": delay}]},
        },
        "test",
    )
    assert parse_scenario(scenario.to_toml(), "dump") == scenario


def test_a_file_may_start_from_a_preset_and_list_only_what_differs() -> None:
    scenario = parse_scenario('preset = "paper"\n[thz]\nsubbands = 8\n', "mine.toml")
    paper = Scenario.paper()
    assert scenario.thz.subbands == 8
    assert scenario.floor == paper.floor
    assert scenario.thz.max_power_w == paper.thz.max_power_w


def test_the_digest_tells_scenarios_apart() -> None:
    digests = {Scenario.preset(name).digest for name in preset_names()}
    assert len(digests) == len(preset_names())


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("512 KiB", 512 * 2**10),
        ("1.5 MiB", 3 * 2**19),
        ("2 GB", 2 * 10**9),
        ("1_000 B", 1000),
        ("4096", None),
    ],
)
def test_sizes_may_carry_units(text: str, value: int | None) -> None:
    toml = FLOOR + f'[collectives]\nchunk_bytes = "{text}"\n'
    if value is None:
        with pytest.raises(ThzSyncError, match="number with one of B, KB"):
            parse_scenario(toml, "x")
    else:
        assert parse_scenario(toml, "x").collectives.chunk_bytes == value


@given(st.integers(1, 10**6))
def test_a_decimal_unit_is_the_same_number_as_its_power_of_ten(count: int) -> None:
    text = FLOOR + f'[optical]\nswitch_delay_s = "{count} ns"\n'
    assert parse_scenario(text, "x").optical.switch_delay_s == float(f"{count}e-9")


BAD = {
    "unknown key": (FLOOR + "[thz]\nsubband = 4\n", r"thz\.subband: unknown key; did you mean"),
    "unknown key before missing": (
        "[floor]\nring = 2\nslots_per_ring = 3\n",
        r"floor\.ring: unknown key; did you mean 'rings'\? \(and 1 more problem\)",
    ),
    "unknown table": ("[flor]\nrings = 2\n", r"flor: unknown key; did you mean 'floor'\?"),
    "far from any key": (
        FLOOR + "[reward]\nxyzzy = 1\n",
        r"reward\.xyzzy: unknown key; allowed are time_weight, energy_weight",
    ),
    "unknown key of a job": (
        JOB + "microbatch = 3\n",
        r"jobs\.0\.training\.microbatch: unknown key; did you mean 'microbatches'\?",
    ),
    "missing": ("[floor]\nrings = 2\n", r"floor\.slots_per_ring: this key is required"),
    "wrong unit": (
        FLOOR + '[thz]\nmax_power_w = "20 GHz"\n',
        r"thz\.max_power_w: found '20 GHz'; write a number, or a number with one of W, mW",
    ),
    "negative power": (
        FLOOR + "[thz]\nmax_power_w = -1\n",
        r"thz\.max_power_w: found -1; should be greater than 0",
    ),
    "no subbands": (FLOOR + "[thz]\nsubbands = 0\n", r"thz\.subbands: found 0; should be greater"),
    "packet too large": (
        FLOOR + '[optical]\npacket_bytes = "8 MiB"\n',
        r"optical: nic_queue_bytes is 4194304 but one packet has 8388608 bytes",
    ),
    "buffer too small": (
        FLOOR + '[optical]\nshared_buffer_bytes = "64 KiB"\n',
        r"optical: shared_buffer_bytes is 65536; it must hold two packets",
    ),
    "weights": (FLOOR + "[reward]\ntime_weight = 0.9\n", r"reward: .* is 1\.2; they must sum to 1"),
    "too many racks": (
        FLOOR + "racks_per_ring = 9\n",
        r"floor: racks_per_ring is 9 but a ring has 3 slots; use at most 3",
    ),
    "too many bytes": (
        JOB + "p2p_bytes = 100000000000000000000\n",
        r"jobs\.0\.training\.p2p_bytes: found 1000+; should be less than or equal",
    ),
    "no source": (FLOOR + "[[jobs]]\n", r"jobs\.0: give exactly one of training, model and trace"),
    "overlapping jobs": (
        FLOOR
        + '[[jobs]]\nname = "a"\ntrace = "t"\n[[jobs]]\nname = "b"\nfirst_ring = 1\ntrace = "t"\n',
        r"jobs\.1: job 'b' and job 'a' both use the rack on ring 1, lane 0",
    ),
    "twins": (
        FLOOR + '[[jobs]]\nrings = 1\ntrace = "t"\n[[jobs]]\nfirst_ring = 1\ntrace = "t"\n',
        r"jobs: every job needs a name of its own",
    ),
    "beyond the rings": (
        FLOOR + '[[jobs]]\nfirst_ring = 1\nrings = 2\ntrace = "t"\n',
        r"jobs\.0: rings 1\.\.2 but the floor has rings 0\.\.1",
    ),
    "unknown stage": (
        FLOOR + "[[jobs]]\n[jobs.training]\nmoe_stages = [2]\n",
        r"moe_stages: stage 2 does not exist; the job has stages 0\.\.1",
    ),
    "fault without kind": (
        FLOOR + "[[faults]]\nstart_s = 0\nend_s = 1\n",
        r"faults\.0\.kind: this key is required",
    ),
    "fault of unknown kind": (
        FLOOR + '[[faults]]\nkind = "flood"\nstart_s = 0\nend_s = 1\n',
        r"faults\.0\.kind: found 'flood'; use one of 'transceiver-down', 'subband-jammed'",
    ),
    "unknown key of a fault": (
        FLOOR + '[[faults]]\nkind = "subband-jammed"\nstart_s = 0\nend_s = 1\nsubbands = 1\n',
        r"faults\.0\.subbands: unknown key; did you mean 'subband'\?",
    ),
    "fault on unknown rack": (
        FLOOR + '[[faults]]\nkind = "transceiver-down"\nstart_s = 0\nend_s = 1\nrack = 6\n',
        r"faults\.0: rack 6 does not exist; the floor has racks 0\.\.5",
    ),
    "fault ends before it starts": (
        FLOOR + '[[faults]]\nkind = "transceiver-down"\nstart_s = 2\nend_s = 1\nrack = 0\n',
        r"faults\.0: end_s \(1\.0\) must be after start_s",
    ),
    "text for number": ("[floor]\nrings = 'two'\nslots_per_ring = 3\n", r"rings: found 'two'; "),
    "table for number": ("[floor]\nrings = [2]\nslots_per_ring = 3\n", r"floor\.rings: should be"),
    "not TOML": ("[floor\n", r"not valid TOML"),
    "unknown preset": ('preset = "papper"\n', r"preset: found 'papper'; use one of paper, "),
    "preset of a wrong type": ("preset = [1]\n", r"preset: found \[1\]; use one of paper, "),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_scenario_is_refused_by_file_and_key_in_one_line(case: str) -> None:
    text, message = BAD[case]
    with pytest.raises(ThzSyncError, match=message) as caught:
        parse_scenario(text, "my.toml")
    assert str(caught.value).startswith("my.toml: ")
    assert "\n" not in str(caught.value)


def test_loading_prefers_a_file_and_falls_back_to_a_preset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("paper").mkdir()  # a folder of that name must not get in the way
    assert Scenario.load("paper") == Scenario.paper()
    Path("tiny").write_text(FLOOR)
    assert Scenario.load("tiny").floor == Floor(rings=2, slots_per_ring=3)


def test_files_that_cannot_be_read_are_named_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "raw.toml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(ThzSyncError, match=r"no such file; `thzsync scenario new .*x\.toml`"):
        Scenario.load(tmp_path / "x.toml")
    with pytest.raises(ThzSyncError, match="not a text file; a scenario is TOML in UTF-8"):
        Scenario.load(tmp_path / "raw.toml")
    with pytest.raises(ThzSyncError, match=r"cannot be read \(Is a directory\)"):
        Scenario.load(tmp_path / "folder.toml")
    with pytest.raises(ThzSyncError, match="no such scenario file or preset; did you mean 'paper'"):
        Scenario.load("papper")
