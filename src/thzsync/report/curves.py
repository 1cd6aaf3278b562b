"""What policies did over many iterations and seeds, as plain values for charts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from thzsync.display.kinds import kind_look, ordered
from thzsync.display.labels import short
from thzsync.display.metrics import COMPLETION, ENERGY, REWARD
from thzsync.experiments.statistics import interval95
from thzsync.report.source import Results
from thzsync.simulation.results import BANDWIDTHS, by_collective

if TYPE_CHECKING:
    from thzsync.experiments.compare import Comparison

CURVES: Final = (REWARD, COMPLETION, ENERGY)
"""In the order of the paper's figures."""
BINS: Final = 48
QUANTILES: Final = {"p05": 0.05, "p25": 0.25, "p50": 0.5, "p75": 0.75, "p95": 0.95}


def learning_curves(results: Results, comparison: Comparison) -> dict[str, Any]:
    """Mean per iteration with the half-width of its 95 % interval over seeds."""
    series = {policy: _policy_curves(comparison, policy) for policy in comparison.policies}
    return {
        "metrics": [metric.described() for metric in CURVES],
        "series": series,
        "first": results.first + 1,
        "published": {
            row["policy"]: {m.key: short(row.get(f"paper_{m.key}")) for m in CURVES}
            for row in results.rows
        },
    }


def _policy_curves(comparison: Comparison, policy: str) -> dict[str, Any]:
    frame = comparison.iterations.filter(pl.col("policy") == policy)
    # Several jobs have a row each: their mean is the seed's value, as in the tables' means.
    seeds = frame.group_by("seed", "iteration").agg(pl.col(m.key).mean() for m in CURVES)
    grouped = (
        seeds.sort("iteration", "seed").group_by("iteration", maintain_order=True).agg(pl.all())
    )
    curves: dict[str, Any] = {"iteration": [k + 1 for k in grouped["iteration"].to_list()]}
    for metric in CURVES:
        pairs = [interval95(np.asarray(values)) for values in grouped[metric.key].to_list()]
        curves[metric.key] = {
            "mean": [short(mean) for mean, _ in pairs],
            "half": [short(half) for _, half in pairs],
        }
    return curves


def delay_energy_plane(results: Results, comparison: Comparison) -> dict[str, Any]:
    """Every policy as a point of completion time [ms] and energy [J], and who is undominated."""
    axes = {"x": COMPLETION.key, "y": ENERGY.key}
    parts = {"": "", "half_": "ci95_", "paper_": "paper_"}
    places = [
        (f"{name}{x}", f"{part}{key}") for name, part in parts.items() for x, key in axes.items()
    ]
    points = [
        {"policy": row["policy"], "cloud": _cloud(comparison, row["policy"], results.first)}
        | {name: short(row.get(key)) for name, key in places}
        for row in results.rows
    ]
    oracle = results.document.get("oracle")
    return {
        "points": points,
        "frontier": pareto([(p["x"], p["y"]) for p in points]),
        "oracle": oracle and {"x": short(oracle["completion_ms"]), "y": short(oracle["energy_j"])},
    }


def pareto(points: list[tuple[float, float]]) -> list[int]:
    """Positions of the points that no other beats in both coordinates, from left to right."""
    order = sorted(range(len(points)), key=lambda k: points[k])
    frontier: list[int] = []
    for k in order:
        if not frontier or points[k][1] < points[frontier[-1]][1]:
            frontier.append(k)
    return frontier


def _cloud(comparison: Comparison, policy: str, first: int) -> dict[str, list[Any]]:
    """One small point per seed, or per iteration where there is only one seed."""
    unit = "seed" if len(comparison.seeds) > 1 else "iteration"
    frame = comparison.iterations.filter(
        (pl.col("policy") == policy) & (pl.col("iteration") >= first)
    )
    means = frame.group_by(unit).agg(pl.col("completion_ms", "energy_j").mean()).sort(unit)
    return {
        "x": [short(x) for x in means["completion_ms"]],
        "y": [short(y) for y in means["energy_j"]],
    }


