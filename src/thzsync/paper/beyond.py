"""The plane of delay and energy: what was published, the same mechanisms well learnt, and ours.

THz-SynC runs on the paper's mechanisms and on those beyond at five pairs of weights; the ends of
the plane are All-Wired and All-Wireless at their best.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from math import hypot, inf, isnan
from typing import Final

from thzsync.names import PUBLISHED_POLICIES
from thzsync.paper.figure import Request, Row, SweepFigure, intervals, run_contenders
from thzsync.paper.pictures import draw_plane
from thzsync.paper.published import published_fabric, published_weights
from thzsync.scenario import Scenario
from thzsync.scenario.changes import value_at
from thzsync.studies.specification import Contender

WEIGHTS: Final = ((0.9, 0.1), (0.7, 0.3), (0.5, 0.5), (0.3, 0.7), (0.1, 0.9))
ENDS: Final = ("all-wired-best", "all-wireless-best")
MEASURED: Final = ("completion_ms", "energy_j", "makespan_ms", "exposed_ms")
NOTHING: Final = {key: None for metric in MEASURED for key in (metric, f"ci95_{metric}")}
_MECHANISMS: Final = (
    "collectives.allreduce", "collectives.a2a", "collectives.p2p", "coordinator.search",
    "coordinator.bandit.warm_up", "coordinator.bandit.count_levels",
)  # fmt: skip
"""Keys in which the presets `paper` and `beyond` differ, as far as THz-SynC reads them."""


@dataclass(frozen=True)
class Point:
    """A place on the plane: a policy on some mechanisms at some weights."""

    config: str
    """``paper`` or ``beyond``: whose mechanisms."""
    policy: str
    time_weight: float | None = None
    """W_T; policies that do not weigh have none."""

    @property
    def energy_weight(self) -> float | None:
        """W_E."""
        return None if self.time_weight is None else round(1 - self.time_weight, 9)

    @property
    def name(self) -> str:
        """What tables and files call it."""
        if self.time_weight is None:
            return f"{self.config} {self.policy}"
        return f"{self.config} {self.policy} at {self.time_weight:g}/{self.energy_weight:g}"

    def columns(self) -> Row:
        """What a row of tables says of it."""
        return asdict(self) | {"energy_weight": self.energy_weight}

    def contender(self) -> Contender:
        """How it differs from preset `beyond`."""
        paper = Scenario.paper()
        changes = {k: value_at(paper, k) for k in _MECHANISMS} if self.config == "paper" else {}
        if self.time_weight is not None:
            weights = {"time_weight": self.time_weight, "energy_weight": self.energy_weight}
            changes |= {f"reward.{key}": value for key, value in weights.items()}
        return Contender(name=self.name, policy=self.policy, set=changes)


POINTS: Final = (
    *(Point(config, "thz-sync", time) for config in ("beyond", "paper") for time, _ in WEIGHTS),
    *(Point("beyond", policy) for policy in ENDS),
)


class BeyondFigure(SweepFigure):
    """All points, in the same realisations."""

    kind = "beyond"
    picture = "delay_and_energy"
    draw = staticmethod(draw_plane)

    def rows(self) -> list[Row]:
        """Published points first, then ours."""
        return [*_published(), *map(self._row, POINTS)]

    def _row(self, point: Point) -> Row:
        means = self.sweep.seed_means({}, point.name)
        if means.is_empty():
            return point.columns() | NOTHING
        return point.columns() | intervals({m: means[m].to_numpy() for m in MEASURED})

    def claims(self) -> dict[str, bool | None]:
        """Whether some point of ours is at once faster and thriftier than each other point.

        None is undecided: none is so beyond the intervals.
        """
        rows = [row for row in self.rows() if row["energy_j"] is not None]
        ours = [row for row in rows if row["config"] == "beyond" and row["policy"] not in ENDS]
        others = (row for row in rows if row["config"] != "beyond" or row["policy"] in ENDS)
        return {f"below {_name(row)}": _below(ours, row) for row in others}

    def numbers(self) -> Row:
        """Rows and claims."""
        seeds = sorted(self.sweep.frame["seed"].unique().to_list())
        return {"seeds": seeds, "rows": self.rows(), "claims": self.claims()}


def _published() -> Iterator[Row]:
    """What the paper reports with both coordinates."""
    points = [(Point("published", p), partial(published_fabric, p)) for p in PUBLISHED_POLICIES]
    points += [
        (Point("published", "thz-sync", time), partial(published_weights, time))
        for time in (0.7, 0.3)
    ]
    for point, find in points:
        both = {"completion_ms": find("completion"), "energy_j": find("energy")}
        yield point.columns() | NOTHING | both


def _name(row: Row) -> str:
    return Point(row["config"], row["policy"], row["time_weight"]).name


def _below(ours: list[Row], other: Row) -> bool | None:
    """Whether a point of ours beats another in both coordinates beyond the intervals of both."""
    metrics = ("completion_ms", "energy_j")
    below = None if any(all(row[m] < other[m] for m in metrics) for row in ours) else False
    certain = any(
        all(other[m] - row[m] > hypot(_half(row, m), _half(other, m)) for m in metrics)
        for row in ours
    )
    return True if certain else below


def _half(row: Row, metric: str) -> float:
    """Half the interval: nothing for a published number, which comes without one."""
    if row["config"] == "published":
        return 0.0
    half = row[f"ci95_{metric}"]
    return inf if half is None or isnan(half) else float(half)


def reproduce(request: Request) -> BeyondFigure:
    """Run every point."""
    return run_contenders(BeyondFigure, [point.contender() for point in POINTS], request)
