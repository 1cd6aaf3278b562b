"""The tables of one run, whole or part by part.

Chunks are by far the most rows. What is said of single events is checked for some of them at a
time, so that the memory of an audit is that of the record and of one part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from thzsync.arrays import AnyArray, BoolArray, IntArray
from thzsync.auditor import rows
from thzsync.auditor.format2 import DISCIPLINES
from thzsync.auditor.paths import Paths
from thzsync.auditor.rates import Rates
from thzsync.auditor.tables import complete, runs_of, spread, sum_by
from thzsync.network import network_of
from thzsync.records.declaration import Declaration
from thzsync.scenario import FibreDegraded
from thzsync.scenario.fidelity import in_flows

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
    """Of every event whether a chunk came by another carrier than was decided."""


class Record:
    """All tables of one run, or those of some of its events."""

    first_event = first_flow = 0
    """Rows of the whole record with which a part of it begins."""

    def __init__(self, run: Run) -> None:
        self.run, self.scenario = run, run.scenario
        self.racks = self.scenario.floor.racks
        jobs, faults = self.scenario.jobs, self.scenario.faults
        self.many_jobs = len(jobs) > 1
        """Whether jobs run side by side, each with a clock of its own."""
        self.has_traces = any(job.trace is not None for job in jobs)
        """Whether a job comes from a trace, whose nominal releases are not recorded."""
        self.in_trains = in_flows(self.scenario)
        """Whether the fibres carried flows in trains instead of single packets."""
        self.broken_fibres = [fault for fault in faults if isinstance(fault, FibreDegraded)]
        self.declarations = DISCIPLINES if run.disciplines is None else run.disciplines
        """What disciplines declare."""
        self.iterations = rows.Iterations(run.tables["iterations"])
        self.cut = len(self.iterations) > 0 and 0 not in self.iterations.iteration
        """Whether the record begins in the middle of a run."""
        self.tasks, self.links = rows.Tasks(run.tables["tasks"]), rows.Links(run.tables["links"])
        self._read_events(run.tables, complete(run.tables["chunks"]))
        self.nodes = rows.Nodes(self.tasks, self.events, self.iterations)
        self.task_owner, self.event_owner = np.split(self.nodes.owner, [len(self.tasks)])
        """Rows of the iterations of tasks and events, -1 for one that is not recorded."""

    def _read_events(self, tables: Mapping[str, pl.DataFrame], chunks: pl.DataFrame) -> None:
        self.events = rows.Events(tables["events"])
        self.blocks = rows.Blocks(tables["blocks"], self.events)
        self.flows = rows.Flows(tables["flows"], self.events)
        self.rounds = rows.Rounds(tables["rounds"], self.events)
        self.transmissions = rows.Transmissions(tables["transmissions"], self.rounds, self.flows)
        self.sendings = rows.Sendings(tables["sendings"], self.flows)
        self._chunk_rows = chunks
        self.__dict__.pop("chunks", None)

    @cached_property
    def chunks(self) -> rows.Chunks:
        """Chunks of flows."""
        return rows.Chunks(self._chunk_rows, self.flows)

    def on_floor(self, src: IntArray, dst: IntArray) -> BoolArray:
        """Whether both ends are racks of the floor."""
        inside: BoolArray = (np.minimum(src, dst) >= 0) & (np.maximum(src, dst) < self.racks)
        return inside

    def declares(self, disciplines: AnyArray, fact: Callable[[Declaration], bool]) -> BoolArray:
        """Whether the discipline of every row declares a fact; no unknown one does."""
        names = [name for name, told in self.declarations.items() if fact(told)]
        declared: BoolArray = np.isin(disciplines.astype(str), np.array(names, dtype=str))
        return declared

    @property
    def incomplete(self) -> dict[str, int]:
        """Rows with missing values, by table."""
        chunks = {"chunks": self.run.tables["chunks"].height - self._chunk_rows.height}
        tables = {name: getattr(self, name) for name in self.run.tables if name != "chunks"}
        return {name: table.incomplete for name, table in tables.items()} | chunks

    @cached_property
    def paths(self) -> Paths:
        """The fibres of the run, as its scenario makes them."""
        return Paths(network_of(self.scenario))

    @cached_property
    def rates(self) -> Rates:
        """The rate law of the THz links."""
        return Rates(self.scenario.thz)

    @cached_property
    def channel(self) -> ChannelModel:
        """The channel of the run, as its seed and scenario make it."""
        from thzsync.channel import ChannelModel
        from thzsync.streams import Streams
        from thzsync.topology import Topology

        scenario, streams = self.scenario, Streams(self.run.seed)
        topology = Topology(scenario.floor)
        return ChannelModel.build(scenario.channel, scenario.thz, topology, streams)

    @cached_property
    def survey(self) -> Survey:
        """A look at all chunks."""
        chunks, orphans = 0, []
        wired, moved = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.bool_)]
        for part in self.parts():
            of = part.chunks
            chunks += len(of)
            orphans += of.orphans
            wired.append(sum_by(of.flow, np.where(of.wired, of.bytes, 0), len(part.flows)))
            events = of.event[of.carrier != of.decided]
            moved.append(np.bincount(events[events >= 0], minlength=len(part.events)) > 0)
        return Survey(chunks, orphans, np.concatenate(wired), np.concatenate(moved))

    @cached_property
    def _stretches(self) -> tuple[IntArray, IntArray, IntArray]:
        """Rows of chunks of one event in a row: the first, how many, and the event's number."""
        number = self._chunk_rows["number"].to_numpy()
        first, count = runs_of(number)
        order = np.argsort(number[first], kind="stable")
        return first[order], count[order], number[first[order]].astype(np.int64)

    @cached_property
    def _cuts(self) -> IntArray:
        """Numbers of the events with which parts begin."""
        _, count, number = self._stretches
        start, _ = runs_of((np.cumsum(count) - count) // PART_ROWS)
        return np.unique(number[start])

    @property
    def part_count(self) -> int:
        """How many parts there are."""
        return max(len(self._cuts), 1)

    def parts(self) -> Iterator[Record]:
        """The record in parts: all that belongs to some events, in the order of their numbers."""
        first, count, number = self._stretches
        ends = np.iinfo(np.int64)
        for numbers in pairwise([ends.min, *self._cuts[1:].tolist(), ends.max]):
            own = slice(*np.searchsorted(number, numbers).tolist())
            _, chosen = spread(first[own], count[own])
            yield self._part(numbers, self._chunk_rows[chosen])

    def _part(self, numbers: tuple[int, int], chunks: pl.DataFrame) -> Record:
        """The events of some numbers, their flows, chunks, rounds and transmissions."""
        tables, begins = {}, {}
        for name in ("events", "blocks", "flows", "rounds", "transmissions", "sendings"):
            frame = getattr(self, name).frame
            begins[name], end = np.searchsorted(frame["number"].to_numpy(), numbers).tolist()
            tables[name] = frame[begins[name] : end]
        part = copy(self)
        part.first_event, part.first_flow = begins["events"], begins["flows"]
        part._read_events(tables, chunks)
        return part
