"""The plane of delay and energy as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from thzsync.drawing import COLOURS, legend_above, new_figure, save_picture, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = dict[str, Any]

_SETS: Final = {
    "published": ("published", {"color": COLOURS[6], "marker": "o", "mfc": "none", "ls": "none"}),
    "paper": ("paper's mechanisms, ours", {"color": COLOURS[1], "marker": "s", "ls": "-"}),
    "beyond": ("mechanisms beyond", {"color": COLOURS[0], "marker": "D", "ls": "-"}),
}


def save_plane(rows: list[Row], folder: Path) -> list[Path]:
    """The picture for screens and for papers."""
    figure = draw_plane(rows)
    return [save_picture(figure, folder / f"beyond.{suffix}") for suffix in ("svg", "png", "pdf")]


def draw_plane(rows: list[Row]) -> Figure:
    """Energy against completion time; lower left is better."""
    with styled():
        figure, (axes,) = new_figure(1)
        for config, (title, style) in _SETS.items():
            mine = [r for r in rows if r["config"] == config and r["energy_j"] is not None]
            _draw(axes, [r for r in mine if _joined(r)], title, style)
            loose = {
                **style,
                "ls": "none",
                "marker": "x" if config == "beyond" else style["marker"],
            }
            _draw(axes, [r for r in mine if not _joined(r)], None, loose)
            for row in mine:
                _name(axes, row)
        axes.set_xlabel("Sum of event completion times per iteration [ms], less is better")
        axes.set_ylabel("Energy per iteration [J],\nless is better")
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        legend_above(figure, axes)
    return figure


def _joined(row: Row) -> bool:
    """Whether a point lies on a curve of weights."""
    return row["config"] == "published" or row["time_weight"] is not None


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


def _name(axes: Axes, row: Row) -> None:
    if row["time_weight"] is not None and row["config"] != "published":
        text = f"{row['time_weight']:g}/{row['energy_weight']:g}"
    elif row["time_weight"] is None:
        text = row["policy"]
    else:
        return
    axes.annotate(
        text, (row["completion_ms"], row["energy_j"]), xytext=(4, 4), textcoords="offset points",
        fontsize=6.5, color="0.35",
    )  # fmt: skip