def distributions(comparison: Comparison, first: int) -> list[dict[str, Any]]:
    """Completion time of the events per collective type and policy [ms]."""
    events = comparison.events.filter(pl.col("iteration") >= first)
    panels = []
    for kind in ordered(events["kind"].unique()):
        chosen = events.filter(pl.col("kind") == kind)
        pooled = chosen["completion_ms"].to_numpy()
        edges = np.linspace(0.0, max(float(np.quantile(pooled, 0.995)), 1e-9), BINS + 1)
        rows = [
            {"policy": policy, **_distribution(values, edges)}
            for policy in comparison.policies
            if len(values := chosen.filter(pl.col("policy") == policy)["completion_ms"].to_numpy())
        ]
        panels.append(
            {"kind": kind, "title": kind_look(kind).label, "top": short(edges[-1]), "rows": rows}
        )
    return panels


def _distribution(values: np.ndarray[Any, Any], edges: np.ndarray[Any, Any]) -> dict[str, Any]:
    counts, _ = np.histogram(np.minimum(values, edges[-1]), edges)
    return {
        "count": len(values),
        "mean": short(values.mean()),
        "quantiles": {name: short(np.quantile(values, q)) for name, q in QUANTILES.items()},
        "greatest": short(values.max()),
        "density": [short(c, 3) for c in counts / max(1, counts.max())],
    }


def collective_rows(comparison: Comparison, first: int) -> list[dict[str, Any]]:
    """Time and bandwidth per collective type and policy, with 95 % intervals over seeds.

    A comparison that was written before bandwidths were kept has none.
    """
    events = comparison.events.filter(pl.col("iteration") >= first)
    if not set(BANDWIDTHS) <= set(events.columns):
        return []
    of_seeds = [
        {"policy": policy, **row}
        for (policy, _), part in events.group_by("policy", "seed", maintain_order=True)
        for row in by_collective(part)
    ]
    rows = []
    for kind in ordered(events["kind"].unique()):
        for policy in comparison.policies:
            same = [r for r in of_seeds if (r["policy"], r["kind"]) == (policy, kind)]
            if same:
                total = sum(row["events"] for row in same)
                rows.append({"kind": kind, "policy": policy, "events": total, **_means(same)})
    return rows


def _means(of_seeds: list[dict[str, Any]]) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for key in ("completion_ms", *BANDWIDTHS):
        known = [row[key] for row in of_seeds if row[key] is not None]
        pair = interval95(np.array(known)) if known else (None, None)
        found[key], found[f"ci95_{key}"] = pair
    return found


def fabric_split(comparison: Comparison, first: int) -> list[dict[str, Any]]:
    """Bytes and joules per iteration on each fabric, by policy and collective type."""
    columns = ("thz_bytes", "wired_bytes", "thz_energy_j", "optical_energy_j", "completion_ms")
    chosen = comparison.events.filter(pl.col("iteration") >= first)
    runs = chosen.group_by("policy").agg(
        pl.struct("seed", "iteration").n_unique().alias("iterations")
    )
    sums = chosen.group_by("policy", "kind").agg(pl.col(c).sum() for c in columns)
    joined = sums.join(runs, on="policy")
    kinds = ordered(chosen["kind"].unique())
    split = []
    for policy in comparison.policies:
        rows = {r["kind"]: r for r in joined.filter(pl.col("policy") == policy).to_dicts()}
        by_kind = {
            kind: {c: short(rows[kind][c] / rows[kind]["iterations"], 6) for c in columns}
            for kind in kinds
            if kind in rows
        }
        total = {c: sum(cell[c] or 0.0 for cell in by_kind.values()) for c in columns}
        split.append({"policy": policy, "kinds": by_kind, "total": total})
    return split
