"""What ``thzsync trace show`` says about a trace: counts, volumes and a traffic matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType

from thzsync.cli import output
from thzsync.cli.output import table
from thzsync.workload.volumes import Volume, traffic_matrix, volumes

if TYPE_CHECKING:
    from thzsync.workload.tracefile import Trace

MOST_COLUMNS = 16
"""Racks beyond which a traffic matrix is too wide for a terminal."""
MOST_RACKS = 128
"""Racks beyond which it is not computed for JSON either."""


def summarize(trace: Trace) -> dict[str, Any]:
    """Counts, bytes and nominal lengths of a trace."""
    graph = trace.graph
    found = volumes(graph)
    kinds = {
        kind: {
            "events": len(events := [e for e in graph.events if e.kind == kind]),
            "payload_bytes": sum(e.payload_bytes for e in events),
            "largest_event_bytes": max((e.payload_bytes for e in events), default=0),
        }
        | _recorded_bandwidth(trace, kind, found)
        for kind in dict.fromkeys(e.kind for e in graph.events)
    }
    return {
        "racks": trace.rack_count,
        "jobs": sorted({node.job for node in graph.nodes}),
        "stages": len({(node.job, node.stage) for node in graph.computes}),
        "computes": len(graph.computes),
        "compute_s": sum(node.duration_s for node in graph.computes),
        "makespan_s": graph.critical_path_s(),
        "events": len(graph.events),
        "kinds": kinds,
        "groups": [_group(volume) for volume in found],
        "traffic_bytes": _traffic(trace),
        "origin": dict(trace.origin),
    }


def _recorded_bandwidth(trace: Trace, kind: str, found: list[Volume]) -> dict[str, float | None]:
    """What a collective reached when it was recorded, where the trace says how long it took."""
    timed = trace.origin.get("recorded_event_s")
    seconds = timed.get(kind) if isinstance(timed, dict) else None
    if not isinstance(seconds, (int, float)) or seconds <= 0:
        return {"recorded_algbw_gb_s": None, "recorded_busbw_gb_s": None}
    of_kind = [volume for volume in found if volume.kind == kind]
    return {
        "recorded_algbw_gb_s": sum(v.buffer_bytes for v in of_kind) / seconds * 1e-9,
        "recorded_busbw_gb_s": sum(v.bus_bytes for v in of_kind) / seconds * 1e-9,
    }


def _group(volume: Volume) -> dict[str, Any]:
    return {
        "kind": volume.kind,
        "racks": list(volume.racks),
        "events": volume.events,
        "payload_bytes": volume.payload_bytes,
        "algorithm_bytes": round(volume.buffer_bytes),
        "bus_bytes": round(volume.bus_bytes),
        "bus_factor": volume.bus_factor,
    }


def show_tables(title: str, document: dict[str, Any], trace: Trace) -> RenderableType:
    """Kinds, groups and, where it fits, who sends how much to whom."""
    parts: list[RenderableType] = [_kinds(title, document), "", _groups(document)]
    if document["traffic_bytes"] and trace.rack_count <= MOST_COLUMNS and document["events"]:
        parts += ["", _matrix(document["traffic_bytes"])]
    return Group(*parts)


def _kinds(title: str, document: dict[str, Any]) -> RenderableType:
    rows = []
    for kind, of in document["kinds"].items():
        sizes = [size_text(of[key]) for key in ("payload_bytes", "largest_event_bytes")]
        rates = [of["recorded_algbw_gb_s"], of["recorded_busbw_gb_s"]]
        rows.append([kind, of["events"], *sizes, *rates])
    columns = ["kind", "events", "payload", "largest event", "algbw [GB/s]", "busbw [GB/s]"]
    if all(row[-1] is None for row in rows):  # nothing was timed
        columns, rows = columns[:-2], [row[:-2] for row in rows]
    caption = (
        f"{document['racks']} racks, {document['stages']} stages, "
        f"{document['computes']} compute tasks; "
        f"{document['makespan_s'] * 1e3:.6g} ms with free communication"
    )
    return table(title, columns, rows, caption)


def _groups(document: dict[str, Any]) -> RenderableType:
    rows = []
    for group in document["groups"]:
        sizes = [size_text(group[key]) for key in ("algorithm_bytes", "bus_bytes")]
        racks = racks_text(group["racks"])
        rows.append([group["kind"], racks, group["events"], *sizes, group["bus_factor"]])
    columns = ("kind", "racks", "events", "algorithm bytes", "bus bytes", "bus factor")
    caption = "busbw = algbw x bus factor, as nccl-tests counts; algbw = algorithm bytes / time"
    return table("by collective and group", columns, rows, caption)


def _traffic(trace: Trace) -> list[list[int]] | None:
    if trace.rack_count > MOST_RACKS:
        return None
    return [[round(v) for v in row] for row in traffic_matrix(trace.graph, trace.rack_count)]


def _matrix(traffic: list[list[int]]) -> RenderableType:
    """Who sends how much to whom; a matrix with columns left out would say nothing."""
    unit, size = _unit(max(map(max, traffic)))
    cells = [[f"{value / size:.4g}" for value in row] for row in traffic]
    widest = max(len(cell) for row in cells for cell in row)
    if len(cells) * (max(widest, len("to 10")) + 3) + len("rack 10") + 3 > output.results().width:
        return "The traffic matrix needs a wider terminal; --json has it too."
    rows = [(f"rack {i}", *row) for i, row in enumerate(cells)]
    columns = ("from", *(f"to {j}" for j in range(len(cells))))
    caption = "what must pass at least; reductions are spread over the pairs of their group"
    return table(f"traffic matrix [{unit}]", columns, rows, caption)


def racks_text(racks: Sequence[int]) -> str:
    """Racks with runs shortened: ``0-3, 8``."""
    runs: list[list[int]] = []
    for rack in racks:
        if runs and rack == runs[-1][1] + 1:
            runs[-1][1] = rack
        else:
            runs.append([rack, rack])
    shown = [f"{a}-{b}" if b > a else str(a) for a, b in runs[:6]]
    return ", ".join(shown) + (", ..." if len(runs) > 6 else "")


def size_text(count: int) -> str:
    """Bytes in a unit that fits."""
    unit, size = _unit(count)
    return f"{count / size:.4g} {unit}" if size > 1 else f"{count} B"


def _unit(count: float) -> tuple[str, int]:
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= size:
            return unit, size
    return "B", 1
