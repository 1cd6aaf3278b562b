"""Tables of format 2, which versions 0.2 and 0.3 wrote, as those of format 3.

Until then there were two carriers: a chunk was on THz or on fibre.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thzsync.records.schema import polars_schema

if TYPE_CHECKING:
    import polars as pl

_ADDED: Final[dict[str, float | str]] = {
    "further_energy_j": 0.0,
    "further_bytes": 0,
    "noise_w": 0.0,
    "step": "",
    "error_rate": 0.0,
}
"""Columns of format 3 without further carriers and steps; noise was the same for all."""


def upgraded(table: str, frame: pl.DataFrame, noise_w: float) -> pl.DataFrame:
    """A table of format 2 with the columns of format 3; any other one as it is."""
    import polars as pl

    now = polars_schema(table)
    then = {name: kind for name, kind in now.items() if name not in _ADDED}
    if table == "chunks":
        del then["carrier"]
        then |= {"decided": pl.Boolean(), "thz": pl.Boolean()}
    if then == now or dict(frame.schema) != then:
        return frame
    values = _ADDED | {"noise_w": noise_w}
    added = [pl.lit(values[name], kind).alias(name) for name, kind in now.items() if name in _ADDED]
    whole = frame.rename({"thz": "carrier"}, strict=False).with_columns(added)
    return whole.select(pl.col(name).cast(kind) for name, kind in now.items())
