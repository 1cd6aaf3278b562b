"""How our Matplotlib pictures look and are written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from thzsync.display.numbers import fitting_unit, number
from thzsync.errors import ThzSyncError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
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
    "pdf.fonttype": 42,
}
_UNDATED: Final = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}


@contextmanager
def styled() -> Iterator[None]:
    """Draw with our settings and leave the caller's as they are."""
    import matplotlib as mpl

    with mpl.rc_context(SETTINGS):  # type: ignore[arg-type]
        yield


def blank(
    rows: int, columns: int, size: tuple[float, float], **shared: Any
) -> tuple[Figure, list[Axes]]:
    """A figure [inches] and its axes, row by row."""
    # No pyplot: it would pick a window system and keep every figure alive.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure, list(figure.subplots(rows, columns, squeeze=False, **shared).ravel())


def new_figure(panels: int, columns: int = 3, share_x: bool = True) -> tuple[Figure, list[Axes]]:
    """A figure with panels side by side that share the vertical scale, and the other one."""
    across = min(panels, columns)
    down = -(-panels // across)
    size = (5.2 if across == 1 else 3.0 * across + 0.8, 2.6 * down + 0.8)
    figure, axes = blank(down, across, size, sharex=share_x, sharey=True)
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


def in_fitting_unit(axis: Axis, title: str, unit: str) -> None:
    """Name an axis, and let its ticks read in the unit that fits their size."""
    low, high = axis.get_view_interval()
    name, factor = fitting_unit(unit, max(abs(low), abs(high)))
    axis.set_label_text(f"{title} [{name}]" if name else title)
    if factor != 1.0:
        axis.set_major_formatter(lambda value, _: number(value * factor))


def save_drawing(draw: Callable[[], Figure], path: str | Path, suffixes: Sequence[str]) -> Path:
    """Draw into the file that a user named, in our style."""
    file = Path(path)
    if file.suffix.lower() not in suffixes:
        found = file.suffix or "nameless"
        remedy = f"end the name in {', '.join(suffixes)}"
        raise ThzSyncError(f"{path}: cannot draw a {found} file; {remedy}")
    try:
        with styled():
            return _write(draw(), file)
    except OSError as error:
        raise ThzSyncError(f"{path}: cannot be written ({error.strerror})") from None


def save_picture(figure: Figure, path: Path, dpi: int = 150) -> Path:
    """Write a figure in our style, into a folder that is made if necessary."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with styled():
        return _write(figure, path, dpi)


def _write(figure: Figure, path: Path, dpi: int = 150) -> Path:
    # No date inside: equal results give equal files.
    figure.savefig(path, dpi=dpi, metadata=_UNDATED.get(path.suffix.lower()))
    return path
