"""Gains given by the user: three formats, and every way to get them wrong."""

from __future__ import annotations

import tracemalloc
import zipfile

import numpy as np
import polars as pl
import pytest

from thzsync.channel import ChannelModel, file
from thzsync.channel.components import Antennas
from thzsync.channel.file import load_gains
from thzsync.channel.propagation import NEVER_PS
from thzsync.errors import ThzSyncError
from thzsync.scenario import Blockage, Channel, Floor, Thz
from thzsync.scenario.antennas import Gaussian
from thzsync.scenario.files import build_scenario
from thzsync.simulation import simulate
from thzsync.streams import Streams
from thzsync.topology import Topology

RACKS, SUBBANDS = 3, 2
TOPOLOGY = Topology(Floor(rings=1, slots_per_ring=RACKS))
THZ = Thz(subbands=SUBBANDS)


def rows(**changed):
    """Every pair and subband once, gain -(90 + 10 a + b + c/10) dB."""
    low, high = np.triu_indices(RACKS, k=1)
    a, b, c = np.repeat(low, SUBBANDS), np.repeat(high, SUBBANDS), np.tile([0, 1], len(low))
    table = {"rack_a": a, "rack_b": b, "subband": c, "gain_db": -(90 + 10 * a + b + c / 10)}
    return {**table, **changed}


def save(table, path):
    if path.suffix == ".npz":
        np.savez(path, **table)
    elif path.suffix == ".csv":
        pl.DataFrame(table).write_csv(path)
    else:
        pl.DataFrame(table).write_parquet(path)
    return path


def load(path):
    return ChannelModel.build(Channel(gains_file=str(path)), THZ, TOPOLOGY, Streams(0))


@pytest.fixture(params=["gains.csv", "gains.parquet", "gains.npz"])
def path(request, tmp_path):
    return tmp_path / request.param


def test_the_file_replaces_the_model_in_both_directions(path):
    model = load(save(rows(), path))
    matrix = model.gain_matrix(np.arange(RACKS), 10**12)
    assert 10 * np.log10(matrix[1, 2, 1]) == pytest.approx(-(90 + 10 + 2 + 0.1))
    np.testing.assert_array_equal(matrix, matrix.transpose(1, 0, 2))
    assert (matrix[range(RACKS), range(RACKS)] == 0).all()
    assert model.next_change_ps(0) == NEVER_PS


def test_a_row_holds_until_the_next_one_of_its_link(path):
    table = rows(time_s=np.zeros(6))
    later = [(0, 1, 0, -50.0, 0.5), (1, 0, 0, -60.0, 0.25)]
    table = {
        name: np.append(column, [row[k] for row in later])
        for k, (name, column) in enumerate(table.items())
    }
    model = load(save(table, path))
    src, dst = np.array([0, 0]), np.array([1, 2])

    def first_link_db(time_ps):
        return 10 * np.log10(model.gains(src, dst, time_ps)[0, 0])

    assert [first_link_db(t) for t in (0, 249 * 10**9, 250 * 10**9, 500 * 10**9, 10**13)] == [
        pytest.approx(v) for v in (-91, -91, -60, -50, -50)
    ]
    np.testing.assert_array_equal(model.gains(src, dst, 0)[1], model.gains(src, dst, 10**13)[1])
    assert model.next_change_ps(0) == 250 * 10**9
    assert model.next_change_ps(250 * 10**9) == 500 * 10**9
    assert model.next_change_ps(500 * 10**9) == NEVER_PS
    np.testing.assert_array_equal(model.base_gain(src, dst), model.gains(src, dst, 0))


def test_both_directions_may_be_listed_when_they_agree(path):
    table = rows()
    mirrored = {**table, "rack_a": table["rack_b"], "rack_b": table["rack_a"]}
    both = {name: np.concatenate((table[name], mirrored[name])) for name in table}
    np.testing.assert_array_equal(
        load(save(both, path)).gain_matrix(np.arange(3), 0),
        load(save(table, path)).gain_matrix(np.arange(3), 0),
    )
    both["gain_db"][7] -= 1
    with pytest.raises(ThzSyncError, match=r"row [28] "):
        load(save(both, path))


