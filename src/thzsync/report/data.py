"""Everything that the report's charts draw, lowered from frames to plain values."""

from __future__ import annotations

from typing import Any, Final

from thzsync.display.kinds import kind_look, ordered
from thzsync.display.labels import METHOD_LABELS, POLICY_LABELS, short, styles
from thzsync.display.numbers import LADDERS
from thzsync.experiments.compare import Comparison
from thzsync.network import network_of
from thzsync.report.curves import delay_energy_plane, distributions, fabric_split, learning_curves
from thzsync.report.floor import floor_plan, lines
from thzsync.report.replay import replay
from thzsync.report.source import Results, Row
from thzsync.report.sweep import sweep_data
from thzsync.report.timeline import timeline
from thzsync.report.traffic import traffic


def report_data(results: Results) -> dict[str, Any]:
    """A JSON-able document; keys are missing where the results have nothing to show."""
    if results.sweep is not None:
        return sweep_data(results.sweep)
    data: dict[str, Any] = {"units": LADDERS}
    comparison = results.fabric
    if comparison is not None:
        data |= {
            "kinds": {
                k: kind_look(k)._asdict() for k in ordered(comparison.events["kind"].unique())
            },
            "policies": styles(POLICY_LABELS, comparison.policies),
            "seeds": len(comparison.seeds),
            "distributions": distributions(comparison, results.first),
            "split": fabric_split(comparison, results.first),
        }
        # A single point is no picture.
        if comparison.iterations["iteration"].n_unique() > 1:
            data["curves"] = learning_curves(results, comparison)
        if len(results.rows) > 1:
            data["plane"] = delay_energy_plane(results, comparison)
        if comparison.details:
            data["floor"] = floor_plan(comparison.scenario)
            data["closeups"] = closeups(comparison)
    if results.synthesis:
        data["synthesis"] = synthesis_panels(results.synthesis)
    if results.weights:
        data["weights"] = weight_rows(results.weights)
    return data


def closeups(comparison: Comparison) -> dict[str, Any]:
    """Traffic, timeline and replay of every policy's recorded iteration."""
    many, drawn = len(comparison.details), lines(network_of(comparison.scenario))
    return {
        policy: {
            "traffic": traffic(run, drawn),
            "timeline": timeline(run),
            "replay": replay(run, many, drawn),
        }
        for policy, run in comparison.details.items()
    }


_POINT: Final = {"y": "mean_ms", "half": "ci95_ms", "paper": "paper_ms", "bound": "bound_ms"}


def synthesis_panels(rows: list[Row]) -> list[dict[str, Any]]:
    """One panel per collective and straggler setting, with a series per method."""
    panels: dict[tuple[str, bool], list[Row]] = {}
    for row in rows:
        panels.setdefault((row["collective"], bool(row["stragglers"])), []).append(row)
    return [
        {
            "title": f"{kind_look(collective).label}, {'with' if late else 'no'} stragglers",
            "methods": styles(METHOD_LABELS, dict.fromkeys(row["method"] for row in members)),
            "points": [
                {"method": row["method"], "x": row["racks"]}
                | {name: short(row.get(key)) for name, key in _POINT.items()}
                for row in members
            ],
        }
        for (collective, late), members in sorted(panels.items())
    ]


def weight_rows(rows: list[Row]) -> list[dict[str, Any]]:
    """Completion time and energy per pair of weights."""
    parts = {"ours": "", "half": "ci95_", "paper": "paper_"}
    return [
        {"label": f"{row['time_weight']:g} / {row['energy_weight']:g}"}
        | {
            key: {name: short(row.get(f"{start}{key}")) for name, start in parts.items()}
            for key in ("completion_ms", "energy_j")
        }
        for row in rows
    ]
