"""Gains given by the user: three formats, and every way to get them wrong."""

from __future__ import annotations

import tracemalloc
import zipfile

import numpy as np
import polars as pl
import pytest

from thzsync.channel import ChannelModel, file
from thzsync.channel.propagation import NEVER_PS
from thzsync.errors import ThzSyncError
from thzsync.scenario import Channel, Floor, Thz
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
