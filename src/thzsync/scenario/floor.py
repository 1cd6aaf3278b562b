"""Where racks stand: rings, rows with aisles, a grid, or a table of coordinates."""

from __future__ import annotations

import csv
import io
import tomllib
from collections.abc import Sequence
from math import cos, pi, sin
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import Field, model_validator

from thzsync.errors import ThzSyncError
from thzsync.files import read_bounded
from thzsync.scenario.base import Count, Metres, Model, Real
from thzsync.scenario.kinds import kinds_of

SHORTEST_M: Final = 0.01
"""Least distance between racks; nearer ones would overlap [m]."""
MOST_RACKS: Final = 65_536
LARGEST_TABLE_BYTES: Final = 4 * 2**20


class FloorKind(Model):
    """What all floors have: groups of equally many racks, one after the other."""

    kind: str
    """Which floor this is."""

    @property
    def groups(self) -> int:
        """Groups of racks: rings, or rows."""
        raise NotImplementedError

    @property
    def lanes(self) -> int:
        """Racks of every group."""
        raise NotImplementedError

    @property
    def racks(self) -> int:
        """Racks on the whole floor."""
        return self.groups * self.lanes

    @property
    def noun(self) -> str:
        """What a group is called."""
        return "row"

    @property
    def places_m(self) -> list[tuple[float, float]]:
        """x and y of every rack [m]."""
        raise NotImplementedError


class Floor(FloorKind):
    """Racks on concentric rings (eq:rack_distance)."""

    kind: Literal["rings"] = "rings"
    """Which floor this is."""
    rings: Count
    """Number of rings S; ring s = 1..S has radius inner_radius_m + s * ring_spacing_m."""
    slots_per_ring: Count
    """Rack positions per ring; neighbouring slots are 360/slots_per_ring degrees apart."""
    racks_per_ring: Count | None = None
    """Racks per ring, on its first slots; all slots when absent."""
    inner_radius_m: Metres = 4.0
    """rho_0, the radius inside the first ring [m]."""
    ring_spacing_m: Metres = 2.0
    """Delta rho, the distance between neighbouring rings [m]."""

    @property
    def groups(self) -> int:
        """Number of rings."""
        return self.rings

    @property
    def noun(self) -> str:
        """What a group is called."""
        return "ring"

    @property
    def radii_m(self) -> list[float]:
        """Radius of every ring, rho_s = rho_0 + s * drho with s = 1..S [m]."""
        steps = range(1, self.rings + 1)
        return [self.inner_radius_m + s * self.ring_spacing_m for s in steps]

    @property
    def places_m(self) -> list[tuple[float, float]]:
        """x and y of every rack [m]."""
        angles = [2 * pi * lane / self.slots_per_ring for lane in range(self.lanes)]
        return [(r * cos(a), r * sin(a)) for r in self.radii_m for a in angles]

    @property
    def lanes(self) -> int:
        """Racks on each ring."""
        return self.slots_per_ring if self.racks_per_ring is None else self.racks_per_ring

    @model_validator(mode="after")
    def _fits(self) -> Floor:
        if self.lanes > self.slots_per_ring:
            raise ValueError(
                f"racks_per_ring is {self.lanes} but a ring has {self.slots_per_ring} slots; "
                f"use at most {self.slots_per_ring}"
            )
        if self.inner_radius_m + self.ring_spacing_m <= 0:
            raise ValueError("inner_radius_m + ring_spacing_m must be above 0 m")
        if self.rings > 1 and self.ring_spacing_m == 0:
            raise ValueError("ring_spacing_m must be above 0 m when there is more than one ring")
        if self.racks > 1 and self.nearest_m < SHORTEST_M:
            raise ValueError(
                f"neighbouring racks would stand {self.nearest_m:.2g} m apart; use larger radii or "
                f"fewer slots, so that it is {SHORTEST_M} m or more"
            )
        return self

    @property
    def nearest_m(self) -> float:
        """Distance of the two nearest racks; infinite for a single one [m]."""
        radius_m = self.inner_radius_m + self.ring_spacing_m
        around_m = 2 * radius_m * sin(pi / self.slots_per_ring)
        across_m = self.ring_spacing_m if self.rings > 1 else float("inf")
        return min(across_m, around_m if self.lanes > 1 else float("inf"))


class RowFloor(FloorKind):
    """Rows of racks; cold and hot aisles take turns between them."""

    kind: Literal["rows"] = "rows"
    """Which floor this is."""
    rows: Annotated[Count, Field(le=MOST_RACKS)]
    """Number of rows."""
    racks_per_row: Annotated[Count, Field(le=MOST_RACKS)]
    """Racks of every row."""
    rack_width_m: Annotated[Metres, Field(ge=SHORTEST_M)] = 0.6
    """Distance between neighbours of a row [m]."""
    rack_depth_m: Annotated[Metres, Field(ge=SHORTEST_M)] = 1.2
    """Depth of a rack [m]."""
    cold_aisle_m: Metres = 1.8
    """Width of the aisles between rows 0 and 1, 2 and 3, ... [m]."""
    hot_aisle_m: Metres = 1.2
    """Width of the aisles between rows 1 and 2, 3 and 4, ... [m]."""

    @property
    def groups(self) -> int:
        """Number of rows."""
        return self.rows

    @property
    def lanes(self) -> int:
        """Racks of every row."""
        return self.racks_per_row

    @property
    def places_m(self) -> list[tuple[float, float]]:
        """x and y of every rack [m]."""
        places = []
        y_m = 0.0
        for row in range(self.rows):
            places += [(lane * self.rack_width_m, y_m) for lane in range(self.racks_per_row)]
            y_m += self.rack_depth_m + (self.hot_aisle_m if row % 2 else self.cold_aisle_m)
        return places


