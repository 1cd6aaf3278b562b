"""One iteration as bars in rows: what every pipeline stage computed and sent, and when."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, Final, NamedTuple

import numpy as np

from thzsync.display.kinds import kind_look, ordered
from thzsync.display.labels import short
from thzsync.records.run import Run

COMPUTE: Final = "compute"
"""The lane of compute tasks; every other lane is a collective's name."""
TICK_PS: Final = 100_000
"""Times are embedded in whole tenths of a microsecond [ps]."""


class Bar(NamedTuple):
    """Something that took time, in the lane of a stage, and the record that it comes from."""

    job: str
    stage: int
    lane: str
    """``compute`` or the collective's type."""
    start_ps: int
    end_ps: int
    row: dict[str, Any]

    @property
    def name(self) -> str:
        """What the bar stands for, such as ``forward 3`` or ``dispatch 0, micro-batch 2``."""
        if self.lane == COMPUTE:
            return f"{self.row['phase']} {self.row['microbatch']}"
        return f"{self.row['label']}, micro-batch {self.row['microbatch']}"

    @property
    def title(self) -> str:
        """The name of its lane."""
        return "Compute" if self.lane == COMPUTE else kind_look(self.lane).label


def bars(run: Run) -> list[Bar]:
    """Compute tasks and communication events of a run."""
    compute = (
        Bar(row["job"], row["stage"], COMPUTE, row["start_ps"], row["end_ps"], row)
        for row in run.tables["tasks"].iter_rows(named=True)
    )
    events = (
        Bar(row["job"], row["stage"], row["kind"], row["release_ps"], row["end_ps"], row)
        for row in run.events.iter_rows(named=True)
    )
    return [*compute, *events]


def pack(spans: Iterable[tuple[int, int]]) -> list[int]:
    """The lowest sub-row for every span so that none overlap; spans keep their order."""
    order = sorted(enumerate(spans), key=lambda item: item[1])
    free_from: list[int] = []
    rows = [0] * len(order)
    for position, (start, end) in order:
        row = next((k for k, free in enumerate(free_from) if free <= start), len(free_from))
        if row == len(free_from):
            free_from.append(end)
        free_from[row] = end
        rows[position] = row
    return rows


def lanes(found: list[Bar]) -> Iterator[tuple[list[Bar], list[int]]]:
    """The bars of every job, stage and lane, and the sub-row of each."""
    kinds = ordered({bar.lane for bar in found} - {COMPUTE})
    order = {lane: k for k, lane in enumerate((COMPUTE, *kinds))}

    def place(bar: Bar) -> tuple[str, int, int]:
        return bar.job, bar.stage, order[bar.lane]

    for _, group in groupby(sorted(found, key=place), key=place):
        members = list(group)
        yield members, pack((bar.start_ps, bar.end_ps) for bar in members)


def timeline(run: Run) -> dict[str, Any]:
    """Rows and bars of the iteration for the Gantt chart, relative to its start."""
    origin, end = window_ps(run)
    rows = []
    for members, sub_rows in lanes(bars(run)):
        cells = [_cell(bar, sub, origin) for bar, sub in zip(members, sub_rows, strict=True)]
        job, stage, lane = members[0][:3]
        # One list per key takes a third of the page's size.
        columns = {key: [cell[key] for cell in cells] for key in cells[0]}
        row = {"job": job, "stage": stage, "lane": lane, "title": members[0].title}
        rows.append(row | {"depth": 1 + max(sub_rows), "bars": columns})
    return {"rows": rows, "end": ticks(end - origin), "ticks_per_ms": 10**9 // TICK_PS}


def window_ps(run: Run) -> tuple[int, int]:
    """First start and last end of the recorded iteration; jobs may have clocks of their own."""
    start, end = run.iterations["start_ps"].min(), run.iterations["end_ps"].max()
    assert isinstance(start, int)
    assert isinstance(end, int)
    return start, end


def _cell(bar: Bar, sub_row: int, origin_ps: int) -> dict[str, Any]:
    """When and where a bar stands; for an event also what it cost and who was late."""
    row = bar.row
    cell = {
        "start": ticks(bar.start_ps - origin_ps),
        "end": ticks(bar.end_ps - origin_ps),
        "sub_row": sub_row,
        "microbatch": row["microbatch"],
    }
    if bar.lane == COMPUTE:
        return cell | {"name": row["phase"]}
    carried = row["wired_bytes"] + row["thz_bytes"]
    return cell | {
        "name": row["label"],
        "thz_share": short(row["thz_bytes"] / carried, 3) if carried else 0.0,
        "bytes": carried,
        "optical_energy_j": short(row["optical_energy_j"], 3),
        "thz_energy_j": short(row["thz_energy_j"], 3),
        "latest": ticks(max(row["delay_ps"], default=0)),
        "moved_chunks": row["fallback_chunks"] + row["rerouted_chunks"],
    }


def ticks(ps: Any) -> Any:
    """Times, or one time, in whole ticks."""
    found = np.rint(np.asarray(ps) / TICK_PS).astype(np.int64)
    return found if found.ndim else int(found)
