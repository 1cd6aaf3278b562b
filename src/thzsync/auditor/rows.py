"""Rows of the recorded tables, each joined with what it refers to.

A damaged record must not stop the audit: a reference that leads nowhere becomes row -1, and what
hangs on it is left out of the later checks; the ``records`` check names it.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from thzsync.arrays import AnyArray, BoolArray, IntArray
from thzsync.auditor.tables import Index, Lists, Named, Table, find, pack, runs_of
from thzsync.carriers import FIBRE, THZ

if TYPE_CHECKING:
    import polars as pl


class Events(Table):
    """Communication events by number."""

    title = "event {number} ({kind})"

    def __init__(self, frame: pl.DataFrame) -> None:
        super().__init__(frame, ("number",))
        self.racks = self.lists("racks")
        self.delays, self.powers = self.lists("delay_ps"), self.lists("power")
        self.delay_ps = self.delays.shaped_like(self.racks)
        self.power = self.powers.shaped_like(self.racks)
        self._members = Index(pack(self.racks.owner, self.racks.values))

    def member(self, event: IntArray, rack: IntArray) -> IntArray:
        """Position of an event's rack in the flat lists, -1 if it takes no part."""
        return self._members.find(pack(event, rack))

    def member_name(self, member: int) -> str:
        """How messages call a rack of an event, by its position in the flat lists."""
        return f"{self.name(int(self.racks.owner[member]))}, rack {self.racks.values[member]}"


class Blocks(Table):
    """Blocks by event number and block, joined with their event."""

    title = "event {number}, block {block}"

    def __init__(self, frame: pl.DataFrame, events: Events) -> None:
        super().__init__(frame, ("number", "block"))
        self.sources, self.targets = self.lists("sources"), self.lists("targets")
        self.event = find(events.key, self.number)

    def ends(self, row: int) -> tuple[set[int], set[int]]:
        """Who holds a part before, and who holds the sum afterwards."""
        return set(self.sources.of(row).tolist()), set(self.targets.of(row).tolist())


