"""Tables of earlier formats as those of today.

Format 2 (versions 0.2 and 0.3) had two carriers: a chunk was on THz or on fibre. Before energy at
the wall plug was recorded, it was the transmission energy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thzsync.records.schema import polars_schema

if TYPE_CHECKING:
    import polars as pl

_STATIC: Final = [f"{part}_static_j" for part in ("fibre", "thz", "further", "rack")]
_ADDED: Final[dict[str, float | str]] = {
    "further_energy_j": 0.0,
    "further_bytes": 0,
    "noise_w": 0.0,
    "step": "",
    "error_rate": 0.0,
    **dict.fromkeys(("static_j", "static_energy_j", *_STATIC), 0.0),
}
"""Columns that were added, as they are without further carriers and static power."""
_COPIED: Final = {
    **{f"{part}_wall_j": f"{part}_energy_j" for part in ("optical", "thz", "further")},
    "wall_energy_j": "energy_j",
    "total_energy_j": "energy_j",
}
"""Columns that were added, and the column that has their values."""


def upgraded(table: str, frame: pl.DataFrame, noise_w: float) -> pl.DataFrame:
    """A table of an earlier format with the columns of today; any other one as it is.

    Until beams could disturb each other, the noise was the same for all transmissions [W].
    """
    import polars as pl

    now = polars_schema(table)
    if table == "chunks" and "thz" in frame.columns:
        frame = frame.rename({"thz": "carrier"})
        frame = frame.with_columns(pl.col("decided", "carrier").cast(pl.Int8))
    whole = filled(table, frame, noise_w)
    return whole.select(list(now)) if set(whole.columns) == set(now) else frame


def filled(table: str, frame: pl.DataFrame, noise_w: float = 0.0) -> pl.DataFrame:
    """A table with the columns that have been added since it was written."""
    import polars as pl

    added = _ADDED | {"noise_w": noise_w}
    for name, kind in polars_schema(table).items():
        if name in frame.columns:
            continue
        if name in added:
            frame = frame.with_columns(pl.lit(added[name], kind).alias(name))
        elif _COPIED.get(name) in frame.columns:
            frame = frame.with_columns(pl.col(_COPIED[name]).alias(name))
    return frame
