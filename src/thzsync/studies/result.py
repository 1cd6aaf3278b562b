"""What a sweep found: one tidy table, and a summary with paired intervals."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from thzsync.display import counted
from thzsync.errors import ThzSyncError, in_one_line
from thzsync.experiments.comparison import METRICS
from thzsync.experiments.statistics import paired_row
from thzsync.experiments.store import Store
from thzsync.files import write_atomically, write_document
from thzsync.records.certificate import Certificate, certify
from thzsync.records.format2 import filled
from thzsync.records.run import environment, frame_bytes
from thzsync.scenario import Scenario
from thzsync.studies.plan import Plan
from thzsync.studies.specification import Specification, specify

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from thzsync.studies.break_evens import Finding

Row = dict[str, Any]


@dataclass(frozen=True)
class Sweep:
    """Every finished run of a sweep."""

    specification: Specification
    scenario: Scenario
    """The base, changes that hold everywhere included."""
    points: tuple[Row, ...]
    """One row of axis values per point."""
    frame: pl.DataFrame
    """The runs' iteration tables with a column per axis, the policy and the seed."""
    failures: tuple[Row, ...] = ()
    """Point, policy, seed and error of every run that failed."""
    missing: int = 0
    """Runs that were not tried: an interruption, or another shard's."""
    fidelity: Certificate | None = None
    """How near runs in flow fidelity are to packets, by point and policy."""

    @property
    def axes(self) -> tuple[str, ...]:
        """The keys that vary."""
        return tuple(self.specification.keys)

    @property
    def policies(self) -> tuple[str, ...]:
        """The contenders; the first is the reference of paired differences."""
        return tuple(contender.name for contender in self.specification.all)

    @cached_property
    def _seed_means(self) -> dict[tuple[Any, ...], pl.DataFrame]:
        counted = self.frame.filter(pl.col("iteration") >= self.specification.first)
        by = [*self.axes, "policy"]
        means = counted.group_by([*by, "seed"]).agg(pl.col(m).mean() for m in METRICS)
        return means.sort("seed").partition_by(by, as_dict=True)

    def seed_means(self, point: Row, policy: str) -> pl.DataFrame:
        """Means of the metrics over the iterations that count, one row per seed."""
        place = (*(point[key] for key in self.axes), policy)
        found = self._seed_means.get(place)
        return next(iter(self._seed_means.values())).clear() if found is None else found

    @cached_property
    def _differences(self) -> dict[str, pl.DataFrame]:
        return {}  # filled as they are asked for: pictures and crossovers ask again and again

    def differences(self, point: Row, policy: str, against: str) -> pl.DataFrame:
        """The policy's means minus those of ``against``, in the seeds that both have finished."""
        place = repr((point, policy, against))
        if place not in self._differences:
            ours, theirs = self.seed_means(point, policy), self.seed_means(point, against)
            both = ours.join(theirs, on="seed", suffix=" against", maintain_order="left")
            paired = (pl.col(m) - pl.col(f"{m} against") for m in METRICS)
            self._differences[place] = both.select("seed", *paired)
        return self._differences[place]

    @cached_property
    def rows(self) -> list[Row]:
        """One row per point and policy: axis values, means, paired differences, 95 % intervals."""
        found = []
        for point, policy in product(self.points, self.policies):
            means = self.seed_means(point, policy)
            pairs = self.differences(point, policy, self.policies[0])
            if means.height and pairs.height:
                figures = paired_row(METRICS, _column(means), _column(pairs))
                found.append({**point, "policy": policy, "seeds": means.height, **figures})
        return found

    @cached_property
    def break_evens(self) -> list[Finding]:
        """Where the two policies are equal, per combination of the other axes' values."""
        from thzsync.studies.break_evens import findings

        return findings(self)

    @property
    def seeds_text(self) -> str:
        """How many seeds rows are means of, such as ``2 to 3 of 5 paired seeds``."""
        planned, found = len(self.specification.seeds), {row["seeds"] for row in self.rows}
        paired = counted(planned, "paired seed")
        if found <= {planned}:
            return paired
        least, most = min(found), max(found)
        return f"{least if least == most else f'{least} to {most}'} of {paired}"

    @property
    def summary(self) -> pl.DataFrame:
        """``rows`` as a frame."""
        return pl.DataFrame(self.rows, infer_schema_length=None)

    def to_pandas(self) -> Any:
        """The tidy table as a pandas frame (needs the extra ``pandas``)."""
        try:
            return self.frame.to_pandas()
        except ImportError:
            raise ThzSyncError(
                "pandas or pyarrow is missing; install both with `pip install 'thzsync[pandas]'`"
            ) from None

    def plot(
        self,
        metric: str = "completion_ms",
        axis: str | None = None,
        panels: str | None = None,
        at: Row | None = None,
    ) -> Figure:
        """A metric against an axis with 95 % intervals; a second axis becomes small multiples.

        With two policies, the crossover between them is marked with its own interval. ``at`` holds
        further axes at one value each.
        """
        from thzsync.studies.picture import draw

        return draw(self, metric, axis, panels, at)

    def document(self) -> Row:
        """The sweep as plain values."""
        from thzsync.studies.break_evens import document
        from thzsync.studies.curves import crossovers

        return {
            "kind": "sweep",
            "format": 1,
            "complete": not self.missing and not self.failures,
            "question": self.specification.question,
            "scenario": self.scenario.name,
            "scenario_sha256": self.scenario.digest,
            "specification": self.specification.model_dump(mode="json"),
            "axes": list(self.axes),
            "policies": list(self.policies),
            "points": list(self.points),
            "against": self.policies[0],
            "first_iteration": self.specification.first,
            "rows": self.rows,
            "crossovers": crossovers(self),
            **document(self),
            "failures": list(self.failures),
            "missing": self.missing,
            "environment": environment(),
            **({} if self.fidelity is None else {"fidelity": self.fidelity.document()}),
        }

    def save(self, folder: str | Path) -> Path:
        """Write the table and its summary."""
        target = Path(folder)
        write_atomically(target / "table.parquet", frame_bytes(self.frame))
        write_atomically(target / "scenario.toml", self.scenario.to_toml().encode())
        write_document(target / "sweep.json", self.document())
        return target

    @classmethod
    def load(cls, folder: str | Path) -> Sweep:
        """Read what ``save`` wrote."""
        source = Path(folder)
        document = read_document(source)
        try:
            frame = filled("iterations", pl.read_parquet(source / "table.parquet"))
            points, failures = tuple(document["points"]), tuple(document["failures"])
            missing = int(document["missing"])
        except (OSError, KeyError, TypeError, pl.exceptions.PolarsError) as error:
            reason = str(error).splitlines()[0]
            raise ThzSyncError(f"{source}: the sweep is unfinished ({reason}); resume it") from None
        file, told = str(source / "sweep.json"), document.get("fidelity")
        return cls(
            specify(document["specification"], file),
            Scenario.load(source / "scenario.toml"),
            points,
            frame,
            failures,
            missing,
            Certificate.of_document(told, file) if told else None,
        )