class Flows(Table):
    """Flows by event number and flow, joined with their event."""

    title = "event {number}, flow {flow}"

    def __init__(self, frame: pl.DataFrame, events: Events) -> None:
        super().__init__(frame, ("number", "flow"))
        self.events, self.after = events, self.lists("after")
        self.event = find(events.key, self.number)
        self.needed = -(-self.bytes // np.maximum(self.chunk_bytes, 1))  # K_f = ceil(D_f / B_ch)

    def size(self, row: IntArray, chunk: IntArray) -> IntArray:
        """Bytes of chunks of flows: the last one may be shorter."""
        size = self.chunk_bytes[row]
        left = self.bytes[row] - chunk * size
        return np.where(chunk >= 0, np.clip(left, 0, size.clip(min=0)), 0)

    @cached_property
    def predecessor(self) -> IntArray:
        """Row of the flow that every entry of ``after`` names; -1 if it is unknown."""
        return find(self.key, pack(self.number[self.after.owner], self.after.values))

    def edges(self) -> tuple[IntArray, IntArray]:
        """Rows of (successor, predecessor) for every known entry of ``after``."""
        known = self.predecessor >= 0
        return self.after.owner[known], self.predecessor[known]


class Chunks(Table):
    """Chunks by flow row and chunk, joined with their flow; those of no flow are orphans."""

    title = "event {number}, flow {flow}, chunk {chunk}"

    def __init__(self, frame: pl.DataFrame, flows: Flows) -> None:
        super().__init__(frame, ("number", "flow"), ("chunk",))
        first, count = runs_of(self.key)
        flow = find(flows.key, self.key[first])
        known = np.repeat(flow >= 0, count)
        self.orphans: list[tuple[int, int, int]] = []
        """Event, flow and number of chunks whose flow is not recorded; no check sees them."""
        if not known.all():
            self.orphans = self.frame.select("number", "flow", "chunk").filter(~known).rows()
            self.frame = self.frame.filter(known)
        self.flows, self.flow = flows, np.repeat(flow[flow >= 0], count[flow >= 0])
        self.key = pack(self.flow, self.chunk)

    @cached_property
    def wired(self) -> BoolArray:
        """Which chunks fibre carried."""
        wired: BoolArray = self.carrier == FIBRE
        return wired

    @cached_property
    def thz(self) -> BoolArray:
        """Which chunks THz carried."""
        thz: BoolArray = self.carrier == THZ
        return thz

    @cached_property
    def event(self) -> IntArray:
        """Row of every chunk's event, -1 if it is not recorded."""
        return self.flows.event[self.flow]

    @cached_property
    def bytes(self) -> IntArray:
        """Bytes of every chunk."""
        return self.flows.size(self.flow, self.chunk)


class Rounds(Table):
    """Wireless rounds by event number and round."""

    title = "event {number}, round {round}"

    def __init__(self, frame: pl.DataFrame, events: Events) -> None:
        super().__init__(frame, ("number", "round"))
        self.event = find(events.key, self.number)


class _Carrying(Table):
    """Rows that carry chunks which follow each other, of one flow each."""

    def carried(self, chunks: Chunks) -> tuple[IntArray, IntArray]:
        """First chunk row and number of chunk rows of every row (0 if some are absent)."""
        known = (self.flow >= 0) & (self.chunks > 0)
        first, last = (
            find(chunks.key, pack(np.maximum(self.flow, 0), chunk))
            for chunk in (self.first_chunk, self.first_chunk + self.chunks - 1)
        )
        whole = known & (first >= 0) & (last - first == self.chunks - 1)
        return np.where(whole, first, -1), np.where(whole, self.chunks, 0)


class Transmissions(_Carrying):
    """THz transmissions joined with their round, flow and event."""

    title = "event {number}, round {round}, rack {src} -> {dst} on subband {subband}"

    def __init__(self, frame: pl.DataFrame, rounds: Rounds, flows: Flows) -> None:
        super().__init__(frame, ("number", "round"))
        self.round = find(rounds.key, self.key)
        self.flow = find(flows.key, pack(self.number, self._read("flow")))
        self.event = find(flows.events.key, self.number)
        known = self.round >= 0
        self.taken_ps = self.start_ps.copy()
        self.taken_ps[known] = rounds.start_ps[self.round[known]]
        """Since when both transceivers are in use: the guard time comes before the data [ps]."""


class Sendings(_Carrying):
    """What carriers after THz sent, joined with flow and event."""

    title = "event {number}, flow {flow}, sending of carrier {carrier} from chunk {first_chunk} on"

    def __init__(self, frame: pl.DataFrame, flows: Flows) -> None:
        super().__init__(frame, ("number", "flow"), ("first_chunk",))
        self.flow = find(flows.key, self.key)
        self.event = find(flows.events.key, self.number)


class Links(Table):
    """Samples of the fibres by link and time."""

    title = "link {link}, {start_ps} to {end_ps} ps"

    def __init__(self, frame: pl.DataFrame) -> None:
        super().__init__(frame, ("link",), ("start_ps",))

    def of(self, link: int) -> slice:
        """Rows of one fibre."""
        return slice(*np.searchsorted(self.key, (link, link + 1)).tolist())


class Iterations(Table):
    """Iterations by the position of their job and number; jobs are numbered as they appear."""

    def __init__(self, frame: pl.DataFrame) -> None:
        super().__init__(frame, ("start_ps",))
        names = self._read("job")
        self.jobs: list[str] = list(dict.fromkeys(names.tolist()))
        self.job = self.job_numbers(names)
        self.span_key = pack(self.job, self.iteration)
        self._spans = Index(self.span_key)

    def job_numbers(self, names: AnyArray) -> IntArray:
        """Position of every job, -1 for one without an iteration."""
        number = {name: k for k, name in enumerate(self.jobs)}
        return np.array([number.get(name, -1) for name in names.tolist()], dtype=np.int64)

    def of(self, job: IntArray, iteration: IntArray) -> IntArray:
        """Row of every (job, iteration), -1 where there is none."""
        return np.where(job >= 0, self._spans.find(pack(job, iteration)), -1)

    def consecutive(self) -> tuple[IntArray, IntArray]:
        """Rows of each two iterations of a job that follow each other."""
        order = np.lexsort((self.iteration, self.job))
        return order[:-1], order[1:]

    def name(self, row: int) -> str:
        """An iteration, and its job where there are several."""
        job = f" of job {self.jobs[self.job[row]]!r}" if len(self.jobs) > 1 else ""
        return f"iteration {self.iteration[row]}{job}"


class Tasks(Table):
    """Compute tasks by iteration and node."""

    title = "iteration {iteration}, task {node}"

    def __init__(self, frame: pl.DataFrame) -> None:
        super().__init__(frame, ("iteration", "node"))
        self.racks: Lists = self.lists("racks")


class Nodes(Named):
    """Tasks and events together: the recorded training graphs."""

    def __init__(self, tasks: Tasks, events: Events, iterations: Iterations) -> None:
        both = np.concatenate  # tasks come first
        self.iteration = both((tasks.iteration, events.iteration))
        job = iterations.job_numbers(both((tasks.job, events.job)))
        self.owner = iterations.of(job, self.iteration)
        """Row of every node's iteration, -1 if it is not recorded."""
        self.node = both((tasks.node, events.node))
        self.begin_ps = both((tasks.start_ps, events.release_ps))
        self.end_ps = both((tasks.end_ps, events.end_ps))
        self.duration_ps = both((tasks.duration_ps, np.zeros(len(events), dtype=np.int64)))
        self.key = pack(self.owner, self.node)
        task_after, event_after = tasks.lists("after"), events.lists("after")
        self.after = both((task_after.values, event_after.values))
        """Numbers of the nodes that are waited for, one after the other."""
        self.successor = both((task_after.owner, len(tasks) + event_after.owner))
        """Row of the node that waits, by entry of ``after``."""
        self.predecessor = Index(self.key).find(pack(self.owner[self.successor], self.after))
        """Row of the node that is waited for, by entry of ``after``; -1 if it is not recorded."""

    def name(self, row: int) -> str:
        """A task or an event."""
        return f"iteration {self.iteration[row]}, node {self.node[row]}"