def test_minus_infinity_is_no_link(path):
    table = rows()
    table["gain_db"][0] = -np.inf
    assert load(save(table, path)).gains(np.array([0]), np.array([1]), 0)[0, 0] == 0.0


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("gain_db", np.nan, r"row 3 .*gain_db .*NaN"),
        ("gain_db", 3.0, "row 3 .*gain_db = 3, .*0 dB"),
        ("gain_db", np.inf, "row 3 .*gain_db = inf, .*0 dB"),
        ("rack_a", 3, r"row 3 .*rack_a = 3; .*0\.\.2"),
        ("rack_b", -1, r"row 3 .*rack_b = -1; .*0\.\.2"),
        ("rack_b", 0, "row 3 "),
        ("rack_a", 0.5, r"row 3 .*rack_a = 0\.5"),
        ("subband", 2, r"row 3 .*subband = 2; .*0\.\.1"),
    ],
)
def test_a_bad_value_is_refused_with_its_row(path, column, value, message):
    table = rows()
    table[column] = table[column].astype(float)
    table[column][2] = value
    with pytest.raises(ThzSyncError, match=message) as caught:
        load(save(table, path))
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_a_missing_link_is_refused_by_name(path):
    table = {name: np.delete(column, 3) for name, column in rows().items()}
    with pytest.raises(ThzSyncError, match="0 and 2, subband 1"):
        load(save(table, path))


def test_a_link_without_a_beginning_is_refused(path):
    table = rows(time_s=np.array([0, 0, 0, 0, 1.0, 0]))
    with pytest.raises(ThzSyncError, match=r"0 s .*1 and 2, subband 0"):
        load(save(table, path))


def test_missing_columns_are_named(path):
    table = rows()
    del table["subband"]
    with pytest.raises(ThzSyncError, match="subband"):
        load(save(table, path))


def test_an_empty_file_lacks_every_link(path):
    table = {name: column[:0] for name, column in rows().items()}
    with pytest.raises(ThzSyncError, match=path.name):
        load(save(table, path))


def test_text_where_a_number_belongs_is_refused_with_its_row(tmp_path):
    table = rows()
    table["gain_db"] = ["-90", "-90", "loud", "-90", "-90", "-90"]
    with pytest.raises(ThzSyncError, match=r"row 3 .*gain_db = 'loud'"):
        load(save(table, tmp_path / "gains.csv"))


def test_an_unknown_suffix_an_absent_and_a_broken_file_are_refused(tmp_path):
    with pytest.raises(ThzSyncError, match=r"'\.xlsx'.*\.parquet, \.csv, \.npz"):
        load(tmp_path / "gains.xlsx")
    with pytest.raises(ThzSyncError, match=r"absent\.csv"):
        load(tmp_path / "absent.csv")
    for suffix in ("parquet", "npz"):
        broken = tmp_path / f"broken.{suffix}"
        broken.write_bytes(b"nothing of the kind")
        with pytest.raises(ThzSyncError, match=broken.name):
            load(broken)


def test_what_polars_did_not_expect_is_refused_as_well(tmp_path, monkeypatch):
    def panic(_):
        raise pl.exceptions.PanicException("assertion failed: range.end <= self.size")

    path = save(rows(), tmp_path / "gains.parquet")
    monkeypatch.setattr(pl, "read_parquet", panic)
    with pytest.raises(ThzSyncError, match=r"gains\.parquet.*range\.end <= self\.size"):
        load(path)


def test_arrays_of_unequal_length_are_refused(tmp_path):
    table = rows()
    table["gain_db"] = table["gain_db"][:-1]
    with pytest.raises(ThzSyncError, match=r"gains\.npz"):
        load(save(table, tmp_path / "gains.npz"))


def test_the_look_up_is_the_same_uncompiled(tmp_path, monkeypatch):
    table = {name: np.tile(column, 3) for name, column in rows().items()}
    table["time_s"] = np.repeat([0.0, 1.0, 2.0], 6)
    table["gain_db"] = table["gain_db"] - 5 * table["time_s"]
    model = load(save(table, tmp_path / "gains.npz"))
    times_ps = (0, 10**12 - 1, 10**12, 3 * 10**12)
    compiled = [model.gain_matrix(np.arange(RACKS), t) for t in times_ps]
    monkeypatch.setattr(file, "_look_up", file._look_up.py_func)
    np.testing.assert_array_equal(
        compiled, [model.gain_matrix(np.arange(RACKS), t) for t in times_ps]
    )


@pytest.mark.parametrize("name", ["gains.parquet", "gains.npz"])
def test_a_file_that_would_unpack_to_too_many_rows_is_refused_unread(name, tmp_path, monkeypatch):
    monkeypatch.setattr(file, "MOST_ROWS", 4)
    with pytest.raises(ThzSyncError, match=rf"{name}: .* \d+ rows.* 4 "):
        load(save(rows(), tmp_path / name))


