"""Shares of an iteration's makespan: idle racks, busy fabrics, exposed communication."""

from __future__ import annotations

import numpy as np

from thzsync.arrays import FloatArray
from thzsync.auditor.findings import Findings
from thzsync.auditor.links import bytes_per_link, link_rate_bps
from thzsync.auditor.record import Record
from thzsync.auditor.tables import causal_order, sum_by

_PS_PER_MS = 10**9


def bubble(record: Record, findings: Findings) -> None:
    """The share of the time of whoever computes, racks or ranks, in which it does not."""
    tasks, owner = record.tasks, record.task_owner
    spans: list[dict[tuple[str, int], list[tuple[int, int]]]] = [{} for _ in record.iterations.job]
    for row in np.flatnonzero(owner >= 0).tolist():
        places = [("rank", int(tasks.rank[row]))] if tasks.rank[row] >= 0 else []
        places = places or [("rack", int(rack)) for rack in tasks.racks.of(row)]
        for place in places:
            span = (int(tasks.start_ps[row]), int(tasks.end_ps[row]))
            spans[owner[row]].setdefault(place, []).append(span)
    busy_ps = np.array([sum(map(_union_ps, of.values())) for of in spans], dtype=np.float64)
    places_ps = np.array([len(of) for of in spans]) * _makespan_ps(record)
    findings.compare(record.iterations, "bubble", 1 - busy_ps / np.maximum(places_ps, 1))


def _union_ps(spans: list[tuple[int, int]]) -> int:
    """Time that is covered by at least one span [ps]."""
    total, reached = 0, -1
    for begin, finish in sorted(spans):
        total += max(finish - max(begin, reached), 0)
        reached = max(reached, finish)
    return total


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
    busiest = np.zeros(len(table))
    for row in range(len(table)):
        flow = np.flatnonzero(owner == row)
        busy_s = 8 * bytes_per_link(record, flow, wired[flow]) / link_rate_bps(record)
        busiest[row] = busy_s.max() / (makespan_ps[row] * 1e-12)
    findings.compare(table, "optical_utilisation", busiest)


def exposed(record: Record, findings: Findings) -> None:
    """Exposed communication is the makespan beyond the graph's longest path of computation.

    An imported trace may hold events back until a nominal release that is not recorded: then the
    path is only a lower bound of what free communication would take.
    """
    table = record.iterations
    most_ms = (_makespan_ps(record) - _longest_path_ps(record)) / _PS_PER_MS
    told = table.real("exposed_ms")
    slack_ms = 1e-6  # every duration was rounded to picoseconds
    too_little = (told < most_ms - slack_ms) & (not record.has_traces)
    findings.test(
        ~(told <= most_ms + slack_ms) | too_little,
        table.name,
        lambda row: f"exposed_ms is {told[row]:.9g}, should be {most_ms[row]:.9g}",
    )


def _makespan_ps(record: Record) -> FloatArray:
    table = record.iterations
    makespan: FloatArray = np.maximum(table.end_ps - table.start_ps, 1).astype(np.float64)
    return makespan


def _longest_path_ps(record: Record) -> FloatArray:
    """Per iteration the longest chain of task durations, events taking no time [ps]."""
    nodes, longest = record.nodes, np.zeros(len(record.iterations))
    before: dict[int, list[int]] = {row: [] for row in range(len(nodes.key))}
    known = nodes.predecessor >= 0
    edges = zip(nodes.successor[known].tolist(), nodes.predecessor[known].tolist(), strict=True)
    for successor, predecessor in edges:
        before[successor].append(predecessor)
    done = np.zeros(len(nodes.key))
    for row in causal_order(before) or ():
        ready = max((done[earlier] for earlier in before[row]), default=0.0)
        done[row] = ready + nodes.duration_ps[row]
    owner = nodes.owner
    np.maximum.at(longest, owner[owner >= 0], done[owner >= 0])
    return longest
