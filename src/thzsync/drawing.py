"""How our Matplotlib pictures look; knows nothing of the domain."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from thzsync.errors import ThzSyncError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS: Final = (
    "#0072b2",  # Okabe and Ito's palette: told apart with every kind of colour vision
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#7f7f7f",
    "#8c6d31",
)
MARKERS: Final = ("o", "s", "D", "^", "v", "*", "h", "P")
SETTINGS: Final = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "svg.fonttype": "none",
    "svg.hashsalt": "thzsync",  # equal results give equal files
}


@contextmanager
def styled() -> Iterator[None]:
    """Draw with our settings and leave the caller's as they are."""
    import matplotlib as mpl

    with mpl.rc_context(SETTINGS):  # type: ignore[arg-type]
        yield


def new_figure(panels: int, columns: int = 3, share_x: bool = True) -> tuple[Figure, list[Axes]]:
    """A figure with panels side by side that share the vertical scale, and the other one."""
    # No pyplot: it would pick a window system and keep every figure alive.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    across = min(panels, columns)
    down = -(-panels // across)
    width = 5.2 if across == 1 else 3.0 * across + 0.8
    figure = Figure(figsize=(width, 2.6 * down + 0.8), layout="constrained")
    FigureCanvasAgg(figure)
    axes = list(figure.subplots(down, across, squeeze=False, sharex=share_x, sharey=True).ravel())
    for spare in axes[panels:]:
        spare.remove()
    return figure, axes[:panels]


def look(position: int) -> dict[str, Any]:
    """Colour and marker of the curve at a position."""
    return {
        "color": COLOURS[position % len(COLOURS)],
        "marker": MARKERS[position % len(MARKERS)],
        "markersize": 4,
        "linewidth": 1.4,
    }


def legend_above(figure: Figure, axes: Axes) -> None:
    """One legend for all panels, above them."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False)


def save_drawing(draw: Callable[[], Figure], path: str | Path, suffixes: Sequence[str]) -> Path:
    """Draw into the file that a user named; equal content gives equal files."""
    file = Path(path)
    if file.suffix.lower() not in suffixes:
        found = file.suffix or "nameless"
        remedy = f"end the name in {', '.join(suffixes)}"
        raise ThzSyncError(f"{path}: cannot draw a {found} file; {remedy}")
    undated = {"Date": None} if file.suffix.lower() == ".svg" else None
    try:
        draw().savefig(file, dpi=150, metadata=undated)
    except OSError as error:
        raise ThzSyncError(f"{path}: cannot be written ({error.strerror})") from None
    return file


def save_picture(figure: Figure, path: Path) -> Path:
    """Write a figure; no date inside, so that equal results give equal files."""
    path.parent.mkdir(parents=True, exist_ok=True)
    extra: dict[str, Any] = {"metadata": {"Date": None}} if path.suffix == ".svg" else {}
    with styled():
        figure.savefig(path, dpi=150, **extra)
    return path
