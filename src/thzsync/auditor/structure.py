"""Do the tables fit together: no gaps, no doubles, no references into nothing?"""

from __future__ import annotations

import numpy as np

from thzsync.arrays import IntArray
from thzsync.auditor.findings import Findings
from thzsync.auditor.record import Record
from thzsync.auditor.tables import find, pack, unpack


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
        findings.test(
            np.diff(key) == 0,
            lambda row, what=what, key=key: f"{what} {_unpacked(key[row])}",  # type: ignore[misc]
            "stands twice",
        )


def _unpacked(key: IntArray) -> str:
    first, second = unpack(key)
    return f"{first}/{second}" if first else str(second)


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
        ("entry of a flow's after", flows.after_edges()[1], "flow"),
    ]
    for what, row, target in references:
        findings.test(
            row < 0,
            lambda number, what=what: f"{what} in row {number} (sorted)",  # type: ignore[misc]
            f"names a {target} that is not recorded",
        )
    orphans = record.survey.orphans
    findings.test(
        np.arange(record.survey.chunks + len(orphans)) < len(orphans),
        lambda row: "event {}, flow {}, chunk {}".format(*orphans[row]),
        "belongs to no recorded flow",
    )


def _tasks(record: Record, findings: Findings) -> None:
    tasks = record.tasks
    rack, owner = tasks.racks.values, tasks.racks.owner
    rising = np.ones(len(rack), dtype=np.bool_)
    rising[1:] = (np.diff(rack) > 0) | (np.diff(owner) > 0)
    findings.test(
        (rack < 0) | (rack >= record.racks) | ~rising,
        tasks.at(owner),
        lambda k: f"rack {rack[k]} does not exist, or racks do not rise",
    )
    findings.test((tasks.racks.lengths == 0) | (tasks.rank < -1), tasks.name, "nobody computes it")


def _members(record: Record, findings: Findings) -> None:
    """Racks of events, their columns of values, and the ends of flows among them."""
    events, flows = record.events, record.flows
    for name, column in (("delay_ps", events.delays), ("power", events.powers)):
        findings.require(
            bool((column.lengths == events.racks.lengths).all()),
            f"table events, column {name}",
            "an event has not one value per rack",
        )
    rack = events.racks.values
    findings.test((rack < 0) | (rack >= record.racks), events.member_name, "there is no such rack")
    findings.test(
        events.delay_ps < 0,
        events.member_name,
        lambda k: f"has a negative delay of {events.delay_ps[k]} ps",
    )
    src, dst = (events.member(flows.event, end) for end in (flows.src, flows.dst))
    findings.test(
        (src < 0) | (dst < 0) | (flows.src == flows.dst),
        flows.name,
        lambda row: f"rack {flows.src[row]} -> {flows.dst[row]} are not two racks of the event",
    )
