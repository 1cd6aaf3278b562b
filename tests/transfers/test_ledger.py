"""The ledger alone: a chunk is ready when all it waits for has arrived, for whoever owns it."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from thzsync.arrays import IntArray
from thzsync.carriers import FIBRE, THZ
from thzsync.errors import ThzSyncError
from thzsync.transfers.batch import ChunkBatch
from thzsync.transfers.ledger import Ledger
from thzsync.transfers.precedence import (
    DONE,
    DONE_NODE,
    FRESH,
    FRESH_NODE,
    JOIN,
    R_NODE,
    R_WHAT,
    READY,
    REPORTS,
    TIMER,
    WORK,
)


def entered(kind: list[int], *edges: tuple[int, int], release_ps: int = 0) -> Ledger:
    """A ledger with one batch that begins now; the last node tells when it is done."""
    before, after = zip(*edges, strict=True) if edges else ((), ())
    notify = np.arange(len(kind)) == len(kind) - 1
    ledger = Ledger()
    ledger.submit(
        ChunkBatch.build(
            kind, src=0, dst=1, size_bytes=1, before=before, after=after,
            release_ps=np.where(np.array(kind) == TIMER, release_ps, 0), notify=notify,
        ),
        0,
    )  # fmt: skip
    return ledger


def told(ledger: Ledger, until_ps: int = 0) -> list[tuple[int, int]]:
    """Pairs of node and READY or DONE."""
    reports = ledger.advance(until_ps)
    return list(zip(reports.node.tolist(), reports.what.tolist(), strict=True))


def arrive(ledger: Ledger, *nodes: int) -> None:
    ledger.complete(np.array(nodes), ledger.now_ps)


def fresh(ledger: Ledger) -> int:
    """Chunks that the fibre is to take."""
    return int(ledger.clock[FRESH])


def test_a_chunk_waits_for_every_one_of_its_predecessors() -> None:
    ledger = entered([THZ, THZ, THZ, JOIN], (0, 2), (1, 2), (2, 3))
    assert told(ledger) == [(0, READY), (1, READY)]
    arrive(ledger, 1)
    assert told(ledger) == []
    arrive(ledger, 0)
    assert told(ledger) == [(2, READY)]
    arrive(ledger, 2)
    assert told(ledger) == [(3, DONE)]


def test_a_chunk_that_moves_to_the_fibre_before_it_is_ready_waits_there() -> None:
    ledger = entered([THZ, THZ, JOIN], (0, 1), (1, 2))
    told(ledger)
    ledger.move(np.array([1]), THZ, FIBRE, 0)
    assert ledger.owners(0, 2).tolist() == [THZ, FIBRE]
    assert fresh(ledger) == 0
    arrive(ledger, 0)
    assert told(ledger) == []  # the fibre need not be told: it looks for itself
    assert fresh(ledger) == 1


def test_a_ready_chunk_that_moves_to_the_fibre_may_leave_at_once() -> None:
    ledger = entered([THZ, JOIN], (0, 1))
    told(ledger)
    ledger.move(np.array([0]), THZ, FIBRE, 0)
    assert fresh(ledger) == 1


def test_a_chunk_that_moves_to_a_third_carrier_is_reported_when_it_is_ready() -> None:
    ledger = entered([THZ, THZ, JOIN], (0, 1), (1, 2))
    told(ledger)
    ledger.move(np.array([0, 1]), THZ, 2, 0)
    assert ledger.owners(0, 3).tolist() == [2, 2, JOIN]
    assert told(ledger) == [(0, READY)]
    with pytest.raises(ThzSyncError, match="carrier 1"):
        ledger.move(np.array([0]), THZ, FIBRE, 0)
    arrive(ledger, 0)
    assert told(ledger) == [(1, READY)]


def test_a_timer_holds_its_chunks_until_its_release() -> None:
    ledger = entered([THZ, TIMER, JOIN], (1, 0), (0, 2), release_ps=70)
    assert told(ledger, 50) == []
    assert ledger.now_ps == 50
    assert told(ledger, 100) == [(0, READY)]
    assert ledger.now_ps == 70
    assert ledger.finished(0, 1).ready_ps.tolist() == [70]


@pytest.mark.parametrize(
    ("kind", "node"), [([THZ, THZ], 1), ([FIBRE, THZ], 0)], ids=["not ready", "of the fibre"]
)
def test_only_ready_chunks_of_the_air_arrive_over_it(kind: list[int], node: int) -> None:
    ledger = entered(kind, (0, 1))
    told(ledger)
    with pytest.raises(ThzSyncError, match=rf"node {node}\b"):
        arrive(ledger, node)


def written(ledger: Ledger) -> list[bytes]:
    """All that a ledger knows: rows and edges, and as much of its lists as is in use."""
    lists = ((WORK, DONE_NODE), (REPORTS, R_NODE), (REPORTS, R_WHAT), (FRESH, FRESH_NODE))
    used = [ledger.slots[: ledger.clock[count], column].tobytes() for count, column in lists]
    return [ledger.clock.tobytes(), ledger.task.tobytes(), ledger.edge.tobytes(), *used]


def to_fibre(ledger: Ledger, nodes: IntArray, at_ps: int) -> None:
    ledger.move(nodes, THZ, FIBRE, at_ps)


def to_third(ledger: Ledger, nodes: IntArray, at_ps: int) -> None:
    ledger.move(nodes, THZ, 2, at_ps)


@pytest.mark.parametrize("act", [Ledger.complete, to_fibre, to_third])
@pytest.mark.parametrize(
    ("nodes", "bad"),
    [([0, 1, 2], 2), ([1, 3, 0], 3), ([0, 1, 0], 0), ([0, -1], -1), ([1, 2**40], 2**40)],
    ids=["fibre", "join", "twice", "before all", "beyond all"],
)
def test_a_refused_call_changes_nothing(act: Any, nodes: list[int], bad: int) -> None:
    ledger = entered([THZ, THZ, FIBRE, JOIN], (0, 3), (1, 3), (2, 3))
    told(ledger)
    before = written(ledger)
    with pytest.raises(ThzSyncError, match=rf"node {bad}\b"):
        act(ledger, np.array(nodes), 0)
    assert written(ledger) == before


def test_what_was_asked_for_before_a_refused_call_still_happens() -> None:
    ledger = entered([THZ, THZ, THZ, JOIN], (0, 2), (1, 3), (2, 3))
    told(ledger)
    ledger.move(np.array([1]), THZ, FIBRE, 0)
    arrive(ledger, 0)
    for act in (partial(to_fibre, ledger), ledger.complete):
        with pytest.raises(ThzSyncError, match=r"node [12]\b"):
            act(np.array([2, 1]), 0)
    assert fresh(ledger) == 1
    assert told(ledger) == [(2, READY)]


def test_no_chunk_arrives_twice() -> None:
    ledger = entered([THZ, JOIN], (0, 1))
    told(ledger)
    arrive(ledger, 0)
    with pytest.raises(ThzSyncError, match="node 0 "):
        arrive(ledger, 0)
