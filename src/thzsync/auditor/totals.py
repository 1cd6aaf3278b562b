"""Times, energies and rewards: every figure is the sum of what it is made of."""

from __future__ import annotations

import numpy as np

from thzsync.arrays import FloatArray
from thzsync.auditor.findings import Findings
from thzsync.auditor.links import hops
from thzsync.auditor.record import Record
from thzsync.auditor.tables import real_sum_by, sum_by

_PS_PER_MS = 10**9


def energy(record: Record, findings: Findings) -> None:
    """Energy and bytes of an event on both fabrics (eq:thz_energy, eq:optical_energy)."""
    events, chunks, sent = record.events, record.chunks, record.transmissions
    known = np.flatnonzero(sent.event >= 0)
    joule = sent.power_w * (sent.end_ps - sent.start_ps) * 1e-12
    thz_j = real_sum_by(sent.event[known], joule[known], len(events))
    findings.compare(events, "thz_energy_j", thz_j)
    valid = chunks.event >= 0
    wired, thz = np.flatnonzero(valid & ~chunks.thz), np.flatnonzero(valid & chunks.thz)
    byte_hops = chunks.bytes[wired] * hops(record, chunks.flow[wired])
    bits = 8.0 * sum_by(chunks.event[wired], byte_hops, len(events))
    optical_j = record.scenario.optical.energy_j_per_bit_hop * bits
    findings.compare(events, "optical_energy_j", optical_j.astype(np.float64))
    for column, rows in (("wired_bytes", wired), ("thz_bytes", thz)):
        carried = sum_by(chunks.event[rows], chunks.bytes[rows], len(events))
        findings.compare(events, column, carried.astype(np.float64))


def completion(record: Record, findings: Findings) -> None:
    """T_e counts from the event's release to its last chunk."""
    events = record.events
    findings.compare(events, "completion_ms", (events.end_ps - events.release_ps) / _PS_PER_MS)


def reward(record: Record, findings: Findings) -> None:
    """r_e = -(W_T T / T_ref + W_E E / E_ref); no reference costs nothing."""
    events, weights = record.events, record.scenario.reward
    time_s = events.real("completion_ms") * 1e-3
    energy_j = events.real("optical_energy_j") + events.real("thz_energy_j")
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
    generated job, the paper's method, no broken fibre; and in a run from disk, since whoever
    simulates in Python may bring references of his own. A time cannot be told, but is positive.
    """
    events, flows, told = record.events, record.flows, record.run.references
    findings.test(
        np.array([not (t > 0 and e >= 0) for t, e in told.values()], dtype=np.bool_),
        lambda k: f"references of {list(told)[k]}",
        lambda k: f"are {list(told.values())[k]}",
    )
    if record.run.declared is None or not _alike(record):
        return
    known = np.flatnonzero(flows.event >= 0)
    bits = (8 * flows.bytes[known] * hops(record, known)).astype(np.float64)
    wired_j = record.scenario.optical.energy_j_per_bit_hop * real_sum_by(
        flows.event[known], bits, len(events)
    )
    for kind, (_, energy_j) in told.items():
        mine = (events.kind == kind) & (events.method == "proposed")
        if mine.any():
            expected = float(wired_j[mine & (events.iteration == events.iteration.min())].mean())
            findings.require(
                bool(np.isclose(energy_j, expected, rtol=1e-6)),
                f"references of {kind}",
                f"{energy_j:.9g} J, All-Wired needs {expected:.9g} J",
            )


def _alike(record: Record) -> bool:
    """Whether all iterations put the same bytes on the same fibres if nothing goes over THz."""
    jobs = record.scenario.jobs
    alone = len(jobs) == 1 and jobs[0].training is not None
    return alone and not record.broken_fibres and len(record.events) > 0


def iteration_totals(record: Record, findings: Findings) -> None:
    """An iteration's figures are sums or means over its events."""
    events, table, owner = record.events, record.iterations, record.event_owner
    mine = owner >= 0

    def total(column: str) -> FloatArray:
        return real_sum_by(owner[mine], events.real(column)[mine], len(table))

    summed = (
        "completion_ms", "optical_energy_j", "thz_energy_j", "fallback_chunks", "rerouted_chunks",
    )  # fmt: skip
    for column in summed:
        findings.compare(table, column, total(column))
    thz_bytes, count = total("thz_bytes"), np.bincount(owner[mine], minlength=len(table))
    findings.compare(table, "energy_j", total("optical_energy_j") + total("thz_energy_j"))
    findings.compare(table, "reward", total("reward") / np.maximum(count, 1))
    findings.compare(table, "makespan_ms", (table.end_ps - table.start_ps) / _PS_PER_MS)
    share = thz_bytes / np.maximum(thz_bytes + total("wired_bytes"), 1)
    findings.compare(table, "thz_share", share)
