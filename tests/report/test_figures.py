from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from thzsync.drawing import in_fitting_unit
from thzsync.report import Results
from thzsync.report.figures import write_figures


def test_each_published_figure_becomes_a_pdf_and_a_png(results: Results, tmp_path: Path) -> None:
    written = write_figures(results, tmp_path)
    names = {path.stem for path in written}
    curves = {f"{what}_vs_iteration" for what in ("reward", "completion", "energy")}
    assert names == curves | {"synthesis", "weights"}
    for path in written:
        opening = {".pdf": b"%PDF-", ".png": b"\x89PNG"}[path.suffix]
        assert path.read_bytes().startswith(opening)
        assert path.stat().st_size > 4000


def test_a_single_figure_draws_only_itself(results: Results, tmp_path: Path) -> None:
    alone = Results("weights", tmp_path, weights=results.weights)
    assert {path.name for path in write_figures(alone)} == {"weights.pdf", "weights.png"}
    first = (tmp_path / "figures" / "weights.pdf").read_bytes()
    write_figures(alone)
    assert (tmp_path / "figures" / "weights.pdf").read_bytes() == first


def test_an_axis_takes_the_unit_that_fits() -> None:
    figure = Figure()
    axes = figure.subplots()
    axes.plot([0, 1], [10_000.0, 62_920.0])
    in_fitting_unit(axes.yaxis, "Completion time", "ms")
    figure.draw_without_rendering()
    assert axes.get_ylabel() == "Completion time [s]"
    assert "60" in [label.get_text() for label in axes.get_yticklabels()]
