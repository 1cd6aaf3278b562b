"""Times, energies and rewards: every figure is the sum of what it is made of."""

from __future__ import annotations

import numpy as np

from thzsync.arrays import BoolArray, FloatArray
from thzsync.simulation.audit.book import Book
from thzsync.simulation.audit.fibre import link_rate_bps, wired_bytes_per_link
from thzsync.simulation.audit.findings import TOLERANCE, Findings
from thzsync.simulation.audit.tables import find, pack, sum_by

_PS_PER_MS = 10**9


def _differs(told: FloatArray, found: FloatArray) -> BoolArray:
    differs: BoolArray = ~np.isclose(told, found, rtol=TOLERANCE, atol=1e-12)
    return differs


def _compare(book: Book, findings: Findings, check: str, column: str, found: FloatArray) -> None:
    """A column of the events against what it should be."""
    told = book.events.real(column)
    findings.test(
        check,
        _differs(told, found),
        book.events.name,
        lambda row: f"{column} is {told[row]:.9g}, should be {found[row]:.9g}",
    )


def energy(book: Book, findings: Findings) -> None:
    """Energy and bytes of an event on both fabrics (eq:thz_energy, eq:optical_energy)."""
    events, chunks, sent = book.events, book.chunks, book.transmissions
    known = np.flatnonzero(sent.event >= 0)
    joule = sent.power_w * (sent.end_ps - sent.start_ps) * 1e-12
    thz_j = np.bincount(sent.event[known], joule[known], minlength=len(events))
    _compare(book, findings, "energy", "thz_energy_j", thz_j)
    valid = chunks.event >= 0
    wired, thz = np.flatnonzero(valid & ~chunks.thz), np.flatnonzero(valid & chunks.thz)
    byte_hops = chunks.bytes[wired] * book.hops(chunks.flow[wired])
    bit_hops = 8 * sum_by(chunks.event[wired], byte_hops, len(events))
    optical_j = book.scenario.optical.energy_j_per_bit_hop * bit_hops
    _compare(book, findings, "energy", "optical_energy_j", optical_j)
    for column, rows in (("wired_bytes", wired), ("thz_bytes", thz)):
        carried = sum_by(chunks.event[rows], chunks.bytes[rows], len(events))
        _compare(book, findings, "energy", column, carried.astype(np.float64))


def completion(book: Book, findings: Findings) -> None:
    """T_e counts from the event's release to its last chunk."""
    events = book.events
    _compare(
        book,
        findings,
        "completion",
        "completion_ms",
        (events.end_ps - events.release_ps) / _PS_PER_MS,
    )


def reward(book: Book, findings: Findings) -> None:
    """r_e = -(W_T T / T_ref + W_E E / E_ref); no reference costs nothing."""
    events, weights = book.events, book.scenario.reward
    time_s = events.real("completion_ms") * 1e-3
    energy_j = events.real("optical_energy_j") + events.real("thz_energy_j")
    expected = np.zeros(len(events))
    for kind, (reference_s, reference_j) in book.run.references.items():
        rows = events.kind == kind
        if reference_s > 0:
            expected[rows] -= weights.time_weight * time_s[rows] / reference_s
        if reference_j > 0:
            expected[rows] -= weights.energy_weight * energy_j[rows] / reference_j
    _compare(book, findings, "reward", "reward", expected)


def iteration_totals(book: Book, findings: Findings) -> None:
    """An iteration's figures are sums or means over its events."""
    events, table = book.events, book.iterations
    owner = find(table.key, events.iteration)
    mine = owner >= 0

    def total(column: str) -> FloatArray:
        return np.bincount(owner[mine], events.real(column)[mine], minlength=len(table))

    optical_j, thz_j = total("optical_energy_j"), total("thz_energy_j")
    thz_bytes = total("thz_bytes")
    count = np.bincount(owner[mine], minlength=len(table))
    expected = {
        "completion_ms": total("completion_ms"),
        "optical_energy_j": optical_j,
        "thz_energy_j": thz_j,
        "energy_j": optical_j + thz_j,
        "reward": total("reward") / np.maximum(count, 1),
        "makespan_ms": (table["end_ps"] - table["start_ps"]) / _PS_PER_MS,
        "thz_share": thz_bytes / np.maximum(thz_bytes + total("wired_bytes"), 1),
        "fallback_chunks": total("fallback_chunks"),
        "rerouted_chunks": total("rerouted_chunks"),
    }
    for column, found in expected.items():
        _compare_iterations(book, findings, column, found)


