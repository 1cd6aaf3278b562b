"""Every byte arrives once, on the decided carrier, and the flows do what the collective promises.

Blocks say who held a part before and who holds the sum of all parts afterwards. What a flow carries
follows from the record alone: its source's own part (``local``) and whatever the flows in ``after``
brought there. A reducing flow is added at its destination, any other replaces what is there. So
contributions can be counted through trees, rings, relays or anything else.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from thzsync.arrays import IntArray
from thzsync.auditor.findings import TOLERANCE, Findings
from thzsync.auditor.record import Record
from thzsync.auditor.tables import causal_order, find, pack, spread, sum_by
from thzsync.carriers import FIBRE, THZ


def chunks_once(record: Record, findings: Findings) -> None:
    """A flow of D bytes has K = ceil(D / B_ch) chunks, 0..K-1, each recorded once."""
    flows, chunks = record.flows, record.chunks
    size = record.scenario.collectives.chunk_bytes
    wrong = (flows.bytes < 1) | (flows.chunk_bytes != size) | (flows.chunks != flows.needed)
    for k in findings.broken(wrong):
        findings.add(flows.name(k), f"{flows.bytes[k]} bytes in {flows.chunks[k]} chunks of {size}")
    position = np.arange(len(chunks)) - np.searchsorted(chunks.flow, chunks.flow)
    findings.equal(chunks.chunk, position, chunks.name, "number")
    delivered = sum_by(chunks.flow, chunks.bytes, len(flows))
    findings.equal(flows.bytes, delivered, flows.name, "sum of the chunks' bytes")


def flow_graph(record: Record, findings: Findings) -> None:
    """A flow waits only for flows into its source that have as many chunks."""
    flows = record.flows
    successor, predecessor = flows.edges()
    wrong = flows.dst[predecessor] != flows.src[successor]
    wrong |= flows.needed[predecessor] != flows.needed[successor]
    for k in findings.broken(wrong):
        before = flows.flow[predecessor[k]]
        findings.add(flows.name(successor[k]), f"flow {before} does not bring it as many chunks")


def fabric(record: Record, findings: Findings) -> None:
    """A THz chunk is in exactly one transmission and ends with it, any other one in none.

    eq:unique_assignment.
    """
    chunks, sent = record.chunks, record.transmissions
    owner, row = spread(*sent.carried(chunks))
    times = np.bincount(row, minlength=len(chunks))
    findings.equal(times, chunks.thz.astype(np.int64), chunks.name, "count of THz transmissions")
    findings.equal(chunks.end_ps[row], sent.end_ps[owner], chunks.at(row), "arrival [ps]")


def action(record: Record, findings: Findings) -> None:
    """Decided counts lie within the flow; budgets are levels, and 0 for silent racks."""
    events, flows = record.events, record.flows
    for k in findings.broken((flows.thz_chunks < 0) | (flows.thz_chunks > flows.needed)):
        findings.add(flows.name(k), f"{flows.thz_chunks[k]} THz chunks of {flows.needed[k]}")
    member = events.member(flows.event, flows.src)
    sends = np.zeros(len(events.power), dtype=np.bool_)
    sends[member[(flows.thz_chunks > 0) & (member >= 0)]] = True
    levels = np.array(record.scenario.coordinator.power_levels)
    is_level = np.isclose(events.power[:, None], levels, rtol=TOLERANCE, atol=0).any(axis=1)
    for k in findings.broken(np.where(sends, ~is_level, events.power != 0)):
        reason = "no level" if sends[k] else "for no THz chunk"
        findings.add(events.member_name(k), f"power {events.power[k]:g} is {reason}")


def decision(record: Record, findings: Findings) -> None:
    """Decided and carried differ by exactly the counted fallback and rerouted chunks."""
    events, flows, chunks = record.events, record.flows, record.chunks
    decided = sum_by(chunks.flow, chunks.decided == THZ, len(flows))
    findings.equal(flows.thz_chunks, decided, flows.name, "count of chunks decided for THz")
    known = chunks.event >= 0
    counts = {
        "fallback_chunks": (chunks.decided != FIBRE) & chunks.wired,
        "rerouted_chunks": (chunks.decided == FIBRE) & ~chunks.wired,
    }
    for column, moved in counts.items():
        found = sum_by(chunks.event[known], moved[known], len(events))
        findings.compare(record.events, column, found.astype(np.float64))
    of_event = flows.event >= 0
    thz = sum_by(flows.event[of_event], flows.thz_chunks[of_event], len(events))
    every = sum_by(flows.event[of_event], flows.needed[of_event], len(events))
    findings.compare(record.events, "decision_thz_share", thz / np.maximum(every, 1))


_SHAPES = {
    **dict.fromkeys(("p2p", "a2a", "gather", "scatter"), (False, False)),
    **dict.fromkeys(("allreduce", "barrier"), (True, True)),
    **dict.fromkeys(("reduce", "reduce-scatter"), (True, False)),
    **dict.fromkeys(("broadcast", "all-gather"), (False, True)),
}
"""Whether all racks are the sources, and the targets, of each block of a collective, or just one.
A collective from outside the package promises what it recorded."""
_EXACT = ("p2p", "a2a", "allreduce", "reduce", "broadcast", "reduce-scatter", "all-gather")
"""Collectives whose blocks add up to the payload; elsewhere some of it may stay at home."""


def blocks(record: Record, findings: Findings) -> None:
    """The blocks of an event are those of its collective, and hold its payload."""
    events, table = record.events, record.blocks
    known = np.flatnonzero(table.event >= 0)
    event, size = table.event[known], table.bytes[known]
    among = {e: set(events.racks.of(e).tolist()) for e in np.unique(event).tolist()}
    wrong = np.zeros(len(known), dtype=np.bool_)
    for k, row in enumerate(known.tolist()):
        wrong[k] = not _promised(str(events.kind[event[k]]), *table.ends(row), among[event[k]])
    for k in findings.broken(wrong | (size < 1)):
        findings.add(table.name(known[k]), f"its ends or bytes do not suit {events.kind[event[k]]}")
    asked, total = events.payload_bytes, sum_by(event, size, len(events))
    exact = np.flatnonzero(np.isin(events.kind, _EXACT))
    findings.equal(asked[exact], total[exact], events.at(exact), "sum of the blocks' bytes")


def _promised(kind: str, sources: set[int], targets: set[int], racks: set[int]) -> bool:
    """Whether a block among these racks is one of its collective."""
    if not (sources and targets and sources | targets <= racks):
        return False
    shape = _SHAPES.get(kind)
    if shape == (False, False):
        return len(sources) == len(targets) == 1 and sources != targets
    ends = zip(shape or (), (sources, targets), strict=False)
    return all(end == racks if every else len(end) == 1 for every, end in ends)


def postcondition(record: Record, findings: Findings) -> None:
    """Every target ends with every source's part exactly once, and shards make up their block."""
    flows, table = record.flows, record.blocks
    owner = find(table.key, pack(flows.number, flows.block))
    shards: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for row in np.flatnonzero(owner >= 0).tolist():
        shards[int(owner[row])][int(flows.shard[row])].append(row)
    bounds, size, predecessor = flows.after.start, table.bytes, flows.predecessor
    for block in range(len(table)):
        have, want = table.ends(block)
        place, total = table.name(block), 0
        for shard, rows in shards[block].items():
            total += int(flows.bytes[rows[0]])
            before = {row: predecessor[bounds[row] : bounds[row + 1]].tolist() for row in rows}
            problem = _problem(record, before, have, want)
            findings.require(problem is None, f"{place}, shard {shard}", problem or "")
        whole = total == size[block] or (have == want and len(have) == 1)
        findings.require(whole, place, f"it has {size[block]} bytes, its shards {total}")


