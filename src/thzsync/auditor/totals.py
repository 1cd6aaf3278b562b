"""Times, energies, rewards, bandwidths and shares: every figure follows from what it is made of."""

from __future__ import annotations

from collections import Counter
from typing import Final

import numpy as np

from thzsync.arrays import FloatArray
from thzsync.auditor.energy import STATIC, fibre_j
from thzsync.auditor.fibre import bytes_per_link, hops
from thzsync.auditor.findings import TOLERANCE, Findings
from thzsync.auditor.record import Record
from thzsync.auditor.tables import causal_order, real_sum_by, sum_by

_PS_PER_MS = 10**9


def completion(record: Record, findings: Findings) -> None:
    """T_e counts from the event's release to its last chunk."""
    events = record.events
    findings.compare(events, "completion_ms", (events.end_ps - events.release_ps) / _PS_PER_MS)


_WALL: Final = ("optical_wall_j", "thz_wall_j", "further_wall_j")
_COUNTED: Final = {
    "transmission": ("optical_energy_j", "thz_energy_j", "further_energy_j"),
    "wall-plug": _WALL,
    "with-static": (*_WALL, "static_j"),
}
"""Columns of an event that add up to the energy that the reward counts."""


def reward(record: Record, findings: Findings) -> None:
    """r_e = -(W_T T / T_ref + W_E E / E_ref); no reference costs nothing."""
    events, weights = record.events, record.scenario.reward
    time_s = events.completion_ms * 1e-3
    columns = _COUNTED[weights.energy]
    energy_j = np.sum([getattr(events, column) for column in columns], axis=0)
    expected = np.zeros(len(events))
    for kind, (reference_s, reference_j) in record.run.references.items():
        rows = events.kind == kind
        if reference_s > 0:
            expected[rows] -= weights.time_weight * time_s[rows] / reference_s
        if reference_j > 0:
            expected[rows] -= weights.energy_weight * energy_j[rows] / reference_j
    findings.compare(events, "reward", expected)


def references(record: Record, findings: Findings) -> None:
    """The reference energy of a collective is what the first iteration would cost on fibre alone.

    It can be told where flows do not depend on the split and an iteration is like another: one
    generated job, the paper's method, paths of one length, no broken fibre; and in a run from disk,
    since a caller in Python may give other references. A time cannot be told, but is
    positive, and so is static energy.
    """
    events, flows, told = record.events, record.flows, record.run.references
    for k in findings.broken([not (t > 0 and e >= 0) for t, e in told.values()]):
        findings.add(f"references of {list(told)[k]}", f"are {list(told.values())[k]}")
    jobs = record.scenario.jobs
    alike = len(jobs) == 1 and jobs[0].training is not None and not record.broken_fibres
    counts = record.scenario.reward.energy
    if record.run.declared is None or not alike or not len(events) or counts == "with-static":
        return
    known = np.flatnonzero(flows.event >= 0)
    crossed, bits = hops(record, known), 8 * flows.bytes[known]
    needed_j = fibre_j(record, bits * crossed, bits)[counts == "wall-plug"]
    wired_j = real_sum_by(flows.event[known], needed_j, len(events))
    for kind, (_, energy_j) in told.items():
        mine = (events.kind == kind) & (events.method == "proposed")
        lengths = crossed[np.isin(flows.event[known], np.flatnonzero(mine))]
        if mine.any() and len(np.unique(lengths)) == 1:
            expected = float(wired_j[mine & (events.iteration == events.iteration.min())].mean())
            same = bool(np.isclose(energy_j, expected, rtol=1e-6))
            message = f"{energy_j:.9g} J, All-Wired needs {expected:.9g} J"
            findings.require(same, f"references of {kind}", message)


