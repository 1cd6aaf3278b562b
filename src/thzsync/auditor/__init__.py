"""The auditor: re-checks a recorded run from its records and its scenario alone.

It shares no code with the engine, the executor or the kernel: paths, rates, energies and rewards
are worked out anew, and only the channel is asked, for the gain at an instant. Each check is a
small function with a name of its own, counts the facts it looked at, and says which broke.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from thzsync.auditor import (
    air,
    background,
    carriers,
    causality,
    delivery,
    energy,
    faults,
    fibre,
    flows,
    interference,
    policy,
    rounds,
    structure,
    totals,
    workload,
)
from thzsync.auditor.findings import Audit, Findings, Violation
from thzsync.auditor.record import Record

if TYPE_CHECKING:
    from thzsync.records.run import Run

Check = Callable[[Record, Findings], None]

CHECKS: Final[tuple[Check, ...]] = (
    structure.records, structure.declaration, structure.completeness,
    workload.workload, workload.method, workload.stragglers,
    causality.chunk_times, causality.event_end, causality.iteration_span, causality.task_duration,
    causality.graph_precedence, causality.chunk_precedence, causality.local_release,
    causality.ready_time, causality.round_start,
    delivery.chunks_once, delivery.flow_graph, delivery.blocks, delivery.postcondition,
    delivery.fabric, delivery.action, delivery.decision,
    policy.static_policy, policy.learner,
    air.half_duplex, air.rf_chains, air.power_cap, air.power_budget,
    rounds.gain, interference.interference, rounds.rate, rounds.steps,
    air.power_needed, air.budget_used,
    rounds.transmission_bytes, rounds.round_span, rounds.round_order, rounds.discipline,
    rounds.in_turn, rounds.steering,
    carriers.sendings, carriers.carriers,
    fibre.wired_speed, fibre.link_bytes, fibre.wired_order, fibre.link_rate,
    flows.fibre_time, flows.fidelity, fibre.link_spans, fibre.link_progress,
    background.background,
    energy.energy, energy.static, totals.completion, totals.bandwidth,
    totals.references, totals.reward, totals.iteration_totals,
    totals.bubble, totals.utilisation, totals.exposed,
    faults.thz_faults, faults.frozen_racks, faults.silence, faults.fallback,
)  # fmt: skip
"""Every check, in the order of reporting; each counts its facts under its own name."""

IN_PARTS: Final[frozenset[Check]] = frozenset((
    causality.chunk_times, causality.event_end, causality.chunk_precedence,
    causality.local_release, causality.ready_time, causality.round_start,
    delivery.chunks_once, delivery.blocks, delivery.postcondition,
    carriers.sendings,
    delivery.fabric, delivery.decision, air.power_budget, rounds.transmission_bytes,
    fibre.wired_speed, flows.fibre_time, energy.energy, faults.fallback,
))  # fmt: skip
"""Checks of single events: they look at a part of the record at a time."""

Tell = Callable[[float, str], None]
"""Is told how many checks were finished since the last time, and which one is under way."""


def audit(
    run: Run | str | Path, checks: Sequence[Check] = CHECKS, tell: Tell | None = None
) -> Audit:
    """Re-check every recorded fact of a run or of its folder, or the facts of some checks."""
    import numpy as np

    if isinstance(run, (str, Path)):
        from thzsync.records.run import Run

        run = Run.load(run)

    # A damaged record may hold any number: overflow ends in a violation, not in a warning.
    with np.errstate(all="ignore"):
        record, findings, done = Record(run), Findings(check.__name__ for check in checks), 0.0
        for check, part, share in _steps(record, checks):
            if tell is not None:
                tell(done, check.__name__)
            findings.check = check.__name__
            check(part, findings)
            done = share
    if tell is not None:
        tell(done, "done")
    return findings.audit()


def _steps(record: Record, checks: Sequence[Check]) -> Iterator[tuple[Check, Record, float]]:
    """What is checked in which part of a record, and what share of the check that is."""
    yield from ((check, record, 1.0) for check in checks if check not in IN_PARTS)
    parted = [check for check in checks if check in IN_PARTS]
    for part in record.parts() if parted else ():
        yield from ((check, part, 1 / record.part_count) for check in parted)


__all__ = ["CHECKS", "Audit", "Violation", "audit"]
