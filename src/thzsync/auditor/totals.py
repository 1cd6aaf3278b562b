"""Times, energies and rewards: every figure is the sum of what it is made of."""

from __future__ import annotations

import numpy as np

from thzsync.arrays import BoolArray, FloatArray
from thzsync.auditor.book import Book
from thzsync.auditor.findings import TOLERANCE, Findings
from thzsync.auditor.tables import real_sum_by, sum_by
from thzsync.scenario import FibreDegraded

_PS_PER_MS = 10**9


def _differs(told: FloatArray, found: FloatArray) -> BoolArray:
    differs: BoolArray = ~np.isclose(told, found, rtol=TOLERANCE, atol=1e-12)
    return differs


def compare_events(
    book: Book, findings: Findings, check: str, column: str, found: FloatArray
) -> None:
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
    thz_j = real_sum_by(sent.event[known], joule[known], len(events))
    compare_events(book, findings, "energy", "thz_energy_j", thz_j)
    valid = chunks.event >= 0
    wired, thz = np.flatnonzero(valid & ~chunks.thz), np.flatnonzero(valid & chunks.thz)
    byte_hops = chunks.bytes[wired] * book.hops(chunks.flow[wired])
    bits = 8.0 * sum_by(chunks.event[wired], byte_hops, len(events))
    optical_j = (book.scenario.optical.energy_j_per_bit_hop * bits).astype(np.float64)
    compare_events(book, findings, "energy", "optical_energy_j", optical_j)
    for column, rows in (("wired_bytes", wired), ("thz_bytes", thz)):
        carried = sum_by(chunks.event[rows], chunks.bytes[rows], len(events))
        compare_events(book, findings, "energy", column, carried.astype(np.float64))


def completion(book: Book, findings: Findings) -> None:
    """T_e counts from the event's release to its last chunk."""
    events = book.events
    compare_events(
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
    compare_events(book, findings, "reward", "reward", expected)


def references(book: Book, findings: Findings) -> None:
    """The reference energy of a collective is what the first iteration would cost on fibre alone.

    It can be told where flows do not depend on the split and an iteration is like another: one
    generated job, the paper's method, no broken fibre; and in a run from disk, since whoever
    simulates in Python may bring references of his own. A time cannot be told, but is positive.
    """
    events, flows, told = book.events, book.flows, book.run.references
    findings.test(
        "references",
        np.array([not (t > 0 and e >= 0) for t, e in told.values()], dtype=np.bool_),
        lambda k: f"references of {list(told)[k]}",
        lambda k: f"are {list(told.values())[k]}",
    )
    if book.run.declared is None or not _alike(book):
        return
    known = np.flatnonzero(flows.event >= 0)
    bits = (8 * flows.bytes[known] * book.hops(known)).astype(np.float64)
    wired_j = book.scenario.optical.energy_j_per_bit_hop * real_sum_by(
        flows.event[known], bits, len(events)
    )
    for kind, (_, energy_j) in told.items():
        mine = (events.kind == kind) & (events.text("method") == "proposed")
        if mine.any():
            expected = float(wired_j[mine & (events.iteration == events.iteration.min())].mean())
            findings.require(
                "references",
                bool(np.isclose(energy_j, expected, rtol=1e-6)),
                f"references of {kind}",
                f"{energy_j:.9g} J, All-Wired needs {expected:.9g} J",
            )


def _alike(book: Book) -> bool:
    """Whether all iterations put the same bytes on the same fibres if nothing goes over THz."""
    jobs = book.scenario.jobs
    broken = any(isinstance(fault, FibreDegraded) for fault in book.scenario.faults)
    return len(jobs) == 1 and jobs[0].training is not None and not broken and len(book.events) > 0


def iteration_totals(book: Book, findings: Findings) -> None:
    """An iteration's figures are sums or means over its events."""
    events, table = book.events, book.iterations
    owner = book.event_owner
    mine = owner >= 0

    def total(column: str) -> FloatArray:
        return real_sum_by(owner[mine], events.real(column)[mine], len(table))

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
        compare_iterations(book, findings, "iteration_totals", column, found)


def compare_iterations(
    book: Book, findings: Findings, check: str, column: str, found: FloatArray
) -> None:
    """A column of the iterations against what it should be."""
    told = book.iterations.real(column)
    findings.test(
        check,
        _differs(told, found),
        book.iterations.name,
        lambda row: f"{column} is {told[row]:.9g}, should be {found[row]:.9g}",
    )
