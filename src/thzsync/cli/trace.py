"""``thzsync trace``: generate, import, export, show and check training traces."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from thzsync.cli.imports import export_file, import_files
from thzsync.cli.output import (
    JsonOption,
    ScenarioArgument,
    SeedOption,
    SetOption,
    emit,
    emit_lines,
    load_scenario,
    note,
    progress,
    table,
)
from thzsync.errors import ThzSyncError
from thzsync.version import __version__

if TYPE_CHECKING:
    from thzsync.workload.tracefile import Trace

trace_app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Generate, import, show and check training traces.",
)

trace_app.command("import")(import_files)
trace_app.command("export")(export_file)

TraceArgument = Annotated[Path, typer.Argument(metavar="FILE", help="Trace file.")]


@trace_app.command()
def generate(
    out: Annotated[Path, typer.Option(help="File to write, such as trace.jsonl.gz.")],
    scenario: ScenarioArgument = "paper",
    iteration: Annotated[int, typer.Option(min=0, help="Number of the iteration, from 0.")] = 0,
    seed: SeedOption = 0,
    changes: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write one iteration of a scenario's jobs as a trace file."""
    from thzsync.cli.trace_view import summarize
    from thzsync.streams import Streams
    from thzsync.topology import Topology
    from thzsync.workload import scenario_graph
    from thzsync.workload.tracefile import Trace, write_trace

    loaded = load_scenario(scenario, changes)
    topology = Topology(loaded.floor)
    with progress(f"generating {out}"):
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
    emit_lines({"file": str(out), **summarize(trace)}, as_json, [line])


@trace_app.command()
def show(
    file: TraceArgument,
    gantt: Annotated[
        Path | None, typer.Option(help="Draw the schedule into this .svg, .png or .pdf file.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Summarise a trace: bytes by kind and group, bus factors, and who sends how much to whom."""
    from thzsync.cli.trace_view import show_tables, summarize
    from thzsync.workload.tracefile import read_trace

    with progress(f"reading {file}"):
        trace = read_trace(file)
        document = summarize(trace)
        if gantt is not None:
            from thzsync.report.gantt import draw_gantt

            draw_gantt(trace.graph, gantt, title=str(trace.origin.get("scenario", file.name)))
            document["gantt"] = str(gantt)
    emit(document, as_json, lambda: show_tables(str(file), document, trace))
    if gantt is not None and not as_json:
        note(f"drew {gantt}")


@trace_app.command()
def check(
    file: TraceArgument,
    scenario: Annotated[
        str | None, typer.Option(help="Also check that its racks exist in this scenario.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check a trace file. The first error is named, and the exit status is 2."""
    from thzsync.workload.tracefile import read_trace

    trace = read_trace(file)
    if scenario is not None:
        _check_floor(file, trace, scenario)
    edges = int(trace.graph.indegree.sum())
    checked = {"nodes": len(trace.graph.nodes), "events": len(trace.graph.events), "edges": edges}
    document = {"file": str(file), "valid": True, "checked": checked}
    rows = list(checked.items())
    emit(document, as_json, lambda: table(f"{file}: no problem found", ("checked", "count"), rows))


def _check_floor(file: Path, trace: Trace, scenario: str) -> None:
    racks = load_scenario(scenario).floor.racks
    for node in trace.graph.nodes:
        highest = int(node.racks[-1])
        if highest >= racks:
            raise ThzSyncError(
                f"{file}: {node.name}: rack {highest} does not exist in scenario {scenario}; "
                f"its racks are 0..{racks - 1}; use a larger floor"
            )
