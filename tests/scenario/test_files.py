from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thzsync.errors import Problems, ThzSyncError
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
    skew=st.floats(0, 100),
    forward_s=st.floats(0, 1e4),
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
    names = [name for name in preset_names() if name != "pipelined"]  # another name of "beyond"
    assert len({Scenario.preset(name).digest for name in names}) == len(names)


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
        with pytest.raises(ThzSyncError, match="number with one of TiB, GiB"):
            parse_scenario(toml, "x")
    else:
        assert parse_scenario(toml, "x").collectives.chunk_bytes == value


@given(st.integers(1, 10**6))
def test_a_decimal_unit_is_the_same_number_as_its_power_of_ten(count: int) -> None:
    text = FLOOR + f'[optical]\nswitch_delay_s = "{count} ns"\n'
    assert parse_scenario(text, "x").optical.switch_delay_s == float(f"{count}e-9")


BAD = {
    "unknown key": (FLOOR + "[thz]\nsubband = 4\n", r"thz\.subband: .*'subbands'"),
    "unknown key before missing": (
        "[floor]\nring = 2\nslots_per_ring = 3\n",
        r"floor\.ring: .*'rings'.*\nmy\.toml: floor\.rings: ",
    ),
    "unknown table": ("[flor]\nrings = 2\n", r"flor: .*'floor'"),
    "far from any key": (
        FLOOR + "[reward]\nxyzzy = 1\n",
        r"reward\.xyzzy: .*time_weight, energy_weight",
    ),
    "unknown key of a job": (
        JOB + "microbatch = 3\n",
        r"jobs\.0\.training\.microbatch: .*'microbatches'",
    ),
    "missing": ("[floor]\nrings = 2\n", r"floor\.slots_per_ring: "),
    "wrong unit": (
        FLOOR + '[thz]\nmax_power_w = "20 GHz"\n',
        r"thz\.max_power_w: found '20 GHz'; write a number, or a number with one of kW, W, .*, dBm",
    ),
    "one job as a table": (
        FLOOR + '[jobs.model]\nname = "llama3-8b"\n',
        r"jobs: write \[\[jobs\]\], since there may be several such tables",
    ),
    "two sources of a job": (
        JOB + '[jobs.model]\nname = "llama3-8b"\n',
        r"jobs\.0: .* found training and model; remove one, as --set jobs\.train\.training= does",
    ),
    "like no other key": (
        FLOOR + "[optical]\nstatic_power_w = 1\n",
        r"optical\.static_power_w: unknown key; allowed are access_bps, ",
    ),
    "a receiver of pure noise": (
        FLOOR + "[thz]\nnoise_figure_db = 200\n",
        r"thz\.noise_figure_db: found 200; should be less than or equal to 50",
    ),
    "a rate in bytes": (
        FLOOR + '[optical]\naccess_bps = "100 GB/s"\n',
        r"optical\.access_bps: found '100 GB/s'; this counts bytes; write a number, or .* Gb/s",
    ),
    "negative power": (
        FLOOR + "[thz]\nmax_power_w = -1\n",
        r"thz\.max_power_w: found -1; .*\b0\b",
    ),
    "no subbands": (FLOOR + "[thz]\nsubbands = 0\n", r"thz\.subbands: found 0; .*\b1\b"),
    "packet too large": (
        FLOOR + '[optical]\npacket_bytes = "8 MiB"\n',
        r"optical\.packet_bytes: found '8 MiB'; .* 1048576",
    ),
    "packet larger than its queue": (
        FLOOR + '[optical]\nnic_queue_bytes = "1 KiB"\n',
        r"optical: nic_queue_bytes is 1024 .* 65536 bytes",
    ),
    "buffer too small": (
        FLOOR + '[optical]\nshared_buffer_bytes = "64 KiB"\n',
        r"optical: shared_buffer_bytes is 65536; ",
    ),
    "weights": (FLOOR + "[reward]\ntime_weight = 0.9\n", r"reward: .* is 1\.2; .*\b1\b"),
    "too many racks": (
        FLOOR + "racks_per_ring = 9\n",
        r"floor: racks_per_ring is 9 .*; .*\b3\b",
    ),
    "too many bytes": (
        JOB + "p2p_bytes = 100000000000000000000\n",
        r"jobs\.0\.training\.p2p_bytes: found 1000+; ",
    ),
    "no source": (FLOOR + "[[jobs]]\n", r"jobs\.0: .*training, model, trace"),
    "overlapping jobs": (
        FLOOR
        + '[[jobs]]\nname = "a"\ntrace = "t"\n[[jobs]]\nname = "b"\nfirst_ring = 1\ntrace = "t"\n',
        r"jobs\.1: .*'b'.*'a'.* ring 1, lane 0",
    ),
    "twins": (
        FLOOR + '[[jobs]]\nrings = 1\ntrace = "t"\n[[jobs]]\nfirst_ring = 1\ntrace = "t"\n',
        r"jobs: .*name",
    ),
    "beyond the rings": (
        FLOOR + '[[jobs]]\nfirst_ring = 1\nrings = 2\ntrace = "t"\n',
        r"jobs\.0: rings 1\.\.2 .*0\.\.1",
    ),
    "unknown stage": (
        FLOOR + "[[jobs]]\n[jobs.training]\nmoe_stages = [2]\n",
        r"moe_stages: stage 2 .*0\.\.1",
    ),
    "fault without kind": (
        FLOOR + "[[faults]]\nstart_s = 0\nend_s = 1\n",
        r"faults\.0\.kind: ",
    ),
    "fault of unknown kind": (
        FLOOR + '[[faults]]\nkind = "flood"\nstart_s = 0\nend_s = 1\n',
        r"faults\.0\.kind: found 'flood'; .*'transceiver-down', 'subband-jammed'",
    ),
    "unknown key of a fault": (
        FLOOR + '[[faults]]\nkind = "subband-jammed"\nstart_s = 0\nend_s = 1\nsubbands = 1\n',
        r"faults\.0\.subbands: .*'subband'",
    ),
    "fault on unknown rack": (
        FLOOR + '[[faults]]\nkind = "transceiver-down"\nstart_s = 0\nend_s = 1\nrack = 6\n',
        r"faults\.0: rack 6 .*0\.\.5",
    ),
    "fault ends before it starts": (
        FLOOR + '[[faults]]\nkind = "transceiver-down"\nstart_s = 2\nend_s = 1\nrack = 0\n',
        r"faults\.0: end_s \(1\.0\) .*start_s",
    ),
    "text for number": ("[floor]\nrings = 'two'\nslots_per_ring = 3\n", r"rings: found 'two'; "),
    "table for number": (
        "[floor]\nrings = [2]\nslots_per_ring = 3\n",
        r"floor\.rings: ",
    ),
    "true for a number": (
        FLOOR + "[thz]\nsubbands = true\n",
        r"thz\.subbands: found True; ",
    ),
    "number for a list": (
        FLOOR + "[coordinator]\npower_levels = 1\n",
        r"coordinator\.power_levels: found 1; .*list",
    ),
    "number for a table": (
        FLOOR + "[coordinator]\nbandit = 1\n",
        r"coordinator\.bandit: found 1; .*table",
    ),
    "a zero byte in a file's name": (
        '[[jobs]]\ntrace = "a\\u0000b"',
        r"jobs\.0\.trace: found ",
    ),
    "a quantity beyond all bounds": (
        FLOOR + '[collectives]\nchunk_bytes = "1e400 MiB"\n',
        r"collectives\.chunk_bytes: found '1e400 MiB'; ",
    ),
    "an exponent beyond all bounds": (
        FLOOR + '[thz]\nsubband_hz = "1e99999999999999999999 Hz"\n',
        r"thz\.subband_hz: found ",
    ),
    "an integer of 5,000 digits": (FLOOR + f"x = {'9' * 5000}\n", r"not valid TOML: Exceeds"),
    "an integer of 4,000 digits": (
        FLOOR + f"[thz]\nmax_power_w = {'9' * 4000}\n",
        r"thz\.max_power_w: found 9{60}\.\.\.; ",
    ),
    "brackets in brackets": (FLOOR + f"x = {'[' * 2000}\n", "nested"),
    "a delay that would wrap": (
        FLOOR + "[stragglers]\nslow_racks = [{rack = 0, delay_s = 9.3e6}]\n",
        r"stragglers\.slow_racks\.0\.delay_s: found 9300000\.0; .* 10000",
    ),
    "a switch that takes months": (
        FLOOR + "[optical]\nswitch_delay_s = 1e7\n",
        r"optical\.switch_delay_s: found 10000000\.0; .* 1",
    ),
    "noise louder than all": (
        FLOOR + "[thz]\nnoise_psd_dbm_per_hz = 1e15\n",
        r"thz\.noise_psd_dbm_per_hz: found 10+\.0; should be less than or equal to -100",
    ),
    "energy beyond measure": (
        FLOOR + "[optical]\nenergy_j_per_bit_hop = 1e300\n",
        r"optical\.energy_j_per_bit_hop: found 1e\+300; .* 1",
    ),
    "a subband of nothing": (
        FLOOR + "[thz]\nsubband_hz = 1e-300\n",
        r"thz\.subband_hz: found 1e-300; .* 1000",
    ),
    "a stall limit of a picosecond": (
        FLOOR + "[collectives]\nstall_limit_s = 1e-12\n",
        r"collectives\.stall_limit_s: found 1e-12; .* 0\.001",
    ),
    "a channel too fast to follow": (
        FLOOR + "[channel]\ncoherence_s = 0\n",
        r"channel\.coherence_s: found 0; .* 0\.000001",
    ),
    "blockage too fast to follow": (
        FLOOR + "[channel]\nblockage = {share = 0.999999, mean_duration_s = 0.05}\n",
        r"channel\.blockage: .* 5e-08 s",
    ),
    "a network of a billion units": (
        FLOOR + "[coordinator.bandit]\nunits = 1000000000\n",
        r"coordinator\.bandit\.units: found 1000000000; .* 1024",
    ),
    "a pair of one rack": (
        FLOOR + '[[faults]]\nkind = "pair-blocked"\nracks = [4, 4]\nstart_s = 0\nend_s = 1\n',
        r"faults\.0: racks: \[4, 4\] ",
    ),
    "racks inside each other": (
        "[floor]\nrings = 1\nslots_per_ring = 1000000000\n",
        r"floor: .* 3\.8e-08 m",
    ),
    "a control character in a key": (FLOOR + '"\\u001b[31m" = 1\n', r"\\x1b\[31m: unknown key"),
    "not TOML": ("[floor\n", r"not valid TOML"),
    "unknown preset": (
        'preset = "papper"\n',
        r"preset: found 'papper'; .*beyond, p",
    ),
    "preset of a wrong type": (
        "preset = [1]\n",
        r"preset: found \[1\]; .*beyond, p",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_scenario_is_refused_by_file_and_key_one_line_per_mistake(case: str) -> None:
    text, message = BAD[case]
    with pytest.raises(ThzSyncError, match=message) as caught:
        parse_scenario(text, "my.toml")
    assert all(line.startswith("my.toml: ") for line in caught.value.lines)


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
    with pytest.raises(ThzSyncError, match=r"`thzsync scenario new .*x\.toml`"):
        Scenario.load(tmp_path / "x.toml")
    with pytest.raises(ThzSyncError, match=r"TOML .*UTF-8"):
        Scenario.load(tmp_path / "raw.toml")
    with pytest.raises(ThzSyncError, match="is a folder; name a scenario file"):
        Scenario.load(tmp_path / "folder.toml")
    (tmp_path / "results").mkdir()
    (tmp_path / "results/scenario.toml").touch()
    with pytest.raises(ThzSyncError, match=r"is a folder; .*results/scenario\.toml"):
        Scenario.load(tmp_path / "results")
    with pytest.raises(ThzSyncError, match="'paper'"):
        Scenario.load("papper")


def test_all_mistakes_of_a_file_are_listed() -> None:
    text = (
        FLOOR
        + "[thz]\nsubbands = 0\nmax_power_w = 0\n[[faults]]\nrack = 1\n[[jobs]]\n"
        + "[reward]\ntime_weight = 1\n"
    )
    with pytest.raises(Problems) as caught:
        parse_scenario(text, "my.toml")
    places = [line.split(": ")[1] for line in caught.value.lines]
    assert places == ["thz.subbands", "thz.max_power_w", "reward", "jobs.0", "faults.0.kind"]


def test_all_mistakes_between_tables_are_listed() -> None:
    fault = '[[faults]]\nkind = "transceiver-down"\nstart_s = 0\nend_s = 1\nrack = {}\n'
    with pytest.raises(Problems) as caught:
        parse_scenario(FLOOR + fault.format(6) + fault.format(7), "my.toml")
    assert len(caught.value.lines) == 2


def test_a_file_that_never_ends_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.toml").symlink_to("/dev/zero")
    with pytest.raises(ThzSyncError, match=" 4194304 bytes"):
        Scenario.load(tmp_path / "x.toml")


def test_partitions_of_a_huge_floor_are_compared_at_once() -> None:
    floor = {"rings": 10**9, "slots_per_ring": 10**9, "inner_radius_m": 1e5, "racks_per_ring": 1}
    jobs = [{"name": n, "training": {"moe_stages": []}} for n in "ab"]
    with pytest.raises(ThzSyncError, match="ring 0, lane 0"):
        build_scenario({"floor": floor, "jobs": jobs}, "x")


@pytest.mark.parametrize("key", ["trace", "gains_file"])
def test_the_digest_follows_the_content_of_files_not_their_place(key: str, tmp_path: Path) -> None:
    def digest(file: Path) -> str:
        named = {key: str(file)}
        other = {"jobs": [named]} if key == "trace" else {"channel": named}
        return build_scenario({"floor": {"rings": 1, "slots_per_ring": 3}, **other}, "x").digest

    for name, content in (("a.csv", b"1"), ("b.csv", b"1"), ("c.csv", b"2")):
        (tmp_path / name).write_bytes(content)
    assert digest(tmp_path / "a.csv") == digest(tmp_path / "b.csv")
    assert digest(tmp_path / "a.csv") != digest(tmp_path / "c.csv")
    assert digest(tmp_path / "a.csv") != digest(tmp_path / "absent.csv")


def test_lists_of_lists_dump_to_toml_that_loads_equal() -> None:
    floor = {"kind": "table", "positions_m": [(0, 0), (3, 1), (1, 4.5), (9, 2)]}
    listed = Scenario.preset("tiny").with_({"floor": floor, "jobs.train.stages": [[0, 2], [3, 1]]})
    assert parse_scenario(listed.to_toml(), "dump") == listed
