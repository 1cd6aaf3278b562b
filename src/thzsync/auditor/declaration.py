"""What a run says of itself against what its tables hold."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from thzsync.auditor.findings import Findings
from thzsync.auditor.format2 import DISCIPLINES
from thzsync.auditor.record import Record

TOLD: Final = (
    "iterations", "recorded", "rows", "scenario", "scenario_sha256", "policy", "learning", "seed",
    "disciplines",
)  # fmt: skip
"""What ``run.json`` says and the record shows."""


def declaration(record: Record, findings: Findings) -> None:
    """Counts, names and the scenario's hash in ``run.json`` are those of the record."""
    _disciplines(record, findings)
    told = record.run.declared
    if told is None:
        return
    found: dict[str, Any] = record.run.provenance()
    for key in ("kinds", "within"):  # worked out anew from the replayed events
        findings.require(
            told.get("fidelity", {}).get(key) == found.get("fidelity", {}).get(key),
            f"run.json, fidelity {key}",
            "does not follow from the replayed events",
        )
    if record.scenario.channel.gains_file is not None or record.has_traces:
        # The hash covers files that may have moved since.
        found.pop("scenario_sha256")
    for key in TOLD:
        findings.require(
            key not in found or told.get(key) == found[key],
            f"run.json, {key}",
            f"says {told.get(key)}, the record has {found.get(key)}",
        )


def _disciplines(record: Record, findings: Findings) -> None:
    """All disciplines in use are declared, and those of format 2 as they were."""
    if record.run.disciplines is None:
        return
    for name in np.unique(record.flows.discipline.astype(str)).tolist():
        told = record.declarations.get(name)
        findings.require(
            told is not None and told == DISCIPLINES.get(name, told),
            f"run.json, disciplines, {name}",
            "is not declared" if told is None else f"says {told}, which is not what it stands for",
        )


def completeness(record: Record, findings: Findings) -> None:
    """Iterations follow each other without a gap and hold something, and so do event numbers."""
    table = record.iterations
    findings.require(len(table) > 0, "table iterations", "holds no iteration")
    known = {job.name for job in record.scenario.jobs}
    findings.test(
        np.array([name not in known for name in table.jobs], dtype=np.bool_),
        lambda k: f"job {table.jobs[k]!r}",
        "is not in the scenario",
    )
    a, b = table.consecutive()
    findings.test(
        (table.job[a] == table.job[b]) & (table.iteration[b] != table.iteration[a] + 1),
        table.at(b),
        lambda k: f"follows iteration {table.iteration[a[k]]}",
    )
    owner = record.nodes.owner
    nodes = np.bincount(owner[owner >= 0], minlength=len(table))
    findings.test(nodes == 0, table.name, "holds no task and no event")
    if len(known) == 1:  # with several jobs, events of unfinished iterations lie in between
        number = np.sort(record.events.number)
        findings.test(
            np.diff(number) != 1,
            lambda k: f"event {number[k + 1]}",
            lambda k: f"follows event {number[k]}",
        )