class GridFloor(FloorKind):
    """Racks on a square grid."""

    kind: Literal["grid"] = "grid"
    """Which floor this is."""
    rows: Annotated[Count, Field(le=MOST_RACKS)]
    """Number of rows."""
    columns: Annotated[Count, Field(le=MOST_RACKS)]
    """Racks of every row."""
    spacing_m: Annotated[Metres, Field(ge=SHORTEST_M)] = 2.0
    """Distance between neighbours [m]."""

    @property
    def groups(self) -> int:
        """Number of rows."""
        return self.rows

    @property
    def lanes(self) -> int:
        """Racks of every row."""
        return self.columns

    @property
    def places_m(self) -> list[tuple[float, float]]:
        """x and y of every rack [m]."""
        step = self.spacing_m
        return [(x * step, y * step) for y in range(self.rows) for x in range(self.columns)]


Coordinate = Annotated[Real, Field(ge=-1e5, le=1e5)]


class TableFloor(FloorKind):
    """Racks at listed places."""

    kind: Literal["table"] = "table"
    """Which floor this is."""
    positions_m: Annotated[
        tuple[tuple[Coordinate, Coordinate], ...], Field(min_length=1, max_length=MOST_RACKS)
    ]
    """x and y of every rack [m]. Instead of it, `file` names a CSV file with the columns x_m and
    y_m, or a TOML file with this key; it is read at once."""
    racks_per_row: Count | None = None
    """Racks of every group (of a pipeline stage, for instance), in order; all when absent."""

    @property
    def groups(self) -> int:
        """Number of groups."""
        return len(self.positions_m) // self.lanes

    @property
    def lanes(self) -> int:
        """Racks of every group."""
        return len(self.positions_m) if self.racks_per_row is None else self.racks_per_row

    @property
    def places_m(self) -> list[tuple[float, float]]:
        """x and y of every rack [m]."""
        return list(self.positions_m)

    @model_validator(mode="before")
    @classmethod
    def _read(cls, given: Any) -> Any:
        if not isinstance(given, dict) or "file" not in given:
            return given
        if "positions_m" in given:
            raise ValueError("give either file or positions_m, not both")
        others = {key: value for key, value in given.items() if key != "file"}
        return {**others, "positions_m": _positions(given["file"])}

    @model_validator(mode="after")
    def _fits(self) -> TableFloor:
        if len(self.positions_m) % self.lanes:
            raise ValueError(
                f"racks_per_row is {self.lanes}; it must divide {len(self.positions_m)} racks"
            )
        if len(self.positions_m) > 1:
            refuse_too_near(self.positions_m)
        return self


def refuse_too_near(positions_m: Sequence[tuple[float, float]]) -> None:
    """Refuse racks that would overlap."""
    a, b, apart_m = _nearest(positions_m)
    if apart_m < SHORTEST_M:
        raise ValueError(
            f"racks {a} and {b} stand {apart_m:.2g} m apart; use {SHORTEST_M} m or more"
        )


def _nearest(positions_m: Sequence[tuple[float, float]]) -> tuple[int, int, float]:
    """The two racks that stand nearest to each other, and their distance [m]."""
    from scipy.spatial import KDTree

    tree: Any = KDTree(positions_m)
    apart_m, neighbours = tree.query(positions_m, k=2)
    rack = int(apart_m[:, 1].argmin())
    other = next(int(k) for k in neighbours[rack] if k != rack)
    return min(rack, other), max(rack, other), float(apart_m[rack, 1])


def _positions(name: Any) -> Any:
    """The coordinates of a CSV or TOML file."""
    file = Path(str(name))
    try:
        text = read_bounded(file, LARGEST_TABLE_BYTES, "a table of racks").decode("utf-8-sig")
        if file.suffix == ".toml":
            return tomllib.loads(text)["positions_m"]
        rows = list(csv.DictReader(io.StringIO(text), skipinitialspace=True))
        return [(float(row["x_m"]), float(row["y_m"])) for row in rows]
    except ThzSyncError as error:
        raise ValueError(str(error)) from None
    except OSError as error:
        raise ValueError(f"file: {name} cannot be read ({error.strerror})") from None
    except (KeyError, TypeError, ValueError, RecursionError, csv.Error):
        raise ValueError(
            f"file: {name} is no table of racks; write a CSV file with the columns x_m and y_m, "
            "or a TOML file with positions_m = [[x, y], ...]"
        ) from None


FLOORS: Final = kinds_of(
    "floor", "thzsync.floors", FloorKind, lambda: (Floor, RowFloor, GridFloor, TableFloor)
)
register_floor = FLOORS.register
