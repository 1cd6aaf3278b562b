"""`thzsync synthesize`: one collective alone on THz."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from thzsync.cli import output
from thzsync.display import quantity

if TYPE_CHECKING:
    from thzsync.experiments.single_ring import Instance
    from thzsync.transfers import Schedule

ROUND_COLUMNS = ("round", "start_ms", "duration_ms", "links", "mib", "power_w", "busiest_rack_w")
MOST_ROWS = 40


def synthesize(
    collective: Annotated[
        str,
        Argument(
            metavar="COLLECTIVE",
            help="p2p, a2a, allreduce, all-gather, reduce-scatter, broadcast, reduce, gather, "
            "scatter, barrier, or one that a package registers.",
        ),
    ],
    racks: Annotated[int, Option(min=2, help="Number of racks that take part.")] = 12,
    method: Annotated[
        str, Option(help="Synthesis method. A wrong name lists all methods.")
    ] = "proposed",
    stragglers: Annotated[
        bool, Option("--stragglers", help="Delay max(1, N/8) racks by 50 to 100 ms.")
    ] = False,
    size: Annotated[
        str | None,
        Option(
            metavar="BYTES",
            help='Size such as "64 MiB": of the tensor; in All-to-All of what a rack sends; in '
            "P2P of a flow.",
        ),
    ] = None,
    seed: output.SeedOption = 0,
    scenario: Annotated[
        str, Option(metavar="SCENARIO", help="A scenario file or a preset's name.")
    ] = "single-ring",
    changes: output.SetOption = None,
    plugin: output.PluginOption = None,
    fibre: Annotated[
        bool, Option("--fibre", help="Carry it out on the scenario's fibre instead of THz.")
    ] = False,
    draw: Annotated[
        str | None, Option(metavar="FILE", help="Draw the rounds into this .svg or .png file.")
    ] = None,
    json: output.JsonOption = False,
) -> None:
    """Schedule one collective on THz: its rounds, its time, and the bound that none can beat.

    With --fibre: its time on the fibre, the bound, and the links that set it.
    """
    from thzsync.collectives import find_collective
    from thzsync.errors import ThzSyncError
    from thzsync.experiments.single_ring import Instance
    from thzsync.feasibility import check_collective
    from thzsync.scenario.base import read_bytes
    from thzsync.synthesis import find_method

    setting = output.load_scenario(scenario, changes, False, plugin)
    find_collective(collective)
    find_method(collective, method)
    size_bytes = None if size is None else read_bytes(size, "--size")
    if size_bytes is not None:
        check_collective(setting, racks, size_bytes)
    instance = Instance(setting, collective, racks, stragglers, seed, size_bytes)
    if fibre:
        if draw is not None:
            raise ThzSyncError("--draw: there are no rounds on fibre; leave out --draw or --fibre")
        _on_fibre(instance, method, json)
        return
    with output.progress(f"{collective} {method}"):
        schedule = instance.run(method)
        bound_ms = instance.bound_ms(method)
        changing = instance.gains_change(schedule.completion_ps)
    if draw is not None:
        from thzsync.report.rounds import draw_rounds

        output.note(f"rounds drawn to {draw_rounds(schedule, instance.topology, draw)}")
    document = _document(instance, schedule, bound_ms, changing)
    output.emit(document, json, lambda: _table(document))


def _on_fibre(instance: Instance, method: str, json: bool) -> None:
    with output.progress(f"{instance.kind} {method}"):
        completion_ms, bound = instance.run_on_fibre(method), instance.fibre_bound()
    bound_ms = 1e3 * bound.time_s
    document = _headline(instance, method, completion_ms, bound_ms) | {
        "carrier": "fibre",
        "bound_by": bound.where,
    }

    def told() -> str:
        return (
            f"{_title(document)}: {completion_ms:.3f} ms on fibre{_distance(document)} "
            f"({bound.where})"
        )

    output.emit(document, json, told)


def _headline(
    instance: Instance, method: str, completion_ms: float, bound_ms: float, comparable: bool = True
) -> dict[str, Any]:
    return {
        "collective": instance.kind,
        "method": method,
        "racks": instance.racks,
        "stragglers": instance.stragglers,
        "seed": instance.seed,
        "completion_ms": completion_ms,
        "bound_ms": bound_ms,
        "times_bound": completion_ms / bound_ms if comparable and bound_ms > 0 else None,
    }


def _document(
    instance: Instance, schedule: Schedule, bound_ms: float, changing: bool
) -> dict[str, Any]:
    """What is printed; ``changing`` gains may let a schedule end before the bound of the first."""
    from thzsync.experiments.single_ring import round_rows

    rounds = round_rows(schedule)
    completion_ms = schedule.completion_ps / 1e9
    comparable = not (changing and completion_ms < bound_ms)
    method = schedule.plan.method
    return _headline(instance, method, completion_ms, bound_ms, comparable) | {
        "gains_change": changing,
        "energy_j": sum(row["energy_j"] for row in rounds),
        "rounds": rounds,
    }


def _table(document: dict[str, Any]) -> Any:
    rounds = document["rounds"]
    rows: list[list[Any]] = [[row[name] for name in ROUND_COLUMNS] for row in rounds]
    if len(rows) > MOST_ROWS:
        left_out = ["..."] + [None] * (len(ROUND_COLUMNS) - 1)
        rows = [*rows[: MOST_ROWS // 2], left_out, *rows[-MOST_ROWS // 2 :]]
    title = f"{_title(document)}: {document['completion_ms']:.3f} ms in {len(rounds)} rounds"
    done = f"done after {document['completion_ms']:.3f} ms{_distance(document)}"
    caption = f"{done}; {quantity(document['energy_j'], 'J', 3)} sent"
    return output.table(title, ROUND_COLUMNS, rows, caption)


def _title(document: dict[str, Any]) -> str:
    stragglers = ", stragglers" if document["stragglers"] else ""
    return (
        f"{document['collective']} {document['method']}, {document['racks']} racks{stragglers}, "
        f"seed {document['seed']}"
    )


def _distance(document: dict[str, Any]) -> str:
    """How far a schedule is from its bound, which is one for the gains at its start."""
    ratio, bound_ms = document["times_bound"], document["bound_ms"]
    if ratio is None and bound_ms > 0:
        when = f"before {bound_ms:.3f} ms" if math.isfinite(bound_ms) else "at all"
        return f"; with the gains at its start it could not have ended {when}"
    times = f" which is {ratio:.2f} times" if ratio is not None else ""
    gains = " for the gains at its start" if document.get("gains_change") else ""
    return f",{times} the lower bound of {bound_ms:.3f} ms{gains}"
