"""Measured or ray-traced gains from a Parquet, CSV or NPZ file.

Columns (arrays in an NPZ): ``rack_a``, ``rack_b``, ``subband``, ``gain_db`` and, if gains change,
``time_s``: a row holds from that time until the next row of the same pair and subband. Several rows
of one pair, subband and time differ in the beams or in the angles at both racks.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from thzsync.arrays import NEVER_PS, AnyArray, BoolArray, FloatArray, IntArray, all_to_ps
from thzsync.channel.components import Antennas, Rows, both_directions, combined
from thzsync.elementary import ten_to
from thzsync.errors import ThzSyncError
from thzsync.jit import bare

COLUMNS: Final = ("rack_a", "rack_b", "subband", "gain_db")
BEAMS: Final = ("beam_a", "beam_b")
ANGLES: Final = ("angle_a_deg", "angle_b_deg")
MOST_BEAMS: Final = 65_536
MOST_ROWS: Final = 50_000_000
"""More would not fit beside a simulation; packed files can claim any number."""
_SUFFIXES: Final = (".parquet", ".csv", ".npz")
_ROW_BYTES: Final = 8 * (len(COLUMNS) + 1)


@dataclass(frozen=True, eq=False)
class RecordedGains:
    """Gains by (pair, subband), each with its own row of instants."""

    racks: int
    subbands: int
    directed: bool
    """Whether the two directions of a pair have rows of their own."""
    first_row: IntArray
    """Where the rows of (src * racks + dst) * subbands + subband begin (one more); undirected, of
    (low rack * racks + high rack)."""
    time_ps: IntArray
    """Since when a row holds, ascending within its pair and subband [ps]."""
    gain: FloatArray
    """Linear power gain of every row."""
    instants_ps: IntArray
    """All instants at which something may change, ascending [ps]."""

    def gains(self, src: IntArray, dst: IntArray, time_ps: int) -> FloatArray:
        """Gains at one instant [ps], by (link, subband)."""
        out = np.zeros((len(src), self.subbands))
        low, high = (src, dst) if self.directed else (np.minimum(src, dst), np.maximum(src, dst))
        _look_up(low, high, self.racks, time_ps, self.first_row, self.time_ps, self.gain, out)
        return out

    def base_gain(self, src: IntArray, dst: IntArray) -> FloatArray:
        """Gains at time 0: a file knows no other normal state."""
        return self.gains(src, dst, 0)

    def next_change_ps(self, time_ps: int) -> int:
        """First recorded instant after ``time_ps`` [ps]."""
        following = int(np.searchsorted(self.instants_ps, time_ps, side="right"))
        return int(self.instants_ps[following]) if following < len(self.instants_ps) else NEVER_PS


@bare
def _look_up(
    src: IntArray, dst: IntArray, racks: int, time_ps: int, first_row: IntArray,
    row_time_ps: IntArray, row_gain: FloatArray, out: FloatArray,
) -> None:  # fmt: skip
    for n in range(len(src)):
        if src[n] == dst[n]:
            continue
        for c in range(out.shape[1]):
            link = (src[n] * racks + dst[n]) * out.shape[1] + c
            row, end = first_row[link], first_row[link + 1]
            while end - row > 1:  # the last row that holds at time_ps lies in [row, end)
                middle = (row + end) // 2
                if row_time_ps[middle] <= time_ps:
                    row = middle
                else:
                    end = middle
            out[n, c] = row_gain[row]


def load_gains(
    path: Path, racks: int, subbands: int, antennas: Antennas | None = None
) -> RecordedGains:
    """Read and check a gains file; an error names the row and the remedy.

    ``antennas`` weight components by their angles; without, all directions count alike.
    """
    told = _Columns(path)
    rack_a, rack_b = (told.whole(name, racks, "racks") for name in ("rack_a", "rack_b"))
    subband = told.whole("subband", subbands, "subbands")
    gain_db, time_ps = told.decibels(), told.instants_ps()
    told.refuse(rack_a == rack_b, "links a rack to itself", "remove the row")
    low, high = np.minimum(rack_a, rack_b), np.maximum(rack_a, rack_b)
    at_low, at_high = told.ends(rack_a < rack_b)
    link = (low * racks + high) * subbands + subband
    order = np.lexsort((at_high, at_low, time_ps, link))
    rows = Rows(link, time_ps, at_low, at_high, gain_db).taken(order)
    same = rows.repeats(ends=True)
    # Both directions of a pair may be listed, since gains are reciprocal; but they must agree.
    clash = _at(order, same & (rows.gain_db != np.roll(rows.gain_db, 1)))
    second = f"gives {told.what} a second, different gain"
    told.refuse(clash, second, "keep one, for both directions")
    order, rows = order[~same], rows.taken(~same)
    begins = np.flatnonzero(~rows.repeats(ends=False))
    kept, directed = rows.taken(begins), told.per == ANGLES
    if directed:
        turned = (rack_a > rack_b)[order]
        mixed = rows.repeats(ends=False) & (turned != np.roll(turned, 1))
        told.refuse(_at(order, mixed), "turns its pair around", "list every component once")
        gains = combined(rows, begins, antennas)
        loud = _at(order[begins], np.maximum(*gains) > 1)
        told.refuse(loud, "and other components add up to more than 0 dB", "correct gain_db")
        kept, gain = both_directions(kept, gains, racks, subbands)
    else:
        best_db = np.maximum.reduceat(rows.gain_db, begins) if len(begins) else rows.gain_db
        gain = ten_to(best_db / 10)
    first_row = np.searchsorted(kept.link, np.arange(racks**2 * subbands + 1)).astype(np.int64)
    _refuse_missing(path, racks, subbands, first_row, kept.time_ps)
    instants_ps = np.unique(kept.time_ps)
    return RecordedGains(racks, subbands, directed, first_row, kept.time_ps, gain, instants_ps)


def _read(path: Path) -> dict[str, AnyArray]:
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        raise ThzSyncError(
            f"{path}: unknown suffix {path.suffix!r} of a gains file; use {', '.join(_SUFFIXES)}"
        )
    if not path.is_file():
        raise ThzSyncError(f"{path}: no such file; give the path of a gains file")
    try:
        columns = _read_npz(path) if suffix == ".npz" else _read_table(path, suffix)
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ThzSyncError(
            f"{path}: cannot be read as {suffix[1:].upper()} ({reason}); write it again"
        ) from error
    missing = [name for name in COLUMNS if name not in columns]
    if missing:
        raise ThzSyncError(
            f"{path}: column {', '.join(missing)} is missing (found {', '.join(columns) or 'none'})"
            f"; a gains file needs {', '.join(COLUMNS)} and may have time_s"
        )
    for ends in (BEAMS, ANGLES):
        if len(columns.keys() & set(ends)) == 1:
            raise ThzSyncError(f"{path}: give both of {' and '.join(ends)}, or neither")
    if {BEAMS[0], ANGLES[0]} <= columns.keys():
        raise ThzSyncError(f"{path}: has beams and angles; give either {BEAMS[0]} or {ANGLES[0]}")
    lengths = {name: values.shape for name, values in columns.items()}
    if any(len(shape) != 1 for shape in lengths.values()) or len(set(lengths.values())) > 1:
        raise ThzSyncError(f"{path}: the arrays must be vectors of one length; found {lengths}")
    return columns


def _read_npz(path: Path) -> dict[str, AnyArray]:
    from zipfile import ZipFile

    with ZipFile(path) as archive:
        _check_rows(sum(entry.file_size for entry in archive.infolist()) // _ROW_BYTES)
    with np.load(path, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}


def _read_table(path: Path, suffix: str) -> dict[str, AnyArray]:
    import polars as pl

    if suffix == ".parquet":
        try:
            _check_rows(pl.scan_parquet(path).select(pl.len()).collect().item())
            frame = pl.read_parquet(path)
        except pl.exceptions.PanicException as error:  # no Exception, as if it could not happen
            raise ValueError(error) from None
    else:
        _check_rows(path.stat().st_size // _ROW_BYTES)
        frame = pl.read_csv(path)
    return {name: frame[name].to_numpy() for name in frame.columns}


def _check_rows(rows: int) -> None:
    if rows > MOST_ROWS:
        raise ValueError(f"it would unpack to {rows} rows, and {MOST_ROWS} are the most")


class _Columns:
    """Columns of a gains file, checked when read."""

    def __init__(self, path: Path) -> None:
        self.path, self.columns = path, _read(path)

    def _numbers(self, name: str) -> FloatArray:
        """A column as floats; refuses text that is no number. Missing values become NaN."""
        values = self.columns[name]
        if values.dtype.kind in "biuf":
            return values.astype(np.float64)
        for row, value in enumerate(values, start=1):
            try:
                float(value)
            except (OverflowError, TypeError, ValueError):
                raise ThzSyncError(
                    f"{self.path}: row {row} has {name} = {value!r}, which is no number; "
                    "write a number"
                ) from None
        return values.astype(np.float64)

    def whole(self, name: str, count: int, noun: str) -> IntArray:
        """A column of whole numbers below a count."""
        values = self._numbers(name)
        bad = ~((values >= 0) & (values < count) & (values == np.floor(values)))
        self.refuse(bad, f"has {name} = {{:g}}", f"{noun} here are 0..{count - 1}", values)
        return values.astype(np.int64)

    @property
    def per(self) -> tuple[str, ...]:
        """The columns in which rows of one pair, subband and time differ."""
        return next((ends for ends in (BEAMS, ANGLES) if ends[0] in self.columns), ())

    @property
    def what(self) -> str:
        """What a row is about."""
        return ", ".join(("a pair", "subband", "time", *self.per))

    def ends(self, forward: BoolArray) -> tuple[FloatArray, FloatArray]:
        """Beams or angles at the racks of lower and higher number; 0 where the file has neither.

        ``forward`` marks the rows whose rack_a has the lower number.
        """
        if not self.per:
            none = np.broadcast_to(0.0, len(forward))
            return none, none
        a, b = (self._end(name) for name in self.per)
        return np.where(forward, a, b), np.where(forward, b, a)

    def _end(self, name: str) -> FloatArray:
        if self.per == BEAMS:
            return self.whole(name, MOST_BEAMS, "beams").astype(np.float64)
        angle_deg = self._numbers(name)
        bad = ~(np.abs(angle_deg) <= 360)
        self.refuse(bad, f"has {name} = {{:g}}", "give degrees from -360 to 360", angle_deg)
        return angle_deg

    def decibels(self) -> FloatArray:
        """Gains [dB]."""
        gain_db = self._numbers("gain_db")
        self.refuse(np.isnan(gain_db), "has no gain_db (NaN)", "give it, or -inf for no link")
        remedy = "a channel cannot amplify: write path loss with a minus sign"
        self.refuse(gain_db > 0, "has gain_db = {:g}, above 0 dB", remedy, gain_db)
        return gain_db

    def instants_ps(self) -> IntArray:
        """Since when gains hold [ps]; 0 where the file does not say."""
        if "time_s" not in self.columns:
            return np.zeros(len(self.columns["gain_db"]), dtype=np.int64)
        time_s = self._numbers("time_s")
        bad = ~(np.isfinite(time_s) & (np.abs(time_s) < 1e6))
        self.refuse(bad, "has no usable time_s", "give seconds below 1e6")
        return all_to_ps(time_s)

    def refuse(
        self, bad: BoolArray, what: str, remedy: str, values: FloatArray | None = None
    ) -> None:
        """Refuse the first bad row; ``what`` has a place for its value."""
        if bad.any():
            row = int(np.argmax(bad))
            found = what if values is None else what.format(values[row])
            raise ThzSyncError(f"{self.path}: row {row + 1} {found}; {remedy}")


def _at(row: IntArray, bad: BoolArray) -> BoolArray:
    """Marks of some rows, as marks of the whole file up to its last bad row."""
    marks = np.zeros(row[bad].max(initial=-1) + 1, dtype=np.bool_)
    marks[row[bad]] = True
    return marks


def _refuse_missing(
    path: Path, racks: int, subbands: int, first_row: IntArray, time_ps: IntArray
) -> None:
    low, high = np.triu_indices(racks, k=1)
    link = ((low * racks + high)[:, None] * subbands + np.arange(subbands)).ravel()
    begin = first_row[link]
    absent = begin == first_row[link + 1]
    late = ~absent & (time_ps[np.where(absent, 0, begin)] > 0) if len(time_ps) else absent
    for bad, what in ((absent, "no gain"), (late, "no gain at time 0 s")):
        if bad.any():
            pair, c = divmod(int(np.argmax(bad)), subbands)
            raise ThzSyncError(
                f"{path}: {what} for racks {low[pair]} and {high[pair]}, subband {c} "
                f"({int(bad.sum())} such links); every pair of racks 0..{racks - 1} needs a row "
                f"per subband 0..{subbands - 1} from time 0 on"
            )
