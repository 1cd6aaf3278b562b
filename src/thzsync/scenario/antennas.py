"""Antennas: how much weaker they send and receive beside their axis, and what pointing costs."""

from __future__ import annotations

import csv
import io
import math
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal

from pydantic import Field, model_validator

from thzsync.errors import ThzSyncError
from thzsync.files import read_bounded
from thzsync.scenario.base import Loss, Model, Real, Seconds
from thzsync.scenario.kinds import Kinds, kinds_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from thzsync.arrays import FloatArray

ENTRY_POINTS: Final = "thzsync.antennas"
"""Entry-point group whose objects are models derived from :class:`Antenna`."""
LARGEST_TABLE_BYTES: Final = 2**20
MOST_SCAN_DEG: Final = 85.0


class Antenna(Model):
    """One end of a link; both ends are built alike. ``pattern_db`` tells a kind from others."""

    kind: str
    """Which antenna this is."""
    pointing_error_deg: Annotated[Real, Field(ge=0, le=180)] = 0.0
    """Angle between an antenna's axis and its partner, at both ends of every link [degrees]."""
    scan_angle_deg: Annotated[Real, Field(ge=0, le=MOST_SCAN_DEG)] = 0.0
    """Beam squint: a phased array that is steered so far from broadside at the band's centre points
    a subband of centre f off by tan(scan angle) |f - f_mid| / f_mid rad [degrees]."""
    steering_s: Seconds = 0.0
    """Time to turn a beam; it is part of the guard time, with `thz.round_overhead_s` [s]."""

    def loss_db(self, angle_deg: FloatArray, gain_dbi: float) -> FloatArray:
        """What is lost at angles off the axis [degrees], relative to an axis of this gain [dB].

        An antenna of 0 dBi or less is isotropic.
        """
        import numpy as np

        angle_deg = np.abs(np.asarray(angle_deg, dtype=np.float64))
        return self.pattern_db(angle_deg, gain_dbi) if gain_dbi > 0 else np.zeros_like(angle_deg)

    def pattern_db(self, angle_deg: FloatArray, gain_dbi: float) -> FloatArray:
        """The same for angles from 0 to 180 degrees and an antenna above 0 dBi."""
        raise NotImplementedError

    def mispointed_db(self, gains_dbi: Sequence[float], detunings: Sequence[float]) -> list[float]:
        """Loss at both ends, by subband [dB]; ``detunings`` are (f - f_mid) / f_mid."""
        import numpy as np

        squint = math.degrees(math.tan(math.radians(self.scan_angle_deg)))
        angle_deg = self.pointing_error_deg + squint * np.abs(np.array(detunings))
        if not angle_deg.any():
            return [0.0] * len(detunings)
        angle_deg = np.minimum(angle_deg, 180.0)
        lost: list[float] = sum(self.loss_db(angle_deg, gain) for gain in gains_dbi).tolist()  # type: ignore[union-attr]
        return lost


class Isotropic(Antenna):
    """The paper's: a gain, whatever the angle."""

    kind: Literal["isotropic"] = "isotropic"
    """Which antenna this is."""

    def pattern_db(self, angle_deg: FloatArray, gain_dbi: float) -> FloatArray:
        """No loss."""
        return angle_deg * 0.0


class Gaussian(Antenna):
    """A Gaussian main lobe over a floor of side lobes.

    All power is in the main lobe, so its half-power width theta follows from the gain:
    G = 16 ln 2 / theta^2, which is 10.7 degrees at 25 dBi.
    """

    kind: Literal["gaussian"] = "gaussian"
    """Which antenna this is."""
    side_lobe_db: Loss = 25.0
    """How far side lobes are below the peak [dB]. They are never above 0 dBi: an antenna that sends
    as much as an isotropic one everywhere has no power left for its main lobe."""

    def pattern_db(self, angle_deg: FloatArray, gain_dbi: float) -> FloatArray:
        """4 ln 2 (angle / theta)^2 nepers of power, at most the floor of side lobes."""
        import numpy as np

        nepers = np.radians(angle_deg) ** 2 * 10 ** (gain_dbi / 10) / 4
        return np.minimum(10 / math.log(10) * nepers, max(self.side_lobe_db, gain_dbi))


class F699(Antenna):
    """The envelope of side lobes of Recommendation ITU-R F.699 for circular antennas.

    EXTRAPOLATED: its formulas of 1 to 70 GHz are used (editions 8 and 9 add bands up to 86 and
    174.8 GHz, none reaches 300 GHz). The diameter in wavelengths follows from the gain as
    recommended there, 20 log10(D / wavelength) = gain - 7.7 dB. The envelope is of peaks: sums of
    interference from many side lobes are too high.
    """

    kind: Literal["f699"] = "f699"
    """Which antenna this is."""

    def pattern_db(self, angle_deg: FloatArray, gain_dbi: float) -> FloatArray:
        """The peak gain less the envelope."""
        import numpy as np

        diameter = 10 ** ((gain_dbi - 7.7) / 20)
        return np.maximum(gain_dbi - f699_dbi(angle_deg, gain_dbi, diameter), 0.0)