def read_document(folder: Path) -> Row:
    """The summary of a sweep's folder."""
    file = folder / "sweep.json"
    try:
        document = json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        raise ThzSyncError(
            f"{folder}: no sweep.json here; give a folder that `thzsync sweep --out` wrote"
        ) from None
    except (OSError, ValueError) as error:
        raise ThzSyncError(f"{file}: not readable as JSON ({error}); make it anew") from None
    if not isinstance(document, dict) or document.get("kind") != "sweep":
        raise ThzSyncError(f"{file}: not a sweep; make it anew")
    return document


def gather(plan: Plan, store: Store) -> Sweep:
    """The sweep as far as the store has it; row by row in the plan's order."""
    tables, failures, replayed, missing = [], [], [], 0
    for run in plan.runs:
        place = plan.points[run.point] | {"policy": run.name, "seed": run.seed}
        result = store.finished(run.key)
        if result is not None:
            columns = [pl.lit(value).alias(name) for name, value in place.items()]
            tables.append(result.iterations.select(*columns, pl.all()))
            at = plan.points[run.point] | {"policy": run.name}
            replayed.append((at, result.fidelity))
        elif run.key in store.failures:
            failures.append(place | {"error": in_one_line(store.failures[run.key].error)})
        else:
            missing += 1
    if not tables:
        if failures:
            raise ThzSyncError(f"every run failed; the first says: {failures[0]['error']}")
        raise ThzSyncError("no run of the sweep is finished yet")
    frame = pl.concat(tables, how="vertical_relaxed")
    return Sweep(
        plan.specification,
        plan.base,
        plan.points,
        frame,
        tuple(failures),
        missing,
        certify(replayed),
    )


def _column(frame: pl.DataFrame) -> Any:
    return lambda metric: np.asarray(frame[metric], dtype=np.float64)
