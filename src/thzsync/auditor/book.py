"""The tables of one run, whole or part by part.

Chunks are by far the most rows. What is said of single events is checked for some of them at a
time, so that the memory of an audit is that of the record and of one part.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from thzsync.arrays import BoolArray, IntArray
from thzsync.auditor.rows import (
    Chunks,
    Events,
    Flows,
    Iterations,
    Nodes,
    Rounds,
    Transmissions,
)
from thzsync.auditor.tables import Table, complete, runs_of, spread, sum_by

if TYPE_CHECKING:
    import polars as pl

    from thzsync.channel import ChannelModel
    from thzsync.records import Run

PART_ROWS: Final = 2**18
"""A part has about so many chunks, unless a single event has more."""


class Survey(NamedTuple):
    """What is asked of all chunks at once."""

    chunks: int
    """Chunks of recorded flows."""
    orphans: list[tuple[int, int, int]]
    """Event number, flow and chunk of the others."""
    wired_bytes: IntArray
    """Of every flow what came by fibre."""
    moved: BoolArray
    """Of every event whether a chunk came by another fabric than was decided."""


class Book:
    """All tables of one run."""

    first_event = first_flow = 0
    """Rows of the whole book with which a part of it begins."""

    def __init__(self, run: Run) -> None:
        self.run, self.scenario = run, run.scenario
        self._chunk_rows = complete(run.tables["chunks"])

    @property
    def incomplete_chunks(self) -> int:
        """Rows of chunks with missing values."""
        return self.run.tables["chunks"].height - self._chunk_rows.height

    @cached_property
    def iterations(self) -> Iterations:
        """Iterations of all jobs."""
        return Iterations(self.run.tables["iterations"])

    @cached_property
    def tasks(self) -> Table:
        """Compute tasks."""
        return Table(self.run.tables["tasks"], ("iteration", "node"))

    @cached_property
    def events(self) -> Events:
        """Communication events."""
        return Events(self.run.tables["events"])

    @cached_property
    def nodes(self) -> Nodes:
        """Tasks and events as nodes of the training graphs."""
        return Nodes(self.tasks, self.events, self.iterations)

    @cached_property
    def blocks(self) -> Table:
        """Blocks of events."""
        return Table(self.run.tables["blocks"], ("number", "block"))

    @cached_property
    def flows(self) -> Flows:
        """Flows of events."""
        return Flows(self.run.tables["flows"], self.events)

    @cached_property
    def chunks(self) -> Chunks:
        """Chunks of flows."""
        return Chunks(self._chunk_rows, self.flows)

    @cached_property
    def rounds(self) -> Rounds:
        """Wireless rounds."""
        return Rounds(self.run.tables["rounds"], self.events)

    @cached_property
    def transmissions(self) -> Transmissions:
        """THz transmissions."""
        return Transmissions(self.run.tables["transmissions"], self.rounds, self.flows)

    @cached_property
    def links(self) -> Table:
        """Samples of the fibres."""
        return Table(self.run.tables["links"], ("link",), ("start_ps",))

    @cached_property
    def channel(self) -> ChannelModel:
        """The channel of the run, as its seed and scenario make it."""
        from thzsync.channel import ChannelModel
        from thzsync.streams import Streams
        from thzsync.topology import Topology

        scenario = self.scenario
        return ChannelModel.build(
            scenario.channel, scenario.thz, Topology(scenario.floor), Streams(self.run.seed)
        )

    @cached_property
    def survey(self) -> Survey:
        """A look at all chunks."""
        chunks, orphans = 0, []
        wired, moved = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.bool_)]
        for part in self.parts():
            of = part.chunks
            chunks += len(of)
            orphans += of.orphans
            wired.append(sum_by(of.flow, np.where(of.thz, 0, of.bytes), len(part.flows)))
            events = of.event[of.thz != of.decided_thz]
            moved.append(np.bincount(events[events >= 0], minlength=len(part.events)) > 0)
        return Survey(chunks, orphans, np.concatenate(wired), np.concatenate(moved))

    @cached_property
    def _cuts(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Rows of the chunks' table in the order of event numbers: where stretches of one number
        begin, how long they are, and the first stretch and number of every part."""
        number = self._chunk_rows["number"].to_numpy()
        first, count = runs_of(number)
        order = np.argsort(number[first], kind="stable")
        first, count, number = first[order], count[order], number[first[order]]
        part = (np.cumsum(count) - count) // PART_ROWS
        start, _ = runs_of(part)
        start = np.unique(np.searchsorted(number, number[start]))  # events stay whole
        return first, count, start, number[start].astype(np.int64)

    @property
    def part_count(self) -> int:
        """How many parts there are."""
        return max(len(self._cuts[2]), 1)

    def parts(self) -> Iterator[Book]:
        """The book in parts: all that belongs to some events, in the order of their numbers."""
        first, count, start, number = self._cuts
        bounds = [0, *start[1:].tolist(), len(first)]
        ends = [*number[1:].tolist(), np.iinfo(np.int64).max]
        since = np.iinfo(np.int64).min
        for k, until in enumerate(ends):
            own = slice(bounds[k], bounds[k + 1])
            _, rows = spread(first[own], count[own])
            yield _Part(self, (since, until), self._chunk_rows[rows])
            since = until

    @property
    def racks(self) -> int:
        """Racks on the floor."""
        return self.scenario.floor.racks

    @property
    def task_owner(self) -> IntArray:
        """Row of every task's iteration, -1 if it is not recorded."""
        return self.nodes.owner[: len(self.tasks)]

    @property
    def event_owner(self) -> IntArray:
        """Row of every event's iteration, -1 if it is not recorded."""
        return self.nodes.owner[len(self.tasks) :]

    @property
    def has_traces(self) -> bool:
        """Whether a job comes from a trace, whose nominal releases are not recorded."""
        return any(job.trace is not None for job in self.scenario.jobs)

    @property
    def many_jobs(self) -> bool:
        """Whether jobs run side by side, each with a clock of its own."""
        return len(self.scenario.jobs) > 1

    @property
    def cut(self) -> bool:
        """Whether the record begins in the middle of a run."""
        return len(self.iterations) > 0 and 0 not in self.iterations.iteration

    def ring(self, rack: IntArray) -> IntArray:
        """Ring of every rack."""
        ring: IntArray = rack // self.scenario.floor.lanes
        return ring

    def hops(self, flow: IntArray) -> IntArray:
        """Links on the wired path of flows: 2 within a ring, 3 across rings (eq:wired_path)."""
        same = self.ring(self.flows.src[flow]) == self.ring(self.flows.dst[flow])
        return np.where(same, 2, 3)


