"""``thzsync trace``: generate, import, export, show and check training traces."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from thzsync.cli import output
from thzsync.display import quantity
from thzsync.errors import ThzSyncError
from thzsync.version import __version__

if TYPE_CHECKING:
    from thzsync.importers import Imported
    from thzsync.workload.tracefile import Trace

trace_app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Generate, import, show and check training traces.",
)

EXPORTS = ("chakra",)
TraceArgument = Annotated[Path, Argument(metavar="FILE", help="Trace file.")]


@trace_app.command()
def generate(
    out: Annotated[Path, Option(help="File to write, such as trace.jsonl.gz.")],
    scenario: output.ScenarioArgument = "paper",
    iteration: Annotated[int, Option(min=0, help="Number of the iteration, from 0.")] = 0,
    seed: output.SeedOption = 0,
    changes: output.SetOption = None,
    plugin: output.PluginOption = None,
    as_json: output.JsonOption = False,
) -> None:
    """Write one iteration of a scenario's jobs as a trace file."""
    from thzsync.cli.trace_view import summarize
    from thzsync.streams import Streams
    from thzsync.topology import Topology
    from thzsync.workload import scenario_graph
    from thzsync.workload.tracefile import Trace, write_trace

    loaded = output.load_scenario(scenario, changes, False, plugin)
    topology = Topology(loaded.floor)
    with output.progress(f"generating {out}"):
        graph = scenario_graph(loaded, topology, Streams(seed), iteration)
        origin = {
            "scenario": loaded.name,
            "digest": loaded.digest,
            "seed": seed,
            "iteration": iteration,
            "thzsync": __version__,
        }
        trace = Trace(graph, topology.racks, origin)
        write_trace(out, trace)
    counts = f"{len(graph.events)} events and {len(graph.computes)} compute tasks"
    line = f"wrote {out}: {counts}; look at it with `thzsync trace show {out}`"
    output.emit_lines({"file": str(out), **summarize(trace)}, as_json, [line])


@trace_app.command()
def show(
    file: TraceArgument,
    gantt: Annotated[
        Path | None, Option(help="Draw the schedule into this .svg, .png or .pdf file.")
    ] = None,
    plugin: output.PluginOption = None,
    as_json: output.JsonOption = False,
) -> None:
    """Summarise a trace: bytes by kind and group, bus factors, and who sends how much to whom."""
    from thzsync.cli.trace_view import show_tables, summarize
    from thzsync.workload.tracefile import read_trace

    output.load_plugins(plugin)
    with output.progress(f"reading {file}"):
        trace = read_trace(file)
        document = summarize(trace)
        if gantt is not None:
            from thzsync.report.gantt import draw_gantt

            draw_gantt(trace.graph, gantt, title=str(trace.origin.get("scenario", file.name)))
            document["gantt"] = str(gantt)
    output.emit(document, as_json, lambda: show_tables(str(file), document, trace))
    if gantt is not None and not as_json:
        output.note(f"drew {gantt}")


@trace_app.command()
def check(
    file: TraceArgument,
    scenario: Annotated[
        str | None, Option(help="Also check that its racks exist in this scenario.")
    ] = None,
    plugin: output.PluginOption = None,
    as_json: output.JsonOption = False,
) -> None:
    """Check a trace file. The first error is named, and the exit status is 2."""
    from thzsync.workload.tracefile import read_trace

    output.load_plugins(plugin)
    trace = read_trace(file)
    if scenario is not None:
        _check_floor(file, trace, scenario)
    edges = int(trace.graph.indegree.sum())
    checked = {"nodes": len(trace.graph.nodes), "events": len(trace.graph.events), "edges": edges}
    document = {"file": str(file), "valid": True, "checked": checked}
    rows = list(checked.items())
    output.emit(
        document,
        as_json,
        lambda: output.table(f"{file}: no problem found", ("checked", "count"), rows),
    )


def _check_floor(file: Path, trace: Trace, scenario: str) -> None:
    racks = output.load_scenario(scenario).floor.racks
    for node in trace.graph.nodes:
        highest = int(node.racks[-1])
        if highest >= racks:
            raise ThzSyncError(
                f"{file}: {node.name}: rack {highest} does not exist in scenario {scenario}; "
                f"its racks are 0..{racks - 1}; use a larger floor"
            )


