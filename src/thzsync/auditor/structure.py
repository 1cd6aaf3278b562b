"""Do the tables fit together: no gaps, no doubles, no references into nothing?"""

from __future__ import annotations

import numpy as np

from thzsync.arrays import IntArray
from thzsync.auditor.book import Book
from thzsync.auditor.findings import Findings
from thzsync.auditor.tables import Table, find, pack


def records(book: Book, findings: Findings) -> None:
    """Every row is complete, every key unique, every reference leads somewhere."""
    _complete(book, findings)
    _unique(book, findings)
    _references(book, findings)
    _racks(book, findings)


def _tables(book: Book) -> dict[str, Table]:
    names = (
        "iterations", "tasks", "events", "blocks", "flows", "rounds", "transmissions", "links",
    )  # fmt: skip
    return {name: getattr(book, name) for name in names}


def _complete(book: Book, findings: Findings) -> None:
    missing = {name: table.incomplete for name, table in _tables(book).items()}
    for name, rows in (missing | {"chunks": book.incomplete_chunks}).items():
        findings.require("records", rows == 0, f"table {name}", f"{rows} rows have missing values")


def _unique(book: Book, findings: Findings) -> None:
    keys = {
        "iteration": np.sort(book.iterations.span_key),
        "event number": book.events.key,
        "block": book.blocks.key,
        "flow": book.flows.key,
        "round": book.rounds.key,
        "node of an iteration": np.sort(book.nodes.key),
    }
    for what, key in keys.items():
        _test_unique(findings, what, key)


def _test_unique(findings: Findings, what: str, key: IntArray) -> None:
    findings.test(
        "records",
        np.diff(key) == 0,
        lambda row: f"{what} {_unpacked(int(key[row]))}",
        lambda _: "stands twice",
    )


def _unpacked(key: int) -> str:
    first, second = divmod(key, 1 << 32)
    return f"{first}/{second}" if first else str(second)


def _references(book: Book, findings: Findings) -> None:
    events, flows, rounds, sent = book.events, book.flows, book.rounds, book.transmissions
    _, predecessor = flows.after_edges()
    references: list[tuple[str, IntArray, str]] = [
        ("task", book.task_owner, "iteration"),
        ("event", book.event_owner, "iteration"),
        ("block", find(events.key, book.blocks["number"]), "event"),
        ("flow", flows.event, "event"),
        ("flow", find(book.blocks.key, pack(flows.number, flows.block)), "block"),
        ("round", rounds.event, "event"),
        ("transmission", sent.round, "round"),
        ("transmission", sent.flow, "flow"),
        ("entry of a flow's after", predecessor, "flow"),
    ]
    for what, row, target in references:
        _test_reference(findings, what, row, target)
    orphans = book.survey.orphans
    findings.test(
        "records",
        np.arange(book.survey.chunks + len(orphans)) < len(orphans),
        lambda row: f"event {orphans[row][0]}, flow {orphans[row][1]}, chunk {orphans[row][2]}",
        lambda _: "belongs to no recorded flow",
    )


def _test_reference(findings: Findings, what: str, row: IntArray, target: str) -> None:
    findings.test(
        "records",
        row < 0,
        lambda number: f"{what} in row {number} (sorted)",
        lambda _: f"names a {target} that is not recorded",
    )


def _racks(book: Book, findings: Findings) -> None:
    events, flows, tasks = book.events, book.flows, book.tasks
    at = tasks.lists("racks")
    rising = np.ones(len(at.values), dtype=np.bool_)
    rising[1:] = (np.diff(at.values) > 0) | (np.diff(at.owner) > 0)
    findings.test(
        "records",
        (at.values < 0) | (at.values >= book.racks) | ~rising,
        lambda k: f"iteration {tasks['iteration'][at.owner[k]]}, task {tasks['node'][at.owner[k]]}",
        lambda k: f"rack {at.values[k]} does not exist, or racks do not rise",
    )
    findings.test(
        "records",
        (at.lengths == 0) | (tasks["rank"] < -1),
        lambda row: f"iteration {tasks['iteration'][row]}, task {tasks['node'][row]}",
        lambda row: "nobody computes it",
    )
    for name, column in (("delay_ps", events.delays), ("power", events.powers)):
        findings.require(
            "records",
            bool((column.lengths == events.racks.lengths).all()),
            f"table events, column {name}",
            "an event has not one value per rack",
        )
    rack, owner = events.racks.values, events.racks.owner
    findings.test(
        "records",
        (rack < 0) | (rack >= book.racks),
        lambda row: events.name(int(owner[row])),
        lambda row: f"rack {rack[row]} does not exist",
    )
    findings.test(
        "records",
        events.delay_ps < 0,
        lambda row: events.name(int(owner[row])),
        lambda row: f"rack {rack[row]} has a negative delay of {events.delay_ps[row]} ps",
    )
    seat_src, seat_dst = (events.seat(flows.event, end) for end in (flows.src, flows.dst))
    findings.test(
        "records",
        (seat_src < 0) | (seat_dst < 0) | (flows.src == flows.dst),
        flows.name,
        lambda row: f"rack {flows.src[row]} -> {flows.dst[row]} are not two racks of the event",
    )
