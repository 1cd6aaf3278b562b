"""What policies did over many iterations and seeds, as plain values for charts."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final

import numpy as np
import polars as pl

from thzsync.arrays import FloatArray
from thzsync.display.kinds import kind_look, ordered
from thzsync.display.labels import short
from thzsync.display.metrics import COMPLETION, COUNTED, ENERGY, REWARD, WALL, Metric
from thzsync.experiments.compare import Comparison
from thzsync.experiments.statistics import interval95
from thzsync.report.source import Results
from thzsync.simulation.results import BANDWIDTHS, by_collective

BINS: Final = 48
QUANTILES: Final = {"p05": 0.05, "p25": 0.25, "p50": 0.5, "p75": 0.75, "p95": 0.95}


def learning_curves(results: Results, comparison: Comparison) -> dict[str, Any]:
    """Mean per iteration with the half-width of its 95 % interval over seeds."""
    curves = curve_metrics(comparison)
    keys = [metric.key for metric in curves]
    series = {policy: _policy_curves(comparison, policy, keys) for policy in comparison.policies}
    return {
        "metrics": [metric.described() for metric in curves],
        "series": series,
        "first": results.first + 1,
        "published": {
            row["policy"]: {key: short(row.get(f"paper_{key}")) for key in keys}
            for row in results.rows
        },
    }


def curve_metrics(comparison: Comparison) -> tuple[Metric, Metric, Metric]:
    """Reward, time, and the energy that the reward counts; in the order of the paper's figures."""
    return REWARD, COMPLETION, COUNTED[comparison.scenario.reward.energy]


def _policy_curves(comparison: Comparison, policy: str, keys: list[str]) -> dict[str, Any]:
    frame = comparison.iterations.filter(pl.col("policy") == policy)
    # Several jobs have a row each: their mean is the seed's value, as in the tables' means.
    seeds = frame.group_by("iteration", "seed").agg(pl.col(keys).mean()).sort("iteration", "seed")
    grouped = seeds.group_by("iteration", maintain_order=True).agg(keys)
    curves: dict[str, Any] = {"iteration": [k + 1 for k in grouped["iteration"]]}
    for key in keys:
        means, halves = zip(
            *(interval95(values.to_numpy()) for values in grouped[key]), strict=True
        )
        curves[key] = {"mean": list(map(short, means)), "half": list(map(short, halves))}
    return curves


def delay_energy_plane(results: Results, comparison: Comparison) -> dict[str, Any]:
    """Every policy as a point of completion time [ms] and energy [J], and who is undominated."""
    _, time, energy = curve_metrics(comparison)
    keys = {"x": time.key, "y": energy.key}
    parts = {"": "", "half_": "ci95_", "paper_": "paper_"}
    points = []
    for row in results.rows:
        point: dict[str, Any] = {"policy": row["policy"]}
        point["cloud"] = _cloud(comparison, row["policy"], results.first, keys)
        for name, part in parts.items():
            point |= {f"{name}{axis}": short(row.get(f"{part}{key}")) for axis, key in keys.items()}
        points.append(point)
    oracle = results.document.get("oracle")
    return {
        "energy": energy.title,
        "points": points,
        "frontier": pareto([(p["x"], p["y"]) for p in points]),
        "oracle": oracle and {axis: short(oracle.get(key)) for axis, key in keys.items()},
    }


def pareto(points: list[tuple[float, float]]) -> list[int]:
    """Positions of the points that no other beats in both coordinates, from left to right."""
    order = sorted(range(len(points)), key=lambda k: points[k])
    frontier: list[int] = []
    for k in order:
        if not frontier or points[k][1] < points[frontier[-1]][1]:
            frontier.append(k)
    return frontier


def _cloud(
    comparison: Comparison, policy: str, first: int, keys: dict[str, str]
) -> dict[str, list[Any]]:
    """One small point per seed, or per iteration where there is only one seed."""
    unit = "seed" if len(comparison.seeds) > 1 else "iteration"
    frame = comparison.iterations.filter(
        (pl.col("policy") == policy) & (pl.col("iteration") >= first)
    )
    means = frame.group_by(unit).agg(pl.col(*keys.values()).mean()).sort(unit)
    return {axis: list(map(short, means[key])) for axis, key in keys.items()}


def distributions(comparison: Comparison, first: int) -> list[dict[str, Any]]:
    """Completion time of the events per collective type and policy [ms]."""
    events = comparison.events.filter(pl.col("iteration") >= first)
    panels = []
    for kind in ordered(events["kind"].unique()):
        chosen = events.filter(pl.col("kind") == kind)
        top = max(float(np.quantile(chosen["completion_ms"], 0.995)), 1e-9)
        times = {p: chosen.filter(pl.col("policy") == p) for p in comparison.policies}
        rows = [
            {"policy": policy, **_distribution(own["completion_ms"].to_numpy(), top)}
            for policy, own in times.items()
            if own.height
        ]
        title = kind_look(kind).label
        panels.append({"kind": kind, "title": title, "top": short(top), "rows": rows})
    return panels


def _distribution(values: FloatArray, top: float) -> dict[str, Any]:
    counts, _ = np.histogram(np.minimum(values, top), np.linspace(0.0, top, BINS + 1))
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
    seeds: dict[tuple[str, Any], list[dict[str, Any]]] = defaultdict(list)
    for (policy, _), part in events.group_by("policy", "seed", maintain_order=True):
        for row in by_collective(part):
            seeds[row["kind"], policy].append(row)
    return [
        {"kind": kind, "policy": policy, "events": sum(row["events"] for row in same)}
        | _means(same)
        for kind in ordered(events["kind"].unique())
        for policy in comparison.policies
        if (same := seeds[kind, policy])
    ]


def _means(of_seeds: list[dict[str, Any]]) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for key in ("completion_ms", *BANDWIDTHS):
        known = [row[key] for row in of_seeds if row[key] is not None]
        found[key], found[f"ci95_{key}"] = interval95(np.array(known)) if known else (None, None)
    return found


def fabric_split(comparison: Comparison, first: int) -> list[dict[str, Any]]:
    """Bytes and joules per iteration on each carrier, by policy and collective type."""
    columns = ("thz_bytes", "wired_bytes", "thz_j", "optical_j", "completion_ms")
    sent = comparison.scenario.reward.energy == "transmission"  # static energy is of no carrier
    metric, kind = (ENERGY, "energy") if sent else (WALL, "wall")
    joules = {f"{name}_j": pl.col(f"{name}_{kind}_j") for name in ("thz", "optical")}
    split = []
    for policy in comparison.policies:
        mine = comparison.events.filter(
            (pl.col("policy") == policy) & (pl.col("iteration") >= first)
        ).with_columns(**joules)
        iterations = mine.select("seed", "iteration").n_unique()
        sums = mine.group_by("kind").agg(pl.col(columns).sum() / iterations)
        rows = {row["kind"]: row for row in sums.to_dicts()}
        kinds = {kind: {c: short(rows[kind][c], 6) for c in columns} for kind in ordered(rows)}
        total = {c: sum(cell[c] or 0.0 for cell in kinds.values()) for c in columns}
        split.append({"policy": policy, "energy": metric.title, "kinds": kinds, "total": total})
    return split