def f699_dbi(angle_deg: FloatArray, gain_dbi: float, diameter: float) -> FloatArray:
    """Gain at an angle off the axis [dBi]; ``diameter`` in wavelengths."""
    import numpy as np

    from thzsync.elementary import log10

    large = diameter > 100
    first_lobe_dbi = 2 + 15 * math.log10(diameter)
    lobe_ends = 20 / diameter * math.sqrt(max(gain_dbi - first_lobe_dbi, 0.0))
    plateau_ends = 15.85 * diameter**-0.6 if large else 100 / diameter
    offset_db = 32.0 if large else 52 - 10 * math.log10(diameter)
    back_dbi = -10.0 if large else 10 - 10 * math.log10(diameter)
    falling = offset_db - 25 * log10(np.maximum(angle_deg, 1e-3))
    found = np.where(angle_deg < plateau_ends, first_lobe_dbi, falling)
    found = np.where(angle_deg < 48, found, back_dbi)
    main = gain_dbi - 2.5e-3 * (diameter * angle_deg) ** 2
    return np.where(angle_deg < lobe_ends, main, np.minimum(found, gain_dbi))


class Table(Antenna):
    """A measured or computed pattern."""

    kind: Literal["table"] = "table"
    """Which antenna this is."""
    points: Annotated[
        tuple[tuple[Annotated[Real, Field(ge=0, le=180)], Loss], ...],
        Field(min_length=1, max_length=20_000),
    ]
    """Angle off the axis [degrees], rising from 0, and loss there [dB]; in between it is
    interpolated. Instead of it, `file` names a CSV file with the columns angle_deg and loss_db; it
    is read at once."""

    COLUMNS: ClassVar = ("angle_deg", "loss_db")

    @model_validator(mode="before")
    @classmethod
    def _read(cls, given: Any) -> Any:
        if not isinstance(given, dict) or "file" not in given:
            return given
        if "points" in given:
            raise ValueError("give either file or points, not both")
        others = {key: value for key, value in given.items() if key != "file"}
        return {**others, "points": _points(str(given["file"]))}

    @model_validator(mode="after")
    def _rises(self) -> Table:
        angles = [angle for angle, _ in self.points]
        if angles[0] != 0 or any(b <= a for a, b in pairwise(angles)):
            raise ValueError("points: angles must rise from 0 degrees; sort them, and drop doubles")
        return self

    def pattern_db(self, angle_deg: FloatArray, gain_dbi: float) -> FloatArray:
        """Between the points along straight lines, behind the last one as there."""
        import numpy as np

        known_deg, loss_db = zip(*self.points, strict=True)
        found: FloatArray = np.interp(angle_deg, known_deg, loss_db)
        return found


def _points(name: str) -> list[tuple[float, float]]:
    """Rows of a CSV file."""
    remedy = f"write a CSV file with the columns {' and '.join(Table.COLUMNS)}"
    try:
        text = read_bounded(name, LARGEST_TABLE_BYTES, "an antenna's table").decode("utf-8-sig")
    except ThzSyncError as error:
        raise ValueError(str(error)) from None
    except UnicodeDecodeError:
        raise ValueError(f"file: {name} is no text; {remedy}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ValueError(f"file: {name} cannot be read ({reason})") from None
    try:
        rows = list(csv.DictReader(io.StringIO(text), skipinitialspace=True))
    except csv.Error as error:
        raise ValueError(f"file: {name} is no CSV file ({error}); {remedy}") from None
    found = []
    for number, row in enumerate(rows, start=1):
        try:
            angle_deg, loss_db = (float(row[column]) for column in Table.COLUMNS)
        except (KeyError, TypeError, ValueError):
            raise ValueError(f"file: {name}, row {number} has no such numbers; {remedy}") from None
        if not (0 <= angle_deg <= 180 and 0 <= loss_db <= 200):
            raise ValueError(f"file: {name}, row {number}: use 0 to 180 degrees and 0 to 200 dB")
        found.append((angle_deg, loss_db))
    if not found:
        raise ValueError(f"file: {name} has no rows; {remedy}")
    return found


def pattern_problem(antenna: Antenna, gains_dbi: Iterable[float]) -> str | None:
    """What no antenna of these gains can do, if it does: its axis is its best direction."""
    import numpy as np

    for gain_dbi in gains_dbi:
        lost_db = np.asarray(antenna.loss_db(np.linspace(0.0, 180.0, 1801), gain_dbi))
        if not (np.isfinite(lost_db).all() and (lost_db >= 0).all() and lost_db[0] == 0):
            return f"at {gain_dbi:g} dBi its loss must be 0 dB on the axis, never below"
    return None


def _built_in() -> tuple[type[Antenna], ...]:
    return (Isotropic, Gaussian, F699, Table)


ANTENNAS: Final[Kinds] = kinds_of("antenna", ENTRY_POINTS, Antenna, _built_in)


def register_antenna(kind: type[Antenna]) -> type[Antenna]:
    """Make a kind of antenna known by the default of its key ``kind``, for this process."""
    return ANTENNAS.register(kind)
