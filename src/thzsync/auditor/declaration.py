"""What a run says of itself against what its tables hold."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from thzsync.auditor.book import Book
from thzsync.auditor.findings import Findings

TOLD: Final = (
    "iterations", "recorded", "rows", "scenario", "scenario_sha256", "policy", "learning", "seed",
)  # fmt: skip
"""What ``run.json`` says and the record shows."""


def declaration(book: Book, findings: Findings) -> None:
    """Counts, names and the scenario's hash in ``run.json`` are those of the record."""
    told = book.run.declared
    if told is None:
        return
    found: dict[str, Any] = book.run.provenance()
    for key in ("kinds", "within"):  # worked out anew from the replayed events
        findings.require(
            "declaration",
            told.get("fidelity", {}).get(key) == found.get("fidelity", {}).get(key),
            f"run.json, fidelity {key}",
            "does not follow from the replayed events",
        )
    if _names_a_file(book):  # the hash covers files that may have moved since
        found.pop("scenario_sha256")
    for key in TOLD:
        findings.require(
            "declaration",
            key not in found or told.get(key) == found[key],
            f"run.json, {key}",
            f"says {told.get(key)}, the record has {found.get(key)}",
        )


def _names_a_file(book: Book) -> bool:
    return book.scenario.channel.gains_file is not None or book.has_traces


def completeness(book: Book, findings: Findings) -> None:
    """Iterations follow each other without a gap and hold something, and so do event numbers."""
    table = book.iterations
    findings.require("completeness", len(table) > 0, "table iterations", "holds no iteration")
    known = {job.name for job in book.scenario.jobs}
    findings.test(
        "completeness",
        np.array([name not in known for name in table.jobs], dtype=np.bool_),
        lambda k: f"job {table.jobs[k]!r}",
        lambda _: "is not in the scenario",
    )
    order = np.lexsort((table.iteration, table.job))
    a, b = order[:-1], order[1:]
    findings.test(
        "completeness",
        (table.job[a] == table.job[b]) & (table.iteration[b] != table.iteration[a] + 1),
        lambda k: table.name(int(b[k])),
        lambda k: f"follows iteration {table.iteration[a[k]]}",
    )
    owner = book.nodes.owner
    nodes = np.bincount(owner[owner >= 0], minlength=len(table))
    findings.test("completeness", nodes == 0, table.name, lambda _: "holds no task and no event")
    if len(known) == 1:  # with several jobs, events of unfinished iterations lie in between
        number = np.sort(book.events.number)
        findings.test(
            "completeness",
            np.diff(number) != 1,
            lambda k: f"event {number[k + 1]}",
            lambda k: f"follows event {number[k]}",
        )
