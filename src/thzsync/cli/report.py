"""``thzsync report``: a result directory as one HTML file, paper-style figures and a timeline."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from thzsync.cli.output import JsonOption, PluginOption, emit_lines, load_plugins, progress
from thzsync.errors import ThzSyncError


def report(
    folder: Annotated[
        Path, Argument(metavar="DIR", help="A folder that one of our commands wrote with --out.")
    ],
    out: Annotated[
        Path | None, Option(help="HTML file to write. Default: DIR/report.html.")
    ] = None,
    figures: Annotated[
        bool, Option("--figures", help="Also draw figures as DIR/figures/*.pdf and *.png.")
    ] = False,
    perfetto: Annotated[
        Path | None, Option(metavar="FILE.json.gz", help="Also write a timeline for Perfetto.")
    ] = None,
    policy: Annotated[
        str | None, Option(help="With --perfetto: policy of the timeline. Default: the first.")
    ] = None,
    plugin: PluginOption = None,
    as_json: JsonOption = False,
) -> None:
    """Turn a result directory into one self-contained HTML file."""
    from thzsync.report import open_results, write_report

    if policy is not None and perfetto is None:
        raise ThzSyncError(
            "--policy: picks the timeline of --perfetto; add --perfetto FILE.json.gz"
        )
    load_plugins(plugin)
    with progress("report") as advance:
        results = open_results(folder)
        advance(0, "drawing the report")
        try:
            document: dict[str, object] = {"report": str(write_report(results, out))}
            if figures:
                from thzsync.report.figures import write_figures

                advance(0, "drawing figures")
                document["figures"] = [str(path) for path in write_figures(results)]
            if perfetto is not None:
                from thzsync.report.perfetto import write_perfetto

                advance(0, "writing the timeline")
                document["perfetto"] = str(write_perfetto(results, perfetto, policy))
        except OSError as error:
            place = error.filename or out or folder
            raise ThzSyncError(f"{place}: cannot be written ({error.strerror})") from None
    drawn = document.get("figures", [])
    assert isinstance(drawn, list)
    written = [document[key] for key in ("report", "perfetto") if key in document]
    emit_lines(document, as_json, (f"wrote {path}" for path in (*written, *drawn)))