def iteration_totals(record: Record, findings: Findings) -> None:
    """An iteration's figures are sums or means over its events."""
    events, table, owner = record.events, record.iterations, record.event_owner
    mine = owner >= 0

    def total(column: str) -> FloatArray:
        return real_sum_by(owner[mine], getattr(events, column)[mine], len(table))

    summed = (
        "completion_ms", "optical_energy_j", "thz_energy_j", "further_energy_j", *_WALL,
        "fallback_chunks", "rerouted_chunks",
    )  # fmt: skip
    for column in summed:
        findings.compare(table, column, total(column))
    thz_bytes, count = total("thz_bytes"), np.bincount(owner[mine], minlength=len(table))
    energies = [total(f"{carrier}_energy_j") for carrier in ("optical", "thz", "further")]
    findings.compare(table, "energy_j", np.sum(energies, axis=0))
    wall_j = np.sum([total(column) for column in _WALL], axis=0)
    static_j = np.sum([getattr(table, column) for column in STATIC], axis=0)
    findings.compare(table, "wall_energy_j", wall_j)
    findings.compare(table, "static_energy_j", static_j)
    findings.compare(table, "total_energy_j", wall_j + static_j)
    findings.compare(table, "reward", total("reward") / np.maximum(count, 1))
    findings.compare(table, "makespan_ms", (table.end_ps - table.start_ps) / _PS_PER_MS)
    all_bytes = thz_bytes + total("wired_bytes") + total("further_bytes")
    share = thz_bytes / np.maximum(all_bytes, 1)
    findings.compare(table, "thz_share", share)


_WITH_OWN_PART = "a2a"
"""The collective whose buffers hold a part for their own rack, which no block shows."""
_DIRECTED = ("p2p", "a2a")
_TENSOR = (
    "allreduce", "reduce", "broadcast", "reduce-scatter", "all-gather", "gather", "scatter",
    "barrier",
)  # fmt: skip
"""Collectives of this package by what their size is; of others only the bus bandwidth is known."""


def bandwidth(record: Record, findings: Findings) -> None:
    """Both bandwidths are bytes over the time from release to end, 0 where there was none."""
    events = record.events
    seconds = (events.end_ps - events.release_ps) * 1e-12
    per_second = np.divide(1e-9, seconds, out=np.zeros(len(events)), where=seconds > 0)
    bus = _busiest(record)
    findings.compare(events, "busbw_gb_s", bus * per_second)
    racks = np.maximum(events.racks.lengths, 2)
    own = np.where(events.kind == _WITH_OWN_PART, racks / (racks - 1), 1.0)
    tensor = np.isin(events.kind, _TENSOR)
    size = np.where(tensor, events.payload_bytes, bus * own)
    known = tensor | np.isin(events.kind, _DIRECTED)
    expected = np.where(known, size * per_second, events.algbw_gb_s)
    findings.compare(events, "algbw_gb_s", expected)


def _busiest(record: Record) -> FloatArray:
    """Bytes of every event's busiest rack: what it alone has, what it lacks, or its even share."""
    blocks, events = record.blocks, len(record.events)
    loads: list[Counter[tuple[str, int]]] = [Counter() for _ in range(events)]
    moved = np.zeros(events, dtype=np.int64)
    for row in np.flatnonzero(blocks.event >= 0).tolist():
        have, want = blocks.ends(row)
        event, size = int(blocks.event[row]), int(blocks.bytes[row])
        moved[event] += size * (len(have) + len(want) - 1 - bool(have & want))
        for way, here, far in (("sends", have, want), ("receives", want, have)):
            for rack in here:
                loads[event][way, rack] += 0 if far == {rack} else size
    busiest = np.zeros(events)
    for event, load in enumerate(loads):
        racks = len({rack for _, rack in load})
        if racks:
            busiest[event] = max(*load.values(), moved[event] / racks)
    return busiest