def test_a_packed_file_of_zeros_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(file, "MOST_ROWS", 5_000_000)
    path = tmp_path / "gains.npz"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("rack_a.npy", "w", force_zip64=True) as entry,
    ):
        for _ in range(210):
            entry.write(bytes(2**20))
    tracemalloc.start()
    with pytest.raises(ThzSyncError, match=f" {file.MOST_ROWS} "):
        load(path)
    assert tracemalloc.get_traced_memory()[1] < 2**20 * 50
    tracemalloc.stop()


def test_dead_links_give_no_warning_and_are_carried_by_fibre(tmp_path):
    low, high = np.triu_indices(6, k=1)
    pairs = {"rack_a": np.repeat(low, 4), "rack_b": np.repeat(high, 4)}
    dead = pairs | {"subband": np.tile(range(4), 15), "gain_db": np.full(60, -np.inf)}
    gains = str(save(dead, tmp_path / "gains.csv"))
    scenario = build_scenario({"preset": "tiny", "channel": {"gains_file": gains}}, "test")
    run = simulate(scenario, "fixed-ratio", 1)  # pytest turns RuntimeWarnings into errors
    assert run.events["thz_bytes"].sum() == 0
    assert run.events["fallback_chunks"].sum() > 0


# Beam pairs and multipath components. One pair, one subband unless told otherwise.

ONE = {"rack_a": 0, "rack_b": 1, "subband": 0}


def listed(path, columns, *values, **more):
    """A file of two racks with some rows."""
    table = {name: np.full(len(values), value) for name, value in (ONE | more).items()}
    table |= {
        name: np.array(column)
        for name, column in zip(columns, zip(*values, strict=True), strict=True)
    }
    return save(table, path)


class Steps:
    """A pattern for hand calculation: 1 dB per degree and 10 dBi of gain, 30 dB at most."""

    def loss_db(self, angle_deg, gain_dbi):
        return np.minimum(np.abs(angle_deg) * gain_dbi / 10, 30.0)


def gain_db(gains, src, dst, time_ps=0, subband=0):
    return 10 * np.log10(gains.gains(np.array([src]), np.array([dst]), time_ps)[0, subband])


BEAMS = ("beam_a", "beam_b", "gain_db")
ANGLES = ("angle_a_deg", "angle_b_deg", "gain_db")


def test_a_link_uses_its_best_beam_pair_at_every_time_and_subband(path):
    columns = ("subband", "time_s", "beam_a", "beam_b", "gain_db")
    values = [
        (0, 0.0, 0, 0, -95.0), (0, 0.0, 0, 7, -88.0), (0, 0.0, 3, 0, -91.0),
        (0, 1.0, 0, 0, -93.0), (0, 1.0, 3, 0, -99.0),
        (1, 0.0, 0, 0, -90.0), (1, 0.0, 3, 7, -np.inf),
    ]  # fmt: skip
    gains = load_gains(listed(path, columns, *values), 2, 2)
    for src, dst in ((0, 1), (1, 0)):
        found = [gain_db(gains, src, dst, t, c) for t, c in ((0, 0), (10**12, 0), (0, 1))]
        np.testing.assert_allclose(found, [-88, -93, -90])
    assert gains.next_change_ps(0) == 10**12


def test_a_beam_pair_may_be_listed_from_either_rack_but_once(path):
    """Beam 2 of rack 0 with beam 5 of rack 1 is one pair; 5 of rack 0 with 2 of rack 1 another."""
    columns = ("rack_a", "rack_b", *BEAMS)
    forward, same, other = (0, 1, 2, 5, -90.0), (1, 0, 5, 2, -90.0), (1, 0, 2, 5, -80.0)
    gains = load_gains(listed(path, columns, forward, same, other), 2, 1)
    assert gain_db(gains, 0, 1) == pytest.approx(-80)
    with pytest.raises(ThzSyncError, match=r"row 2 .*beam_a"):
        load_gains(listed(path, columns, forward, (1, 0, 5, 2, -91.0)), 2, 1)


