"""Do the tables fit together, and is the record what ``run.json`` says of it?"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from thzsync.arrays import IntArray
from thzsync.auditor.findings import Findings
from thzsync.auditor.format2 import DISCIPLINES
from thzsync.auditor.record import Record
from thzsync.auditor.tables import find, pack


def records(record: Record, findings: Findings) -> None:
    """Every row is complete, every key unique, every reference leads somewhere."""
    for name, rows in record.incomplete.items():
        findings.require(rows == 0, f"table {name}", f"{rows} rows have missing values")
    _unique(record, findings)
    _references(record, findings)
    _tasks(record, findings)
    _members(record, findings)


def _unique(record: Record, findings: Findings) -> None:
    keys = {
        "iteration": np.sort(record.iterations.span_key),
        "event number": record.events.key,
        "block": record.blocks.key,
        "flow": record.flows.key,
        "round": record.rounds.key,
        "node of an iteration": np.sort(record.nodes.key),
    }
    for what, key in keys.items():
        for k in findings.broken(np.diff(key) == 0):
            findings.add(f"{what} {_unpacked(key[k])}", "stands twice")


def _unpacked(key: int) -> str:
    return f"{key >> 32}/{key & 0xFFFFFFFF}" if key >> 32 else str(key)


def _references(record: Record, findings: Findings) -> None:
    flows, sent = record.flows, record.transmissions
    references: list[tuple[str, IntArray, str]] = [
        ("task", record.task_owner, "iteration"),
        ("event", record.event_owner, "iteration"),
        ("block", record.blocks.event, "event"),
        ("flow", flows.event, "event"),
        ("flow", find(record.blocks.key, pack(flows.number, flows.block)), "block"),
        ("round", record.rounds.event, "event"),
        ("transmission", sent.round, "round"),
        ("transmission", sent.flow, "flow"),
        ("sending", record.sendings.event, "event"),
        ("sending", record.sendings.flow, "flow"),
        ("entry of a flow's after", flows.predecessor, "flow"),
    ]
    for what, row, target in references:
        for k in findings.broken(row < 0):
            findings.add(f"{what} in row {k} (sorted)", f"names a {target} that is not recorded")
    orphans = record.survey.orphans
    for k in findings.broken(np.arange(record.survey.chunks + len(orphans)) < len(orphans)):
        findings.add("event {}, flow {}, chunk {}".format(*orphans[k]), "is of no recorded flow")


def _tasks(record: Record, findings: Findings) -> None:
    tasks = record.tasks
    rack, owner = tasks.racks.values, tasks.racks.owner
    rising = np.ones(len(rack), dtype=np.bool_)
    rising[1:] = (np.diff(rack) > 0) | (np.diff(owner) > 0)
    for k in findings.broken((rack < 0) | (rack >= record.racks) | ~rising):
        findings.add(tasks.name(owner[k]), f"rack {rack[k]} does not exist, or racks do not rise")
    for k in findings.broken((tasks.racks.lengths == 0) | (tasks.rank < -1)):
        findings.add(tasks.name(k), "nobody computes it")


def _members(record: Record, findings: Findings) -> None:
    """Racks of events, their columns of values, and the ends of flows among them."""
    events, flows = record.events, record.flows
    for name, column in (("delay_ps", events.delays), ("power", events.powers)):
        fits = bool((column.lengths == events.racks.lengths).all())
        findings.require(fits, f"table events, column {name}", "has not one value per rack")
    rack = events.racks.values
    for k in findings.broken((rack < 0) | (rack >= record.racks)):
        findings.add(events.member_name(k), "there is no such rack")
    for k in findings.broken(events.delay_ps < 0):
        findings.add(events.member_name(k), f"has a negative delay of {events.delay_ps[k]} ps")
    src, dst = (events.member(flows.event, end) for end in (flows.src, flows.dst))
    for k in findings.broken((src < 0) | (dst < 0) | (flows.src == flows.dst)):
        findings.add(flows.name(k), f"{flows.src[k]} -> {flows.dst[k]} are not two of its racks")


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
    if told.get("format") == 2:
        del found["rows"]["sendings"]
    for key in ("kinds", "within"):  # worked out anew from the replayed events
        same = told.get("fidelity", {}).get(key) == found.get("fidelity", {}).get(key)
        findings.require(same, f"run.json, fidelity {key}", "does not follow from replayed events")
    moved = told.get("plugins") != found.get("plugins")
    if record.scenario.channel.gains_file is not None or record.has_traces or moved:
        # The hash covers files that may have moved or changed since; of plug-ins, a warning tells.
        found.pop("scenario_sha256")
    for key in TOLD:
        message = f"says {told.get(key)}, the record has {found.get(key)}"
        same = key not in found or told.get(key) == found[key]
        findings.require(same, f"run.json, {key}", message)


def _disciplines(record: Record, findings: Findings) -> None:
    """All disciplines in use are declared, and those of format 2 as they were."""
    if record.run.disciplines is None:
        return
    for name in np.unique(record.flows.discipline.astype(str)).tolist():
        told = record.declarations.get(name)
        kept = told is not None and told == DISCIPLINES.get(name, told)
        message = f"says {told}, which is not what it stands for" if told else "is not declared"
        findings.require(kept, f"run.json, disciplines, {name}", message)


def completeness(record: Record, findings: Findings) -> None:
    """Iterations follow each other without a gap and hold something, and so do event numbers."""
    table = record.iterations
    findings.require(len(table) > 0, "table iterations", "holds no iteration")
    known = {job.name for job in record.scenario.jobs}
    for k in findings.broken([name not in known for name in table.jobs]):
        findings.add(f"job {table.jobs[k]!r}", "is not in the scenario")
    a, b = table.consecutive()
    wrong = (table.job[a] == table.job[b]) & (table.iteration[b] != table.iteration[a] + 1)
    for k in findings.broken(wrong):
        findings.add(table.name(b[k]), f"follows iteration {table.iteration[a[k]]}")
    owner = record.nodes.owner
    nodes = np.bincount(owner[owner >= 0], minlength=len(table))
    for k in findings.broken(nodes == 0):
        findings.add(table.name(k), "holds no task and no event")
    if len(known) == 1:  # with several jobs, events of unfinished iterations lie in between
        number = np.sort(record.events.number)
        for k in findings.broken(np.diff(number) != 1):
            findings.add(f"event {number[k + 1]}", f"follows event {number[k]}")