class _Part(Book):
    """The events of some numbers, their flows, chunks, rounds and transmissions."""

    def __init__(self, whole: Book, numbers: tuple[int, int], chunk_rows: pl.DataFrame) -> None:
        self.run, self.scenario, self._whole = whole.run, whole.scenario, whole
        self._chunk_rows = chunk_rows
        self._numbers = numbers
        self.first_event, self.first_flow = (
            int(np.searchsorted(table.number, numbers[0])) for table in (whole.events, whole.flows)
        )

    def _own(self, table: Table) -> pl.DataFrame:
        number = table.frame["number"].to_numpy()
        first, end = np.searchsorted(number, self._numbers).tolist()
        return table.frame[first:end]

    @cached_property
    def events(self) -> Events:
        return Events(self._own(self._whole.events))

    @cached_property
    def flows(self) -> Flows:
        return Flows(self._own(self._whole.flows), self.events)

    @cached_property
    def blocks(self) -> Table:
        return Table(self._own(self._whole.blocks), ("number", "block"))

    @cached_property
    def rounds(self) -> Rounds:
        return Rounds(self._own(self._whole.rounds), self.events)

    @cached_property
    def transmissions(self) -> Transmissions:
        return Transmissions(self._own(self._whole.transmissions), self.rounds, self.flows)

    @cached_property
    def channel(self) -> ChannelModel:
        return self._whole.channel