@trace_app.command("import")
def import_files(
    files: Annotated[list[Path], Argument(metavar="FILE", help="Trace files of all ranks.")],
    out: Annotated[Path, Option(help="Trace file to write, such as job.trace.")],
    format: Annotated[
        str, Option(help="auto, chakra, kineto, timings, simai, or one that a package adds.")
    ] = "auto",
    ranks_per_rack: Annotated[int, Option(min=1, help="Consecutive ranks in one rack.")] = 1,
    stages: Annotated[
        int | None, Option(min=1, help="Pipeline stages: equal blocks of ranks, one per ring.")
    ] = None,
    lanes: Annotated[
        int | None, Option(min=1, help="With --stages: racks per ring of the floor.")
    ] = None,
    placement: Annotated[
        Path | None,
        Option(metavar="CSV", help="Table with columns rank and rack, instead of rules."),
    ] = None,
    groups: Annotated[
        Path | None, Option(metavar="JSON", help='Ranks of every group: {"name": [ranks]}.')
    ] = None,
    world: Annotated[
        int | None, Option(min=1, help="All ranks. One without a file repeats the lowest given.")
    ] = None,
    data_parallel: Annotated[
        int, Option(min=1, metavar="K", help="Multiply the data-parallel width by K.")
    ] = 1,
    groups_joined: Annotated[
        str, Option(metavar="NAMES", help="With --data-parallel: groups that grow.")
    ] = "",
    step: Annotated[int | None, Option(help="Step to import from a file with several.")] = None,
    element_bytes: Annotated[
        int | None, Option(min=1, max=16, help="Bytes per element, if sizes count elements.")
    ] = None,
    flops: Annotated[
        float | None, Option(min=1, help="Operations per second, if work counts operations.")
    ] = None,
    model: Annotated[
        str | None, Option(help="Model of the zoo for sizes that the trace lacks.")
    ] = None,
    p2p_bytes: Annotated[
        int | None, Option(min=1, help="Bytes between stages per micro-batch, if not recorded.")
    ] = None,
    gradient_bytes: Annotated[
        int | None, Option(min=1, help="Bytes of a stage's gradients, if not recorded.")
    ] = None,
    skip_empty: Annotated[
        bool, Option("--skip-empty", help="Skip collectives without bytes.")
    ] = False,
    plugin: output.PluginOption = None,
    as_json: output.JsonOption = False,
) -> None:
    """Turn a trace that another tool wrote into a trace file: `thzsync run --trace` replays it."""
    from thzsync.importers import Placement, ReadOptions, Rescaling, import_trace
    from thzsync.importers.importer import DEFAULT_FLOPS
    from thzsync.workload.tracefile import write_trace

    output.load_plugins(plugin)
    options = ReadOptions(
        groups, world, element_bytes, flops or DEFAULT_FLOPS, step, skip_empty, model, p2p_bytes,
        gradient_bytes,
    )  # fmt: skip
    joined = tuple(name.strip() for name in groups_joined.split(",") if name.strip())
    where = Placement(ranks_per_rack, stages, lanes, placement)
    with output.progress(f"importing {files[0]}"):
        imported = import_trace(files, format, options, where, Rescaling(data_parallel, joined))
        write_trace(out, imported.trace)
    document = _import_document(out, imported)
    output.emit_lines(document, as_json, _import_lines(document))


def _import_document(out: Path, imported: Imported) -> dict[str, Any]:
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


def _import_lines(document: dict[str, Any]) -> list[str]:
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


@trace_app.command("export")
def export_file(
    file: TraceArgument,
    out: Annotated[Path, Option(help="Folder for the files.", metavar="DIR")],
    format: Annotated[str, Option(help="Format: chakra.")] = "chakra",
    prefix: Annotated[str, Option(help="Files are called PREFIX.RACK.et.")] = "trace",
    force: Annotated[
        bool, Option("--force", help="Replace the files of an older trace of this prefix.")
    ] = False,
    plugin: output.PluginOption = None,
    as_json: output.JsonOption = False,
) -> None:
    """Write a trace in another tool's format; a rack becomes a rank."""
    from thzsync.importers.chakra import export_chakra
    from thzsync.workload.tracefile import read_trace

    output.load_plugins(plugin)
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
    output.emit_lines(document | {"lost_dependencies": exported.lost}, as_json, lines)
