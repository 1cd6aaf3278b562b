"""Pictures of the ablation, and of the plane of delay and energy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from thzsync.drawing import COLOURS, legend_above, look, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = dict[str, Any]

PANELS: Final = {
    "completion_ms": "Completion time [ms]",
    "energy_j": "Transmission energy [J]",
    "reward": "Reward",
}


def draw_ladder(document: Row) -> Figure:
    """Steps from the faithful implementation (left) to ours (right), ± 95 % with several seeds.

    A dashed line is what the paper reports for the learner of its colour.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with styled():
        figure = Figure(figsize=(9.6, 4.2), layout="constrained")
        FigureCanvasAgg(figure)
        panels = list(figure.subplots(1, len(PANELS)))
        for axes, (metric, title) in zip(panels, PANELS.items(), strict=True):
            _draw_rungs(axes, document, metric)
            axes.set_ylabel(title)
        legend_above(figure, panels[0])
    return figure


def _draw_rungs(axes: Axes, document: Row, metric: str) -> None:
    rungs = document["rungs"]
    for position, policy in enumerate(dict.fromkeys(row["policy"] for row in document["rows"])):
        rows = {row["rung"]: row for row in document["rows"] if row["policy"] == policy}
        mean = np.array([rows[rung][metric] for rung in rungs])
        half = np.array([rows[rung][f"ci95_{metric}"] for rung in rungs], dtype=np.float64)
        place = np.arange(len(rungs)) + 0.08 * (position - 1)
        style = look(position)
        axes.errorbar(place, mean, np.nan_to_num(half), label=policy, capsize=2, **style)
        paper = rows[rungs[0]].get(f"paper_{metric}")
        if paper is not None:
            axes.axhline(paper, color=style["color"], linestyle="--", linewidth=0.9)
    axes.set_xticks(np.arange(len(rungs)), rungs, rotation=40, ha="right", fontsize=7)


_SETS: Final = {
    "published": ("published", {"color": COLOURS[6], "marker": "o", "mfc": "none", "ls": "none"}),
    "paper": ("paper's mechanisms, ours", {"color": COLOURS[1], "marker": "s", "ls": "-"}),
    "beyond": ("mechanisms beyond", {"color": COLOURS[0], "marker": "D", "ls": "-"}),
}

NEAR: Final = {"completion_ms": 0.09, "energy_j": 0.07}
"""Shares of the plane's width and height within which names would overlap."""


def draw_plane(document: Row) -> Figure:
    """Energy against completion time; lower left is better."""
    with styled():
        figure, (axes,) = new_figure(1)
        drawn: list[Row] = []
        for config, (title, style) in _SETS.items():
            known = (row for row in document["rows"] if row["energy_j"] is not None)
            mine = [row for row in known if row["config"] == config]
            # Points that lie on no curve of weights stand alone.
            alone = [r for r in mine if config != "published" and r["time_weight"] is None]
            _draw(axes, [r for r in mine if r not in alone], title, style)
            loose = style | {"ls": "none"} | ({"marker": "x"} if config == "beyond" else {})
            _draw(axes, alone, None, loose)
            drawn += mine
        axes.set_xlabel("Sum of event completion times per iteration [ms], less is better")
        axes.set_ylabel("Transmission energy per iteration [J],\nless is better")
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        for neighbours in _neighbours(drawn):
            _name(axes, neighbours)
        legend_above(figure, axes)
    return figure


def _draw(axes: Axes, rows: list[Row], title: str | None, style: dict[str, Any]) -> None:
    if rows:
        axes.errorbar(
            [r["completion_ms"] for r in rows],
            [r["energy_j"] for r in rows],
            xerr=[r["ci95_completion_ms"] or 0.0 for r in rows],
            yerr=[r["ci95_energy_j"] or 0.0 for r in rows],
            label=title,
            markersize=5,
            linewidth=1.2,
            **style,
        )


def _neighbours(rows: list[Row]) -> list[list[Row]]:
    """Points so near to each other that their names would overlap."""
    far = {key: share * max(row[key] for row in rows) for key, share in NEAR.items()}
    groups: list[list[Row]] = []
    for row in rows:
        for group in groups:
            if all(abs(group[-1][key] - row[key]) < limit for key, limit in far.items()):
                group.append(row)
                break
        else:
            groups.append([row])
    return groups


def _name(axes: Axes, rows: list[Row]) -> None:
    """One text for all of them, beside the first."""
    first = rows[0]
    axes.annotate(
        "\n".join(dict.fromkeys(map(_told, rows))),
        (first["completion_ms"], first["energy_j"]),
        xytext=(6, 2),
        textcoords="offset points",
        fontsize=6.5,
        color="0.35",
        va="bottom" if first["energy_j"] < 2 else "center",
    )


def _told(row: Row) -> str:
    if row["time_weight"] is None:
        return str(row["policy"])
    whose = f"{row['policy']} " if row["config"] == "published" else ""
    return f"{whose}{row['time_weight']:g}/{row['energy_weight']:g}"
