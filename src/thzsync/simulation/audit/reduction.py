"""AllReduce: every rack ends with every rack's contribution to every shard, once.

What a flow carries follows from the record alone: its source's own part (``local``) and whatever
the flows in ``after`` brought there. A reducing flow is added at its destination, any other
replaces what is there. So the contributions can be counted through trees, rings or anything else.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from thzsync.arrays import IntArray
from thzsync.collectives import Kind
from thzsync.simulation.audit.book import Book
from thzsync.simulation.audit.findings import Findings
from thzsync.simulation.audit.tables import causal_order


def reduction(book: Book, findings: Findings) -> None:
    """Contributions are summed exactly once everywhere, and the shards make up the tensor."""
    events, flows = book.events, book.flows
    of_event: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for row in np.flatnonzero(flows.event >= 0).tolist():
        of_event[int(flows.event[row])][int(flows.shard[row])].append(row)
    payload = events["payload_bytes"]
    _, predecessor = flows.after_edges()
    bounds = flows.after.start
    for event in np.flatnonzero(events.kind == Kind.ALLREDUCE.value).tolist():
        racks: IntArray = events.racks.of(event)
        total = 0
        for shard, rows in of_event[event].items():
            total += int(flows.bytes[rows[0]])
            before = {row: predecessor[bounds[row] : bounds[row + 1]].tolist() for row in rows}
            problem = _problem_of_shard(book, before, racks)
            place = f"{events.name(event)}, shard {shard}"
            findings.require("reduction", problem is None, place, problem or "")
        findings.require(
            "reduction",
            total == payload[event] or len(racks) == 1,
            events.name(event),
            f"the tensor has {payload[event]} bytes, its shards {total}",
        )


def _problem_of_shard(book: Book, before: dict[int, list[int]], racks: IntArray) -> str | None:
    """What is wrong with the flows of one shard, given by row with the rows they wait for."""
    flows, rows = book.flows, list(before)
    if len(np.unique(flows.bytes[rows])) > 1:
        return "its flows differ in size"
    column = {int(rack): k for k, rack in enumerate(racks)}
    ends = np.concatenate((flows.src[rows], flows.dst[rows])).tolist()
    if not all(rack in column for rack in ends):
        return "a flow leaves the event's racks"
    order = causal_order(before)
    if order is None:
        return "its flows wait for each other in a circle or for another shard"
    content: dict[int, IntArray] = {}
    held = {rack: _own(column, rack) for rack in column}  # own part and all that was added
    final: dict[int, list[IntArray]] = defaultdict(list)
    for row in order:
        src, dst = int(flows.src[row]), int(flows.dst[row])
        content[row] = _own(column, src) if flows.local[row] else np.zeros(len(racks), np.int64)
        for earlier in before[row]:
            content[row] = content[row] + content[earlier]
        if flows.reduces[row]:
            held[dst] = held[dst] + content[row]
        else:
            final[dst].append(content[row])
    for rack in column:
        arrived = final[rack] or [held[rack]]
        if len(arrived) > 1:
            return f"rack {rack} gets the result {len(arrived)} times"
        if (arrived[0] != 1).any():
            wrong = int(np.argmax(arrived[0] != 1))
            times = int(arrived[0][wrong])
            return f"rack {rack} ends with the part of rack {racks[wrong]} {times} times"
    return _unused(book, before, final)


def _unused(
    book: Book, before: dict[int, list[int]], final: dict[int, list[IntArray]]
) -> str | None:
    """A sum that is overwritten later must have been passed on, or it was sent in vain."""
    flows = book.flows
    passed_on = {earlier for earliers in before.values() for earlier in earliers}
    for row in before:
        if flows.reduces[row] and row not in passed_on and final[int(flows.dst[row])]:
            return f"flow {flows.flow[row]} brings a part that nobody uses"
    return None


def _own(column: dict[int, int], rack: int) -> IntArray:
    part = np.zeros(len(column), dtype=np.int64)
    part[column[rack]] = 1
    return part
