"""What several policies did in the same realisations."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from thzsync.display.html import notebook_view
from thzsync.display.metrics import more_energy
from thzsync.display.table import Column, Interval, Table
from thzsync.errors import ThzSyncError
from thzsync.experiments.statistics import interval95, paired_row
from thzsync.folders import COMPARISON, RUN, prepare_to_save
from thzsync.records.certificate import Certificate
from thzsync.records.folder import FILES, Record, with_marker, write_record
from thzsync.records.format2 import filled
from thzsync.records.run import MARKER as RUN_MARKER
from thzsync.records.run import SCENARIO, environment, frame_bytes, read_scenario
from thzsync.scenario import Scenario
from thzsync.simulation import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARKER: Final = "compare.json"
METRIC_TITLES: Final = {
    "completion_ms": "Completion time [ms]",
    "energy_j": "Transmission energy [J]",
    "wall_energy_j": "Energy at the wall plug [J]",
    "static_energy_j": "Static energy [J]",
    "total_energy_j": "Energy at the wall plug and static [J]",
    "reward": "Reward",
    "makespan_ms": "Iteration time [ms]",
    "exposed_ms": "Exposed communication [ms]",
    "thz_share": "Share of bytes on THz",
}
METRICS: Final = tuple(METRIC_TITLES)


@dataclass(frozen=True)
class Comparison:
    """What every policy did in every seed."""

    scenario: Scenario
    policies: tuple[str, ...]
    seeds: tuple[int, ...]
    iterations: pl.DataFrame
    """The runs' iteration tables with policy and seed."""
    events: pl.DataFrame
    """The runs' event tables with policy, seed and bandwidths."""
    details: dict[str, Run]
    """Full record of the last iteration of every policy's first seed."""
    failures: tuple[dict[str, Any], ...] = ()
    """Policy, seed and error of every run that failed; its seed is left out everywhere."""
    fidelity: Certificate | None = None
    """How near runs in flow fidelity are to packets, policy by policy."""

    def __repr__(self) -> str:
        iterations = self.iterations["iteration"].n_unique()
        return (
            f"Comparison({', '.join(self.policies)} on {self.scenario.name!r}, "
            f"seeds={len(self.seeds)}, iterations={iterations})"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows: every policy's means, paired by seed."""
        facts = {"scenario": self.scenario.name, "seeds": len(self.seeds)}
        return notebook_view(self.table(), facts)

    def of(self, policy: str) -> Comparison:
        """What one of the policies did."""
        mine = pl.col("policy") == policy
        return replace(
            self,
            policies=(policy,),
            iterations=self.iterations.filter(mine),
            events=self.events.filter(mine),
            details={name: run for name, run in self.details.items() if name == policy},
            fidelity=None if self.fidelity is None else self.fidelity.at(policy),
        )

    def table(self, first: int = 0) -> Table:
        """Every policy's means from iteration ``first`` on, with 95 % intervals."""
        found = self.rows(first)
        shown = {
            "completion_ms": Column("completion", "ms", better="low"),
            "energy_j": Column("transmission", "J", better="low"),
            **{m.key: Column(m.short.lower(), "J", better="low") for m in more_energy(found)},
            "reward": Column("reward", better="high"),
            "makespan_ms": Column("iteration time", "ms"),
            "exposed_ms": Column("exposed", "ms"),
        }
        share = Column("THz share", show=lambda share: f"{100 * share:.0f} %")
        columns = (Column("policy", left=True), *shown.values(), share)
        rows = [
            [row["policy"], *(Interval(row[m], row[f"ci95_{m}"]) for m in shown), row["thz_share"]]
            for row in found
        ]
        return Table("Comparison", columns, rows, "Means per iteration, ± 95 % over seeds.")

    def seed_means(self, policy: str, metric: str, first: int = 0) -> np.ndarray[Any, Any]:
        """Mean of a metric over the iterations from ``first`` on, one value per seed."""
        counted = (pl.col("policy") == policy, pl.col("iteration") >= first)
        chosen = self.iterations.filter(*counted)
        return chosen.group_by("seed").agg(pl.col(metric).mean()).sort("seed")[metric].to_numpy()

    def rows(self, first: int = 0, against: str | None = None) -> list[dict[str, Any]]:
        """One row per policy: means with 95 % intervals, and paired differences to ``against``.

        A difference is the policy's value minus that of ``against`` in the same realisation.
        """
        means = {
            policy: {metric: self.seed_means(policy, metric, first) for metric in METRICS}
            for policy in {*self.policies, against or self.policies[0]}
        }
        theirs = means[against or self.policies[0]]

        def row(policy: str) -> dict[str, Any]:
            ours = means[policy]
            figures = paired_row(METRICS, ours.__getitem__, lambda m: ours[m] - theirs[m])
            return {"policy": policy, **figures}

        return [row(policy) for policy in self.policies]

    def plot(self, metric: str = "completion_ms") -> Figure:
        """A metric by iteration, with the 95 % band of every policy over the seeds."""
        from thzsync.drawing import legend_above, look, new_figure, styled

        if metric not in METRICS:
            raise ThzSyncError(f"metric: found {metric!r}; use one of {', '.join(METRICS)}")
        with styled():
            figure, (axes,) = new_figure(1)
            for position, policy in enumerate(self.policies):
                mine = self.iterations.filter(pl.col("policy") == policy)
                seeds = mine.group_by("iteration").agg(pl.col(metric)).sort("iteration")
                found = [interval95(np.asarray(values)) for values in seeds[metric].to_list()]
                mean, half = np.array(found).T
                number, style = seeds["iteration"].to_numpy() + 1, look(position)
                axes.plot(number, mean, label=policy, **style)
                band = (mean - half, mean + half)
                axes.fill_between(number, *band, color=style["color"], alpha=0.15, lw=0)
            axes.set_xlabel("Iteration")
            axes.set_ylabel(METRIC_TITLES[metric])
            legend_above(figure, axes)
        return figure

    def document(self, first: int = 0) -> dict[str, Any]:
        """The comparison as plain values."""
        return {
            "kind": "compare",
            "scenario": self.scenario.name,
            "scenario_sha256": self.scenario.digest,
            "policies": list(self.policies),
            "seeds": list(self.seeds),
            "against": self.policies[0],
            "first_iteration": first,
            "rows": self.rows(first),
            "failures": list(self.failures),
            "environment": environment(),
            **({} if self.fidelity is None else {"fidelity": self.fidelity.document()}),
        }

    def save(self, folder: str | Path, document: dict[str, Any] | None = None) -> Path:
        """Write the comparison: a JSON summary, two tables, and one detailed run per policy."""
        prepare_to_save(folder, COMPARISON)
        target = Path(folder)
        for stale in {path.name for path in target.glob("runs/*")} - self.details.keys():
            RUN.remove_from(target / "runs" / stale)
        return write_record(folder, MARKER, document or self.document(), self._files())

    def _files(self) -> Iterator[tuple[str, bytes]]:
        yield SCENARIO, self.scenario.to_toml().encode()
        for name in ("iterations", "events"):
            yield f"{name}.parquet", frame_bytes(getattr(self, name))
        for policy, run in self.details.items():
            for name, content in with_marker(RUN_MARKER, run.provenance(), run.files()):
                yield f"runs/{policy}/{name}", content

    @classmethod
    def load(cls, folder: str | Path) -> Comparison:
        """Read what ``save`` wrote."""
        source = Path(folder)
        try:
            document = json.loads((source / MARKER).read_text("utf-8"))
            policies, seeds = tuple(document["policies"]), tuple(document["seeds"])
            record = Record.at(source, MARKER, document)
            record.check_seal()
            iterations, events = (
                filled(name, pl.read_parquet(record.read(f"{name}.parquet")))
                for name in ("iterations", "events")
            )
        except ThzSyncError:
            raise
        except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError) as error:
            reason = str(error).splitlines()[0]
            raise ThzSyncError(f"{source}: not a readable comparison ({reason})") from None
        details = {
            policy: Run.read(record.inner(f"runs/{policy}", RUN_MARKER))
            for policy in policies
            if f"runs/{policy}/{RUN_MARKER}" in document[FILES]
        }
        failures = tuple(document.get("failures", ()))
        told, scenario = document.get("fidelity"), read_scenario(record)
        fidelity = Certificate.of_document(told, str(source / MARKER)) if told else None
        return cls(scenario, policies, seeds, iterations, events, details, failures, fidelity)
