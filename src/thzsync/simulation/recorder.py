"""Collects what happened, column by column, and hands it over as frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from thzsync.arrays import AnyArray, IntArray
from thzsync.simulation.active import ActiveEvent
from thzsync.simulation.schema import TABLES, polars_schema

if TYPE_CHECKING:
    import polars as pl


class Recorder:
    """Rows of the tables of one run.

    Scalars and arrays of one length may be mixed in ``add``; scalars are repeated, and a column of
    lists is given as one list per row. Frames are built once, when the run is over.
    """

    def __init__(self) -> None:
        self._parts: dict[str, list[tuple[int, dict[str, Any]]]] = {name: [] for name in TABLES}

    def add(self, table: str, rows: int = 1, **columns: Any) -> None:
        """Append rows; every column of the table must be given."""
        if columns.keys() != TABLES[table].keys():
            raise KeyError(sorted(columns.keys() ^ TABLES[table].keys()))
        self._parts[table].append((rows, columns))

    def mark(self) -> dict[str, int]:
        """A point to which ``rewind`` can go back."""
        return {name: len(parts) for name, parts in self._parts.items()}

    def rewind(self, mark: dict[str, int]) -> None:
        """Forget everything since the mark (an iteration that did not finish)."""
        for name, length in mark.items():
            del self._parts[name][length:]

    def add_event(self, active: ActiveEvent, ready_ps: IntArray, end_ps: IntArray) -> None:
        """Flows, chunks, rounds and transmissions of a finished event."""
        plan, number = active.plan, active.number
        self.add(
            "flows",
            plan.flows,
            number=number,
            flow=np.arange(plan.flows),
            src=plan.src,
            dst=plan.dst,
            bytes=plan.flow_bytes,
            chunks=plan.chunks,
            chunk_bytes=plan.chunk_bytes,
            thz_chunks=active.action.thz_chunks,
            local=plan.local,
            shard=plan.shard,
            reduces=plan.reduces,
            after=[plan.predecessors(f) for f in range(plan.flows)],
        )
        self.add(
            "chunks",
            len(plan.chunk_flow),
            number=number,
            flow=plan.chunk_flow,
            chunk=np.arange(len(plan.chunk_flow)) - plan.first_chunk[plan.chunk_flow],
            thz=active.on_thz,
            ready_ps=ready_ps,
            end_ps=end_ps,
        )
        if active.rounds:
            self._add_rounds(active)

    def _add_rounds(self, active: ActiveEvent) -> None:
        rounds = active.rounds
        counts = np.array([len(r.flow) for r in rounds])
        self.add(
            "rounds",
            len(rounds),
            number=active.number,
            round=np.array([r.index for r in rounds]),
            start_ps=np.array([r.start_ps for r in rounds]),
            end_ps=np.array([r.end_ps for r in rounds]),
            overhead_ps=np.array([r.overhead_ps for r in rounds]),
            transmissions=counts,
        )

        def column(name: str) -> AnyArray:
            return np.concatenate([getattr(r, name) for r in rounds])

        start = np.array([r.start_ps + r.overhead_ps for r in rounds])
        self.add(
            "transmissions",
            int(counts.sum()),
            number=active.number,
            round=np.repeat([r.index for r in rounds], counts),
            flow=column("flow"),
            first_chunk=column("first_chunk"),
            chunks=column("chunks"),
            src=column("src"),
            dst=column("dst"),
            subband=column("subband"),
            start_ps=np.repeat(start, counts),
            end_ps=np.repeat([r.end_ps for r in rounds], counts),
            power_w=column("power_w"),
            gain=column("gain"),
            bytes=column("size_bytes"),
        )

    def frames(self) -> dict[str, pl.DataFrame]:
        """All tables, in the order in which things were added."""
        return {name: self._frame(name) for name in TABLES}

    def _frame(self, table: str) -> pl.DataFrame:
        import polars as pl

        schema = polars_schema(table)
        parts = self._parts[table]
        if not parts:
            return pl.DataFrame(schema=schema)
        series = []
        for name, dtype in schema.items():
            cells = [(rows, columns[name]) for rows, columns in parts]
            if isinstance(dtype, pl.List):
                values = [list(map(_plain, row)) for _, cell in cells for row in cell]
                series.append(pl.Series(name, values, dtype=dtype))
            elif isinstance(dtype, pl.String):
                words = [str(cell) for rows, cell in cells for _ in range(rows)]
                series.append(pl.Series(name, words, dtype=dtype))
            else:
                joined = np.concatenate(
                    [np.broadcast_to(np.asarray(cell), (rows,)) for rows, cell in cells]
                )
                series.append(pl.Series(name, joined).cast(dtype))
        return pl.DataFrame(series)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