def bubble(record: Record, findings: Findings) -> None:
    """The share of the time of whoever computes, racks or ranks, in which it does not."""
    import polars as pl

    tasks, owner, count = record.tasks, record.task_owner, len(record.iterations)
    ranked = np.flatnonzero(tasks.rank >= 0)
    racks = np.flatnonzero(tasks.rank[tasks.racks.owner] < 0)
    task = np.concatenate((ranked, tasks.racks.owner[racks]))
    place = np.concatenate((-1 - tasks.rank[ranked], tasks.racks.values[racks]))
    start, end = tasks.start_ps[task], tasks.end_ps[task]
    spans = pl.DataFrame({"at": owner[task], "place": place, "start": start, "end": end})
    spans = spans.filter(pl.col("at") >= 0).sort("at", "place", "start")
    reached = pl.col("end").cum_max().shift(1).over("at", "place").fill_null(-1)
    lasts = (pl.col("end") - pl.max_horizontal("start", reached)).clip(0)
    busy_ps = sum_by(spans["at"].to_numpy(), spans.select(lasts).to_series().to_numpy(), count)
    places = np.bincount(spans.select("at", "place").unique()["at"].to_numpy(), minlength=count)
    places_ps = np.maximum(places * _makespan_ps(record), 1)
    findings.compare(record.iterations, "bubble", 1 - busy_ps / places_ps)


def utilisation(record: Record, findings: Findings) -> None:
    """Busy rack x subband slots, and the busiest fibre's share of its capacity."""
    table, sent, flows = record.iterations, record.transmissions, record.flows
    makespan_ps, iteration = _makespan_ps(record), np.append(record.event_owner, -1)
    owner = iteration[sent.event]  # those of no event find the -1 at the end
    sending_ps = (sent.end_ps - sent.start_ps)[owner >= 0]
    busy_ps = 2 * sum_by(owner[owner >= 0], sending_ps, len(table))  # at both ends
    slots = record.racks * record.scenario.thz.subbands
    findings.compare(table, "thz_utilisation", busy_ps / (slots * makespan_ps))

    owner, wired = iteration[flows.event], record.survey.wired_bytes
    told, per_s = table.optical_utilisation, 8 / np.maximum(record.paths.rate_bps, 1)
    bounds = np.zeros((len(table), 2))
    for row in range(len(table)):
        flow = np.flatnonzero(owner == row)
        for column, size in enumerate(bytes_per_link(record, flow, wired[flow])):
            bounds[row, column] = (size * per_s).max() / (makespan_ps[row] * 1e-12)
    low, high = (bounds * [1 - TOLERANCE, 1 + TOLERANCE] + [-1e-12, 1e-12]).T
    for k in findings.broken(~((told >= low) & (told <= high))):
        least, most = bounds[k]
        message = f"optical_utilisation is {told[k]:.9g}, should be {least:.9g} to {most:.9g}"
        findings.add(table.name(k), message)


def exposed(record: Record, findings: Findings) -> None:
    """Exposed communication is the iteration time beyond the graph's longest path of computation.

    An imported trace may hold events back until a nominal release that is not recorded: then the
    path is only a lower bound of what free communication would take.
    """
    table = record.iterations
    most_ms = (_makespan_ps(record) - _longest_path_ps(record)) / _PS_PER_MS
    told = table.exposed_ms
    slack_ms = 1e-6  # every duration was rounded to picoseconds
    too_little = (told < most_ms - slack_ms) & (not record.has_traces)
    for k in findings.broken(~(told <= most_ms + slack_ms) | too_little):
        findings.add(table.name(k), f"exposed_ms is {told[k]:.9g}, should be {most_ms[k]:.9g}")


def _makespan_ps(record: Record) -> FloatArray:
    table = record.iterations
    length_ps: FloatArray = np.maximum(table.end_ps - table.start_ps, 1).astype(np.float64)
    return length_ps


def _longest_path_ps(record: Record) -> FloatArray:
    """Per iteration the longest chain of task durations, events taking no time [ps]."""
    nodes, longest = record.nodes, np.zeros(len(record.iterations))
    before: dict[int, list[int]] = {row: [] for row in range(len(nodes.key))}
    for later, earlier in zip(nodes.successor.tolist(), nodes.predecessor.tolist(), strict=True):
        if earlier >= 0:
            before[later].append(earlier)
    done = np.zeros(len(nodes.key))
    for row in causal_order(before) or ():
        ready = max((done[earlier] for earlier in before[row]), default=0.0)
        done[row] = ready + nodes.duration_ps[row]
    owner = nodes.owner
    np.maximum.at(longest, owner[owner >= 0], done[owner >= 0])
    return longest
