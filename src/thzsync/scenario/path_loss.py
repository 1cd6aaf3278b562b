"""How much power arrives over a distance: measured laws, free space, log-distance, plug-ins."""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal, NamedTuple

from pydantic import Field

from thzsync.scenario.base import Loss, Model, Real
from thzsync.scenario.kinds import Kinds, kinds_of

if TYPE_CHECKING:
    from thzsync.arrays import FloatArray

LIGHT_M_PER_S: Final = 299_792_458.0


class Pairs(NamedTuple):
    """Pairs of racks, in arrays of one shape, and the channel's keys that laws use."""

    distance_m: FloatArray
    """Distance of the two racks, above 0 [m]."""
    a_m: FloatArray
    """Where the first rack stands; x and y on a last axis [m]."""
    b_m: FloatArray
    """Where the second rack stands [m]."""
    reference_hz: float
    nlos_paths: int


class PathLoss(Model):
    """Mean gain of a pair of racks, without absorption, fluctuation and blockage."""

    by_position: ClassVar[bool] = False
    """Gains depend on where racks stand, not on their distance alone (walls, for instance)."""
    band_hz: ClassVar[tuple[float, float] | None] = None
    """The band in which a law was measured [Hz]."""

    kind: str
    """Which path loss this is."""

    def gain(self, pairs: Pairs) -> FloatArray:
        """Linear power gains at the reference frequency, 0 to 1, the same in both directions.

        At a frequency f they are multiplied by (reference_hz / f)^2.
        """
        raise NotImplementedError


class MeasuredLaw(NamedTuple):
    """Path loss at the reference frequency: slope log10(d / 1 m) + intercept [dB]."""

    slope_db: float
    """Loss per decade of distance [dB]."""
    intercept_db: float
    """Loss at 1 m [dB]."""

    def loss_db(self, distance_m: FloatArray) -> FloatArray:
        """Path loss at a distance [m] (eq:measured_path_loss)."""
        from thzsync.elementary import log10

        return self.slope_db * log10(distance_m) + self.intercept_db


LOS: Final = MeasuredLaw(18.8, 82.69)
NLOS: Final = MeasuredLaw(7.6, 106.6)


class Measured(PathLoss):
    """A direct path and `channel.nlos_paths` indirect ones by two measured laws."""

    band_hz: ClassVar = (290e9, 310e9)

    kind: Literal["measured"] = "measured"
    """Which path loss this is."""

    def gain(self, pairs: Pairs) -> FloatArray:
        """The sum over all paths (eq:composite_channel_gain)."""
        from thzsync.elementary import ten_to

        direct = ten_to(-LOS.loss_db(pairs.distance_m) / 10)
        indirect = pairs.nlos_paths * ten_to(-NLOS.loss_db(pairs.distance_m) / 10)
        return direct + indirect


class FreeSpace(PathLoss):
    """The direct path alone, with nothing in its way (Friis)."""

    kind: Literal["free-space"] = "free-space"
    """Which path loss this is."""

    def gain(self, pairs: Pairs) -> FloatArray:
        """(wavelength / (4 pi distance))^2."""
        wavelength_m = LIGHT_M_PER_S / pairs.reference_hz
        gain: FloatArray = (wavelength_m / (4 * pi * pairs.distance_m)) ** 2
        return gain


class LogDistance(PathLoss):
    """A straight line of loss in dB over the logarithm of distance, from your measurements."""

    kind: Literal["log-distance"] = "log-distance"
    """Which path loss this is."""
    intercept_db: Loss = 82.0
    """Loss at 1 m and `channel.reference_hz`; in free space it is 82 dB at 300 GHz [dB]."""
    exponent: Annotated[Real, Field(ge=0, le=10)] = 2.0
    """n, by which the loss grows by 10 n dB per decade of distance."""

    def gain(self, pairs: Pairs) -> FloatArray:
        """10^(-intercept / 10) / distance^n."""
        from thzsync.elementary import log10, ten_to

        return ten_to(-self.intercept_db / 10 - self.exponent * log10(pairs.distance_m))


PATH_LOSSES: Final[Kinds] = kinds_of(
    "path loss", "thzsync.path_losses", PathLoss, lambda: (Measured, FreeSpace, LogDistance)
)
register_path_loss = PATH_LOSSES.register
