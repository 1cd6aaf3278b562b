"""The plane of delay and energy: what was published, the same mechanisms well learnt, and ours.

THz-SynC runs on the paper's mechanisms and on those beyond at five pairs of weights; the ends of
the plane are All-Wired and All-Wireless at their best. Every point is a sweep's contender, so all
meet the same background, channel and stragglers, and what is finished is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import hypot, inf, isnan
from pathlib import Path
from typing import Any, Final

from thzsync.experiments.statistics import interval95
from thzsync.files import write_document
from thzsync.names import PUBLISHED_POLICIES
from thzsync.paper.contenders import Progress, facts, first_averaged, run_by_seed
from thzsync.paper.published import published_fabric, published_weights
from thzsync.scenario import Scenario
from thzsync.studies.result import Sweep, gather
from thzsync.studies.specification import Contender
from thzsync.studies.sweeping import plan_sweep, prepared

Row = dict[str, Any]

WEIGHTS: Final = ((0.9, 0.1), (0.7, 0.3), (0.5, 0.5), (0.3, 0.7), (0.1, 0.9))
ENDS: Final = ("all-wired-best", "all-wireless-best")
MEASURED: Final = ("completion_ms", "energy_j", "makespan_ms", "exposed_ms")
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
        return {
            "config": self.config,
            "policy": self.policy,
            "time_weight": self.time_weight,
            "energy_weight": self.energy_weight,
        }

    def contender(self) -> Contender:
        """How it differs from preset `beyond`."""
        changes = _papers() if self.config == "paper" else {}
        if self.time_weight is not None:
            changes |= {
                "reward.time_weight": self.time_weight,
                "reward.energy_weight": self.energy_weight,
            }
        return Contender(name=self.name, policy=self.policy, set=changes)


def _papers() -> dict[str, Any]:
    """The paper's mechanisms, as changes to preset `beyond`."""
    found: dict[str, Any] = {}
    for key in _MECHANISMS:
        value: Any = Scenario.paper()
        for name in key.split("."):
            value = getattr(value, name)
        found[key] = value
    return found


POINTS: Final = (
    *(Point(config, "thz-sync", time) for config in ("beyond", "paper") for time, _ in WEIGHTS),
    *(Point("beyond", policy) for policy in ENDS),
)


@dataclass(frozen=True)
class BeyondFigure:
    """All points, in the same realisations."""

    sweep: Sweep
    quick: bool = False
    """Whether it is a first look with fewer seeds and iterations."""

    def rows(self) -> list[Row]:
        """Published points first, then ours."""
        return [*_published(), *map(self._row, POINTS)]

    def _row(self, point: Point) -> Row:
        means = self.sweep.seed_means({}, point.name)
        row = point.columns()
        for metric in MEASURED:
            found = (None, None) if means.is_empty() else interval95(means[metric].to_numpy())
            row[metric], row[f"ci95_{metric}"] = found
        return row

    def claims(self) -> dict[str, bool | None]:
        """Whether some point of ours is at once faster and thriftier than each other point.

        None is undecided: none is so beyond the intervals.
        """
        rows = [row for row in self.rows() if row["energy_j"] is not None]
        ours = [row for row in rows if row["config"] == "beyond" and row["policy"] not in ENDS]
        others = (row for row in rows if row["config"] != "beyond" or row["policy"] in ENDS)
        return {f"below {_name(row)}": _below(ours, row) for row in others}

    def document(self) -> dict[str, Any]:
        """The figure as plain values."""
        return facts("beyond", self.sweep, self.quick) | {
            "seeds": sorted(self.sweep.frame["seed"].unique().to_list()),
            "rows": self.rows(),
            "claims": self.claims(),
        }

    def save(self, folder: str | Path) -> Path:
        """Write the summary, the table and the picture."""
        from thzsync.drawing import save_picture
        from thzsync.paper.plane import draw_plane

        target = self.sweep.save(folder)
        document = self.document()
        write_document(target / "beyond.json", document)
        save_picture(draw_plane(document["rows"]), target / "figures" / "delay_and_energy.svg")
        return target


def _published() -> Iterator[Row]:
    """What the paper reports with both coordinates."""
    for policy in PUBLISHED_POLICIES:
        point = Point("published", policy)
        yield _reported(point, *(published_fabric(policy, m) for m in ("completion", "energy")))
    for time in (0.7, 0.3):
        point = Point("published", "thz-sync", time)
        yield _reported(point, *(published_weights(time, m) for m in ("completion", "energy")))


def _reported(point: Point, completion_ms: float | None, energy_j: float | None) -> Row:
    nothing: Row = {key: None for metric in MEASURED for key in (metric, f"ci95_{metric}")}
    return point.columns() | nothing | {"completion_ms": completion_ms, "energy_j": energy_j}


def _name(row: Row) -> str:
    return Point(row["config"], row["policy"], row["time_weight"]).name


def _below(ours: list[Row], other: Row) -> bool | None:
    """Whether a point of ours beats another in both coordinates beyond the intervals of both."""
    metrics = ("completion_ms", "energy_j")
    leads = [[other[m] - row[m] for m in metrics] for row in ours]
    doubts = [[hypot(_half(row, m), _half(other, m)) for m in metrics] for row in ours]
    if any(
        all(lead > doubt for lead, doubt in zip(*pair, strict=True))
        for pair in zip(leads, doubts, strict=True)
    ):
        return True
    return None if any(min(lead) > 0 for lead in leads) else False


def _half(row: Row, metric: str) -> float:
    """Half the interval: nothing for a published number, which comes without one."""
    if row["config"] == "published":
        return 0.0
    half = row[f"ci95_{metric}"]
    return inf if half is None or isnan(half) else float(half)


def reproduce_beyond(
    seeds: int = 5,
    iterations: int = 20,
    workers: int | None = None,
    scenario: Scenario | None = None,
    progress: Progress | None = None,
    quick: bool = False,
    out: str | Path | None = None,
) -> BeyondFigure:
    """Run every point; what ``out`` holds already is not done again."""
    setting = scenario or Scenario.preset("beyond")
    options = {
        "contenders": [point.contender().model_dump() for point in POINTS],
        "seeds": list(range(seeds)),
        "iterations": iterations,
        "first": first_averaged(iterations),
    }
    plan = plan_sweep(setting, options)

    with prepared(plan, out, resume=True) as store:
        run_by_seed(plan, store, workers, "beyond", progress)
        return BeyondFigure(gather(plan, store), quick)
