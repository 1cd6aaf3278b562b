"""``thzsync trace import`` and ``export``: traces of other tools, in and out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thzsync.cli.output import JsonOption, emit_lines, progress
from thzsync.display import quantity
from thzsync.errors import ThzSyncError

if TYPE_CHECKING:
    from thzsync.importers import Imported

EXPORTS = ("chakra",)


def import_files(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Trace files of all ranks.")],
    out: Annotated[Path, typer.Option(help="Trace file to write, such as job.trace.")],
    format: Annotated[
        str, typer.Option(help="auto, chakra, kineto, timings, simai, or one that a package adds.")
    ] = "auto",
    ranks_per_rack: Annotated[int, typer.Option(min=1, help="Consecutive ranks in one rack.")] = 1,
    stages: Annotated[
        int | None,
        typer.Option(min=1, help="Pipeline stages: equal blocks of ranks, one per ring."),
    ] = None,
    lanes: Annotated[
        int | None, typer.Option(min=1, help="With --stages: racks per ring of the floor.")
    ] = None,
    placement: Annotated[
        Path | None,
        typer.Option(metavar="CSV", help="Table with columns rank and rack, instead of rules."),
    ] = None,
    groups: Annotated[
        Path | None, typer.Option(metavar="JSON", help='Ranks of every group: {"name": [ranks]}.')
    ] = None,
    world: Annotated[
        int | None,
        typer.Option(min=1, help="All ranks. One without a file repeats the lowest given."),
    ] = None,
    data_parallel: Annotated[
        int, typer.Option(min=1, metavar="K", help="Multiply the data-parallel width by K.")
    ] = 1,
    groups_joined: Annotated[
        str, typer.Option(metavar="NAMES", help="With --data-parallel: groups that grow.")
    ] = "",
    step: Annotated[
        int | None, typer.Option(help="Step to import from a file with several.")
    ] = None,
    element_bytes: Annotated[
        int | None, typer.Option(min=1, max=16, help="Bytes per element, if sizes count elements.")
    ] = None,
    flops: Annotated[
        float | None, typer.Option(min=1, help="Operations per second, if work counts operations.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Model of the zoo for sizes that the trace lacks.")
    ] = None,
    p2p_bytes: Annotated[
        int | None,
        typer.Option(min=1, help="Bytes between stages per micro-batch, if not recorded."),
    ] = None,
    gradient_bytes: Annotated[
        int | None, typer.Option(min=1, help="Bytes of a stage's gradients, if not recorded.")
    ] = None,
    skip_empty: Annotated[
        bool, typer.Option("--skip-empty", help="Skip collectives without bytes.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Turn a trace that another tool wrote into a trace file: `thzsync run --trace` replays it."""
    from thzsync.importers import Placement, ReadOptions, Rescaling, import_trace
    from thzsync.importers.importer import DEFAULT_FLOPS
    from thzsync.workload.tracefile import write_trace

    options = ReadOptions(
        groups, world, element_bytes, flops or DEFAULT_FLOPS, step, skip_empty, model, p2p_bytes,
        gradient_bytes,
    )  # fmt: skip
    joined = tuple(name.strip() for name in groups_joined.split(",") if name.strip())
    where = Placement(ranks_per_rack, stages, lanes, placement)
    with progress(f"importing {files[0]}"):
        imported = import_trace(files, format, options, where, Rescaling(data_parallel, joined))
        write_trace(out, imported.trace)
    document = _document(out, imported)
    emit_lines(document, as_json, _lines(document))


def _document(out: Path, imported: Imported) -> dict[str, Any]:
    graph = imported.trace.graph
    return {
        "file": str(out),
        "format": imported.trace.origin["format"],
        "ranks": imported.trace.origin["ranks"],
        "racks": imported.trace.rack_count,
        "events": len(graph.events),
        "computes": len(graph.computes),
        "in_rack_events": imported.dropped.events,
        "in_rack_bytes": imported.dropped.in_rack_bytes,
        "passed_over": dict(imported.passed_over),
        "recorded_s": imported.recorded_s,
        "replayed_s": imported.replayed_s if imported.event_s else None,
    }


def _lines(document: dict[str, Any]) -> list[str]:
    from thzsync.cli.trace_view import size_text

    lines = [
        f"wrote {document['file']}: {document['events']} events and {document['computes']} compute "
        f"tasks of {document['ranks']} ranks in {document['racks']} racks ({document['format']})"
    ]
    if document["in_rack_bytes"]:
        lines.append(
            f"{size_text(document['in_rack_bytes'])} stay inside racks and were dropped, with them "
            f"{document['in_rack_events']} whole events"
        )
    lines += [f"passed over: {count} {what}" for what, count in document["passed_over"].items()]
    if document["replayed_s"] is not None and document["recorded_s"]:
        change = document["replayed_s"] / document["recorded_s"] - 1
        recorded, replayed = (
            quantity(document[key] * 1e3, "ms") for key in ("recorded_s", "replayed_s")
        )
        lines.append(
            f"recorded in {recorded}; with communication as recorded, the graph takes {replayed} "
            f"({change:+z.1%})"
        )
    return lines


def export_file(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Trace file.")],
    out: Annotated[Path, typer.Option(help="Folder for the files.", metavar="DIR")],
    format: Annotated[str, typer.Option(help="Format: chakra.")] = "chakra",
    prefix: Annotated[str, typer.Option(help="Files are called PREFIX.RACK.et.")] = "trace",
    force: Annotated[
        bool, typer.Option("--force", help="Replace the files of an older trace of this prefix.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Write a trace in another tool's format; a rack becomes a rank."""
    from thzsync.importers.chakra import export_chakra
    from thzsync.workload.tracefile import read_trace

    if format not in EXPORTS:
        raise ThzSyncError(f"--format: cannot write {format!r}; use one of {', '.join(EXPORTS)}")
    if "/" in prefix or "." in prefix or not prefix:
        raise ThzSyncError(f"--prefix: found {prefix!r}; use letters, digits, - and _")
    exported = export_chakra(read_trace(file).graph, prefix)
    exported.write(out, force)
    lines = [f"wrote {len(exported.files)} files to {out}"]
    if exported.lost:
        lost = f"{exported.lost} dependencies join nodes that share no rack"
        lines.append(f"{lost}; the format has none such")
    document = {"folder": str(out), "files": sorted(exported.files)}
    emit_lines(document | {"lost_dependencies": exported.lost}, as_json, lines)
