"""Kinds of sections of the package conform; planted faults are found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest

from thzsync.arrays import FloatArray
from thzsync.errors import ThzSyncError
from thzsync.network.generators import Wires
from thzsync.scenario import (
    Antenna,
    FloorKind,
    FreeSpace,
    Pairs,
    PathLoss,
    RateLaw,
    Scenario,
    Step,
    SwitchedNetwork,
    WorkloadKind,
)
from thzsync.scenario.antennas import F699, Gaussian, Isotropic, Table
from thzsync.scenario.floor import GridFloor, RowFloor
from thzsync.scenario.network import FatTree, LeafSpine, RailOptimised
from thzsync.scenario.path_loss import LogDistance, Measured
from thzsync.scenario.rates import Shannon, SingleCarrier
from thzsync.testing import (
    check_antenna,
    check_floor,
    check_network,
    check_path_loss,
    check_rate_law,
    check_workload,
)
from thzsync.workload import Compute, Phase, TrainingGraph

pytestmark = pytest.mark.usefixtures("nothing_stays_registered")


class TwoSteps(RateLaw):
    kind: Literal["two-steps"] = "two-steps"
    slow: float = 1.0

    def steps(self) -> tuple[Step, ...]:
        return Step("slow", 6.0, self.slow), Step("fast", 15.0, 3.0, 0.05)


class Fan(Antenna):
    kind: Literal["fan"] = "fan"
    best: float = 0.0

    def pattern_db(self, angle_deg: FloatArray, gain_dbi: float) -> FloatArray:
        return np.minimum(angle_deg, 20.0) + self.best


class Wall(PathLoss):
    by_position = True
    kind: Literal["wall"] = "wall"
    one_way: bool = False

    def gain(self, pairs: Pairs) -> FloatArray:
        through = (pairs.a_m[..., 0] < 0) & (pairs.b_m[..., 0] >= 0)
        if not self.one_way:
            through |= (pairs.b_m[..., 0] < 0) & (pairs.a_m[..., 0] >= 0)
        return FreeSpace().gain(pairs) * np.where(through, 1e-2, 1.0)


class Ladder(FloorKind):
    kind: Literal["ladder"] = "ladder"
    apart_m: float = 1.0

    @property
    def groups(self) -> int:
        return 2

    @property
    def lanes(self) -> int:
        return 4

    @property
    def places_m(self) -> list[tuple[float, float]]:
        return [(group * 3.0, lane * self.apart_m) for group in range(2) for lane in range(4)]


class Star(SwitchedNetwork):
    kind: Literal["star"] = "star"
    random: bool = False

    def wires(self, racks: int, fibres: Any) -> Wires:
        wires = Wires(racks)
        hub = wires.switch("hub")
        faster = np.random.default_rng().integers(1, 10**6) if self.random else 0
        for rack in range(racks):
            wires.join(rack, hub, fibres.access_bps + int(faster), fibres.access_ps)
        return wires


class Naps(WorkloadKind):
    kind: Literal["naps"] = "naps"
    random: bool = False

    def graph(self, job: Any, partition: Any, streams: Any, iteration: int) -> TrainingGraph:
        rng = np.random.default_rng() if self.random else streams.generator("demand", iteration)
        racks, length_s = np.sort(partition.racks.ravel()), 1e-3 * float(rng.random() + 0.1)
        return TrainingGraph((Compute(0, job.name, 0, Phase.FORWARD, 0, racks, length_s, ()),))


@pytest.mark.parametrize(
    ("suite", "section"),
    [
        (check_rate_law, Shannon(sndr_db=18)),
        (check_rate_law, SingleCarrier(sndr_db=18, error_rate=0.1)),
        (check_rate_law, TwoSteps()),
        (check_antenna, Isotropic()),
        (check_antenna, Gaussian(pointing_error_deg=1)),
        (check_antenna, F699()),
        (check_antenna, Table(points=((0, 0), (10, 12), (90, 30)))),
        (check_antenna, Fan()),
        (check_path_loss, Measured()),
        (check_path_loss, LogDistance(intercept_db=83, exponent=1.9)),
        (check_path_loss, Wall()),
        (check_floor, RowFloor(kind="rows", rows=2, racks_per_row=3)),
        (check_floor, GridFloor(kind="grid", rows=2, columns=4)),
        (check_floor, Ladder()),
        (check_network, LeafSpine(racks_per_leaf=2, spines=2)),
        (check_network, FatTree(radix=4)),
        (check_network, RailOptimised(nics_per_rack=2, racks_per_leaf=3, spines=1)),
        (check_network, Star()),
        (check_workload, Naps()),
    ],
    ids=lambda x: getattr(x, "kind", ""),
)
def test_kinds_conform(suite: Callable[[Any], int], section: Any) -> None:
    assert suite(section) >= 6


@pytest.mark.parametrize(
    ("suite", "section", "told"),
    [
        (check_rate_law, TwoSteps(slow=4.0), "Shannon's limit"),
        (check_antenna, Fan(best=-1.0), "0 dB on the axis"),
        (check_path_loss, Wall(one_way=True), "both directions"),
        (check_floor, Ladder(apart_m=0.001), "less than"),
        (check_network, Star(random=True), "links of two readings"),
        (check_workload, Naps(random=True), "differ"),
    ],
    ids=lambda x: getattr(x, "kind", ""),
)
def test_planted_faults_are_found(suite: Callable[[Any], int], section: Any, told: str) -> None:
    with pytest.raises(ThzSyncError, match=told):
        suite(section)


def test_a_suite_leaves_nothing_registered() -> None:
    check_rate_law(TwoSteps())
    with pytest.raises(ThzSyncError, match="two-steps"):
        Scenario.preset("tiny").with_({"thz.rate": "two-steps"})