def test_components_are_weighed_by_the_pattern_off_the_strongest_one(path):
    """Equal antennas: the second component is 10 and 20 degrees off, the third 8 and 5."""
    values = [(100.0, 30.0, -90.0), (110.0, 50.0, -85.0), (118.0, 45.0, -87.0)]
    antennas = Antennas(Steps(), 10.0, 10.0)
    gains = load_gains(listed(path, ANGLES, *values), 2, 1, antennas)
    received_db = [-90 - 10 - 20, -85, -87 - 8 - 5]
    expected = 10 * np.log10(sum(10 ** (db / 10) for db in received_db))
    assert gain_db(gains, 0, 1) == pytest.approx(expected)
    assert gain_db(gains, 1, 0) == pytest.approx(expected)


def test_components_count_by_the_antenna_at_each_end(path):
    """Rack a sends isotropically and receives with 20 dBi; angles are 10 and 3 degrees off."""
    values = [(0.0, 0.0, -80.0), (10.0, 3.0, -90.0)]
    gains = load_gains(listed(path, ANGLES, *values), 2, 1, Antennas(Steps(), 0.0, 20.0))
    for src, dst, loss_db in ((0, 1, 2 * 3), (1, 0, 2 * 10)):
        expected = 10 * np.log10(1e-8 + 10 ** ((-90 - loss_db) / 10))
        assert gain_db(gains, src, dst) == pytest.approx(expected)


def test_angles_go_round_and_have_no_origin(path):
    """From 350 to 5 degrees it is 15, whatever direction counts as 0."""
    antennas = Antennas(Steps(), 10.0, 10.0)
    found = []
    for turn in (0.0, 33.0, -200.0):
        values = [((350.0 + turn) % 360, 0.0, -80.0), ((5.0 + turn) % 360, 0.0, -81.0)]
        found.append(gain_db(load_gains(listed(path, ANGLES, *values), 2, 1, antennas), 0, 1))
    assert found == [pytest.approx(10 * np.log10(1e-8 + 10 ** (-(81 + 15) / 10)))] * 3


def test_components_of_all_angles_add_up_without_a_pattern(path):
    values = [(0.0, 0.0, -80.0), (90.0, 3.0, -80.0), (180.0, 20.0, -np.inf)]
    gains = load_gains(listed(path, ANGLES, *values), 2, 1)
    assert gain_db(gains, 0, 1) == pytest.approx(-80 + 10 * np.log10(2))


def test_components_may_be_listed_from_the_other_rack(path):
    """Turning a pair around exchanges its angles, not its gains."""
    values = [(100.0, 30.0, -90.0), (110.0, 50.0, -85.0)]
    turned = [(b, a, gain) for a, b, gain in values]
    antennas = Antennas(Steps(), 5.0, 10.0)
    one = load_gains(listed(path, ANGLES, *values), 2, 1, antennas)
    other = load_gains(listed(path, ANGLES, *turned, rack_a=1, rack_b=0), 2, 1, antennas)
    for src, dst in ((0, 1), (1, 0)):
        assert gain_db(one, src, dst) == gain_db(other, src, dst)
    assert gain_db(one, 0, 1) != gain_db(one, 1, 0)


def test_several_pairs_times_and_subbands_of_components_keep_apart(path):
    """Against a loop over all rows."""
    rng, racks, subbands = np.random.default_rng(8), 4, 2
    rows = [
        (a, b, c, t, rng.uniform(-180, 180), rng.uniform(0, 360), rng.uniform(-110, -80))
        for a in range(racks) for b in range(a + 1, racks) for c in range(subbands)
        for t in (0.0, 0.5) for _ in range(rng.integers(1, 5))
    ]  # fmt: skip
    columns = ("rack_a", "rack_b", "subband", "time_s", *ANGLES)
    shuffled = [rows[k] for k in rng.permutation(len(rows))]
    antenna = Gaussian(side_lobe_db=20)
    gains = load_gains(listed(path, columns, *shuffled), racks, subbands, Antennas(antenna, 10, 25))
    for a, b, c, t in {row[:4] for row in rows}:
        own = [row[4:] for row in rows if row[:4] == (a, b, c, t)]
        best = max(own, key=lambda one: one[2])
        for src, dst, dbi in ((a, b, (10, 25)), (b, a, (25, 10))):
            power = 0.0
            for one in own:
                off = [abs((one[k] - best[k] + 180) % 360 - 180) for k in (0, 1)]
                loss = sum(float(antenna.loss_db(o, g)) for o, g in zip(off, dbi, strict=True))
                power += 10 ** ((one[2] - loss) / 10)
            found = gain_db(gains, src, dst, int(t * 1e12), c)
            assert found == pytest.approx(10 * np.log10(power))