def _problem(
    record: Record, before: dict[int, list[int]], sources: set[int], targets: set[int]
) -> str | None:
    """What is wrong with the flows of one shard, given by row with the rows they wait for."""
    flows, rows = record.flows, list(before)
    ends = {int(flows.src[rows[0]])}, {int(flows.dst[rows[0]])}
    if (
        ends == (sources, targets)
        and len(rows) == 1
        and not before[rows[0]]
        and flows.local[rows[0]]
    ):
        return None  # straight from a source to a target
    if len(np.unique(flows.bytes[rows])) > 1:
        return "its flows differ in size"
    order = causal_order(before)
    if order is None:
        return "its flows wait for each other in a circle or for another shard"
    nothing, parts = np.zeros(len(sources), np.int64), np.eye(len(sources), dtype=np.int64)
    own = dict(zip(sorted(sources), parts, strict=True))
    content: dict[int, IntArray] = {}
    held = defaultdict(lambda: nothing, own)  # own part and all that was added
    final: dict[int, list[IntArray]] = defaultdict(list)
    for row in order:
        src, dst = int(flows.src[row]), int(flows.dst[row])
        content[row] = own.get(src, nothing) if flows.local[row] else nothing
        for earlier in before[row]:
            content[row] = content[row] + content[earlier]
        if flows.reduces[row]:
            held[dst] = held[dst] + content[row]
        else:
            final[dst].append(content[row])
    for rack in sorted(targets):
        arrived = final[rack] or [held[rack]]
        if len(arrived) > 1:
            return f"rack {rack} gets the result {len(arrived)} times"
        if (arrived[0] != 1).any():
            wrong = int(np.argmax(arrived[0] != 1))
            times = int(arrived[0][wrong])
            return f"rack {rack} ends with the part of rack {sorted(sources)[wrong]} {times} times"
    # A sum that is overwritten later must have been passed on, or it was sent in vain.
    passed_on = {earlier for earliers in before.values() for earlier in earliers}
    reduced = [row for row in rows if flows.reduces[row] and row not in passed_on]
    vain = [row for row in reduced if final[int(flows.dst[row])]]
    return f"flow {flows.flow[vain[0]]} brings a part that nobody uses" if vain else None
