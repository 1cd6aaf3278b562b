"""Figures, tables, the HTML report and the timeline of a result directory."""

from __future__ import annotations

from pathlib import Path

from thzsync.report.source import Results, open_results

__all__ = ["Results", "open_results", "write_report"]


def write_report(results: Results, out: str | Path | None = None) -> Path:
    """Write one self-contained HTML file, beside the results unless told otherwise."""
    from thzsync.files import write_atomically
    from thzsync.report.data import report_data
    from thzsync.report.html import render

    target = results.folder / "report.html" if out is None else Path(out)
    write_atomically(target, render(results, report_data(results)).encode())
    return target