@pytest.mark.parametrize(
    ("columns", "values", "message"),
    [
        (BEAMS, [(0, 1.5, -90.0)], r"row 1 .*beam_b = 1\.5"),
        (BEAMS, [(0, 0, -90.0), (-1, 0, -90.0)], r"row 2 .*beam_a = -1"),
        (BEAMS[::2], [(0, -90.0)], "beam_a and beam_b"),
        (ANGLES, [(0.0, 400.0, -90.0)], r"row 1 .*angle_b_deg = 400"),
        (ANGLES, [(0.0, 0.0, -90.0), (np.nan, 1.0, -90.0)], r"row 2 .*angle_a_deg = nan"),
        (ANGLES[1:], [(0.0, -90.0)], "angle_a_deg and angle_b_deg"),
        ((*BEAMS[:2], *ANGLES), [(0, 0, 0.0, 0.0, -90.0)], "beam_a .*angle_a_deg"),
        (ANGLES, [(0.0, 0.0, -1.0), (0.0, 1.0, -1.0), (1.0, 0.0, -9.0)], r"row [12] .*0 dB"),
        (ANGLES, [(0.0, 0.0, -80.0), (0.0, 0.0, -81.0)], r"row [12] .*angle_a_deg"),
        (
            ("rack_a", "rack_b", *ANGLES),
            [(0, 1, 10.0, 20.0, -90.0), (1, 0, 20.001, 10.0, -90.0)],
            "row [12] .*every component once",
        ),
    ],
)
def test_wrong_beams_and_angles_are_refused_with_their_row(path, columns, values, message):
    with pytest.raises(ThzSyncError, match=message) as caught:
        load_gains(listed(path, columns, *values), 2, 1)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_an_empty_file_of_components_lacks_every_link(path):
    table = {name: np.zeros(0) for name in ("rack_a", "rack_b", "subband", *ANGLES)}
    with pytest.raises(ThzSyncError, match="0 and 1, subband 0"):
        load_gains(save(table, path), 2, 1)


# Fluctuation and blockage on top.


def test_the_gains_of_a_file_vary_exactly_as_those_of_the_model(tmp_path):
    """The same realisation; so its statistics are the model's."""
    topology, thz = Topology(Floor(rings=2, slots_per_ring=4)), Thz(subbands=2)
    low, high = np.triu_indices(topology.racks, k=1)
    table = {
        "rack_a": np.repeat(low, 2),
        "rack_b": np.repeat(high, 2),
        "subband": np.tile([0, 1], len(low)),
        "gain_db": -80 - 20 * np.random.default_rng(1).random(2 * len(low)),
    }
    path = save(table, tmp_path / "gains.parquet")
    keys = {"coherence_s": 5e-3, "blockage": Blockage(share=0.3, mean_duration_s=0.02)}
    given = keys | {"gains_file": str(path)}
    model, still, varied = (
        ChannelModel.build(Channel(**channel), thz, topology, Streams(4))
        for channel in (keys, given, given | {"vary_gains_file": True})
    )
    assert still.next_change_ps(0) == NEVER_PS
    racks, time_ps = np.arange(topology.racks), 0
    src, dst = np.nonzero(~np.eye(len(racks), dtype=bool))
    np.testing.assert_array_equal(varied.base_gain(src, dst), still.gains(src, dst, 0))
    for _ in range(20):
        ratio = varied.gains(src, dst, time_ps) / still.gains(src, dst, time_ps)
        expected = model.gains(src, dst, time_ps) / model.base_gain(src, dst)
        np.testing.assert_allclose(ratio, expected, rtol=1e-12)
        assert (varied.gains(racks, racks, time_ps) == 0).all()
        assert varied.next_change_ps(time_ps) == model.next_change_ps(time_ps)
        time_ps = varied.next_change_ps(time_ps)


def test_a_varied_file_announces_its_own_instants_too(tmp_path):
    table = rows(time_s=np.zeros(6))
    table = {name: np.append(column, column[0]) for name, column in table.items()}
    table["time_s"][-1] = 1e-4
    table["gain_db"][-1] = -70.0
    path = save(table, tmp_path / "gains.csv")
    channel = Channel(gains_file=str(path), vary_gains_file=True, coherence_s=1e-3)
    model = ChannelModel.build(channel, THZ, TOPOLOGY, Streams(0))
    assert model.next_change_ps(0) == 10**8
    assert model.next_change_ps(10**8) == 25 * 10**7
