"""Shares of an iteration's makespan: idle racks, busy fabrics, exposed communication."""

from __future__ import annotations

import numpy as np

from thzsync.arrays import FloatArray
from thzsync.auditor.book import Book
from thzsync.auditor.fibre import bytes_per_link, link_rate_bps
from thzsync.auditor.findings import Findings
from thzsync.auditor.tables import causal_order, sum_by
from thzsync.auditor.totals import compare_iterations

_PS_PER_MS = 10**9


def bubble(book: Book, findings: Findings) -> None:
    """The share of the time of whoever computes, racks or ranks, in which it does not."""
    table, tasks = book.iterations, book.tasks
    start, end, rank = tasks["start_ps"], tasks["end_ps"], tasks["rank"]
    racks, owner = tasks.lists("racks"), book.task_owner
    spans: list[dict[tuple[str, int], list[tuple[int, int]]]] = [{} for _ in range(len(table))]
    for row in np.flatnonzero(owner >= 0).tolist():
        places = [("rank", int(rank[row]))] if rank[row] >= 0 else []
        places = places or [("rack", int(rack)) for rack in racks.of(row)]
        for place in places:
            span = (int(start[row]), int(end[row]))
            spans[owner[row]].setdefault(place, []).append(span)
    busy_ps = np.array([sum(map(_union_ps, of.values())) for of in spans], dtype=np.float64)
    places_ps = np.array([len(of) for of in spans]) * _makespan_ps(book)
    compare_iterations(book, findings, "bubble", "bubble", 1 - busy_ps / np.maximum(places_ps, 1))


def _union_ps(spans: list[tuple[int, int]]) -> int:
    """Time that is covered by at least one span [ps]."""
    total, reached = 0, -1
    for begin, finish in sorted(spans):
        total += max(finish - max(begin, reached), 0)
        reached = max(reached, finish)
    return total


def utilisation(book: Book, findings: Findings) -> None:
    """Busy rack x subband slots, and the busiest fibre's share of its capacity."""
    table, sent = book.iterations, book.transmissions
    makespan_ps = _makespan_ps(book)
    iteration = book.event_owner
    known = np.flatnonzero(sent.event >= 0)
    known = known[iteration[sent.event[known]] >= 0]
    sending_ps = (sent.end_ps - sent.start_ps)[known]
    air_ps = 2 * sum_by(iteration[sent.event[known]], sending_ps, len(table))  # at both ends
    slots = book.racks * book.scenario.thz.subbands
    on_air = air_ps / (slots * makespan_ps)
    compare_iterations(book, findings, "utilisation", "thz_utilisation", on_air)

    flows, wired = book.flows, book.survey.wired_bytes
    known = np.flatnonzero(flows.event >= 0)
    owner = np.full(len(flows), -1)
    owner[known] = iteration[flows.event[known]]
    busiest = np.zeros(len(table))
    for row in range(len(table)):
        busy_s = 8 * bytes_per_link(book, wired * (owner == row)) / link_rate_bps(book)
        busiest[row] = busy_s.max() / (makespan_ps[row] * 1e-12)
    compare_iterations(book, findings, "utilisation", "optical_utilisation", busiest)


def exposed(book: Book, findings: Findings) -> None:
    """Exposed communication is the makespan beyond the graph's longest path of computation.

    An imported trace may hold events back until a nominal release that is not recorded: then the
    path is only a lower bound of what free communication would take.
    """
    table = book.iterations
    most_ms = (_makespan_ps(book) - _longest_path_ps(book)) / _PS_PER_MS
    told = table.real("exposed_ms")
    slack_ms = 1e-6  # every duration was rounded to picoseconds
    findings.test(
        "exposed",
        ~(told <= most_ms + slack_ms) | ((told < most_ms - slack_ms) & (not book.has_traces)),
        table.name,
        lambda row: f"exposed_ms is {told[row]:.9g}, should be {most_ms[row]:.9g}",
    )


def _makespan_ps(book: Book) -> FloatArray:
    table = book.iterations
    makespan: FloatArray = np.maximum(table["end_ps"] - table["start_ps"], 1).astype(np.float64)
    return makespan


def _longest_path_ps(book: Book) -> FloatArray:
    """Per iteration the longest chain of task durations, events taking no time [ps]."""
    nodes, longest = book.nodes, np.zeros(len(book.iterations))
    before: dict[int, list[int]] = {row: [] for row in range(len(nodes.key))}
    for successor, predecessor in zip(
        nodes.successor.tolist(), nodes.predecessor.tolist(), strict=True
    ):
        if predecessor >= 0:
            before[successor].append(predecessor)
    done = np.zeros(len(nodes.key))
    for row in causal_order(before) or ():
        ready = max((done[earlier] for earlier in before[row]), default=0.0)
        done[row] = ready + nodes.duration_ps[row]
    owner = nodes.owner
    np.maximum.at(longest, owner[owner >= 0], done[owner >= 0])
    return longest
