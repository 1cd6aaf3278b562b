"""Do the tables fit together: no gaps, no doubles, no references into nothing?"""

from __future__ import annotations

import numpy as np

from thzsync.arrays import IntArray
from thzsync.collectives import Kind
from thzsync.simulation.audit.book import Book
from thzsync.simulation.audit.findings import Findings
from thzsync.simulation.audit.tables import Table, find


def records(book: Book, findings: Findings) -> None:
    """Every row is complete, every key unique, every reference leads somewhere."""
    _complete(book, findings)
    _unique(book, findings)
    _references(book, findings)
    _racks(book, findings)


def _tables(book: Book) -> dict[str, Table]:
    names = ("iterations", "tasks", "events", "flows", "chunks", "rounds", "transmissions", "links")
    return {name: getattr(book, name) for name in names}


def _complete(book: Book, findings: Findings) -> None:
    for name, table in _tables(book).items():
        findings.require(
            "records",
            table.incomplete == 0,
            f"table {name}",
            f"{table.incomplete} rows have missing values",
        )


def _unique(book: Book, findings: Findings) -> None:
    keys = {
        "iteration": book.iterations.key,
        "event number": book.events.key,
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
    iteration = book.iterations.key
    _, predecessor = flows.after_edges()
    references: list[tuple[str, IntArray, str]] = [
        ("task", find(iteration, book.tasks["iteration"]), "iteration"),
        ("event", find(iteration, events.iteration), "iteration"),
        ("flow", flows.event, "event"),
        ("round", rounds.event, "event"),
        ("transmission", sent.round, "round"),
        ("transmission", sent.flow, "flow"),
        ("entry of a flow's after", predecessor, "flow"),
    ]
    for what, row, target in references:
        _test_reference(findings, what, row, target)
    orphans = book.chunks.orphans
    findings.test(
        "records",
        np.arange(len(book.chunks) + len(orphans)) < len(orphans),
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
    events, flows = book.events, book.flows
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
    kinds = [kind.value for kind in Kind]
    findings.test(
        "records",
        ~np.isin(events.kind, kinds),
        events.name,
        lambda row: f"kind {events.kind[row]!r} is none of {', '.join(kinds)}",
    )
    seat_src, seat_dst = (events.seat(flows.event, end) for end in (flows.src, flows.dst))
    findings.test(
        "records",
        (seat_src < 0) | (seat_dst < 0) | (flows.src == flows.dst),
        flows.name,
        lambda row: f"rack {flows.src[row]} -> {flows.dst[row]} are not two racks of the event",
    )