def utilisation(book: Book, findings: Findings) -> None:
    """Idle stages, busy transceivers and the busiest fibre, as shares of the makespan."""
    table, tasks, events, sent = book.iterations, book.tasks, book.events, book.transmissions
    makespan = np.maximum(table["end_ps"] - table["start_ps"], 1)
    busy, stages = np.zeros(len(table)), np.zeros(len(table))
    names = list(zip(tasks.text("job").tolist(), tasks["stage"].tolist(), strict=True))
    owner = find(table.key, tasks["iteration"])
    for row in range(len(table)):
        mine = np.flatnonzero(owner == row)
        busy[row] = (tasks["end_ps"] - tasks["start_ps"])[mine].sum()
        stages[row] = len({names[task] for task in mine.tolist()})
    bubble = 1 - busy / np.maximum(1, stages * makespan)
    _compare_iterations(book, findings, "bubble", bubble, "utilisation")

    iteration = find(table.key, events.iteration)
    known = np.flatnonzero(sent.event >= 0)
    known = known[iteration[sent.event[known]] >= 0]
    air_ps = sum_by(iteration[sent.event[known]], (sent.end_ps - sent.start_ps)[known], len(table))
    slots = book.racks * book.scenario.thz.subbands
    _compare_iterations(
        book, findings, "thz_utilisation", 2 * air_ps / (slots * makespan), "utilisation"
    )
    busiest = np.zeros(len(table))
    wired = np.flatnonzero(~book.chunks.thz & (book.chunks.event >= 0))
    for row in range(len(table)):
        mine = wired[iteration[book.chunks.event[wired]] == row]
        seconds = makespan[row] * 1e-12
        busiest[row] = (8 * wired_bytes_per_link(book, mine) / link_rate_bps(book)).max() / seconds
    _compare_iterations(book, findings, "optical_utilisation", busiest, "utilisation")


def exposed(book: Book, findings: Findings) -> None:
    """Exposed communication is the makespan beyond the graph's longest path of computation.

    An imported trace may hold events back until a nominal release that is not recorded: then the
    path is only a lower bound of what free communication would take.
    """
    table = book.iterations
    makespan_ms = (table["end_ps"] - table["start_ps"]) / _PS_PER_MS
    most_ms = makespan_ms - _longest_path_ps(book) / _PS_PER_MS
    told = table.real("exposed_ms")
    bound_only = any(job.trace is not None for job in book.scenario.jobs)
    slack_ms = 1e-6  # durations were rounded to picoseconds one by one
    findings.test(
        "exposed",
        ~(told <= most_ms + slack_ms) | ((told < most_ms - slack_ms) & (not bound_only)),
        lambda row: f"iteration {table.key[row]}",
        lambda row: f"exposed_ms is {told[row]:.9g}, should be {most_ms[row]:.9g}",
    )


def _longest_path_ps(book: Book) -> FloatArray:
    """Per iteration the longest chain of task durations, events taking no time [ps]."""
    tasks, events = book.tasks, book.events
    key = np.concatenate((tasks.key, pack(events.iteration, events.node)))
    begin = np.concatenate((tasks["start_ps"], events.release_ps))
    end = np.concatenate((tasks["end_ps"], events.end_ps))
    duration = np.concatenate((tasks["duration_ps"], np.zeros(len(events), dtype=np.int64)))
    after = [*_key_lists(tasks), *_key_lists(events)]
    done: dict[int, int] = {}
    # In the order of recorded times every node comes after those it waited for.
    for row in np.lexsort((end, begin)).tolist():
        ready = max((done.get(other, 0) for other in after[row]), default=0)
        done[int(key[row])] = ready + int(duration[row])
    iteration = book.iterations.key
    longest = np.zeros(len(iteration))
    for node, path in done.items():
        row = int(np.searchsorted(iteration, node >> 32))
        if row < len(iteration):
            longest[row] = max(longest[row], path)
    return longest
