"""Which nodes may go on, and when: the compiled side of the ledger.

A node is a chunk, a timer or a join. It is ready when all its predecessors are done. Ready chunks
of the fibre are listed as fresh, for the fibre's kernel to take; those of others are reported.
Timers wait for their release, joins are done at once.
"""

from __future__ import annotations

from typing import Final

from thzsync.arrays import BoolArray, IntArray
from thzsync.carriers import FIBRE
from thzsync.jit import bare, hot, inner_bare

# owner of a node: a carrier's number, or one of these; what a report says; flags
TIMER, JOIN = -1, -2
MOST_CARRIERS: Final = 127
READY, DONE = 0, 1
NOTIFY: Final = 1

# clock: scalars
NOW, TIMER_SEQ, TIMERS, REPORTS, WORK, FRESH = 0, 1, 2, 3, 4, 5
CLOCK_COLUMNS: Final = 8

# task: one row per node
OWNER, PENDING, SUCC_LO, SUCC_HI, FLAGS, READY_AT, DONE_AT, RELEASE = range(8)
START_AT: Final = RELEASE  # only timers have a release, only chunks leave a rack
TASK_COLUMNS: Final = 8

# slots: lists as long as the task table
DONE_NODE, HEAP_AT, HEAP_SEQ, HEAP_NODE, R_NODE, R_WHAT, FRESH_NODE = range(7)
SLOT_COLUMNS: Final = 8


@hot
def report(clock: IntArray, slots: IntArray, node: int, what: int) -> None:
    """Tell the caller that a node is ready or done."""
    k = clock[REPORTS]
    slots[k, R_NODE] = node
    slots[k, R_WHAT] = what
    clock[REPORTS] = k + 1


@hot
def push_done(clock: IntArray, slots: IntArray, node: int) -> None:
    """Queue a node that completes at this instant."""
    slots[clock[WORK], DONE_NODE] = node
    clock[WORK] += 1


@hot
def push_fresh(clock: IntArray, slots: IntArray, node: int) -> None:
    """Queue a ready chunk for the fibre."""
    slots[clock[FRESH], FRESH_NODE] = node
    clock[FRESH] += 1


@hot
def _earlier(slots: IntArray, a: int, b: int) -> bool:
    if slots[a, HEAP_AT] != slots[b, HEAP_AT]:
        return bool(slots[a, HEAP_AT] < slots[b, HEAP_AT])
    return bool(slots[a, HEAP_SEQ] < slots[b, HEAP_SEQ])


@hot
def _swap_timers(slots: IntArray, a: int, b: int) -> None:
    for column in (HEAP_AT, HEAP_SEQ, HEAP_NODE):
        kept = slots[a, column]
        slots[a, column] = slots[b, column]
        slots[b, column] = kept


@inner_bare
def push_timer(clock: IntArray, slots: IntArray, node: int, at_ps: int) -> None:
    """Wake a node at a later instant."""
    k = clock[TIMERS]
    slots[k, HEAP_AT] = at_ps
    slots[k, HEAP_SEQ] = clock[TIMER_SEQ]
    slots[k, HEAP_NODE] = node
    clock[TIMER_SEQ] += 1
    clock[TIMERS] += 1
    while k > 0 and _earlier(slots, k, (k - 1) >> 1):
        _swap_timers(slots, k, (k - 1) >> 1)
        k = (k - 1) >> 1


@inner_bare
def _pop_timer(clock: IntArray, slots: IntArray) -> int:
    node = slots[0, HEAP_NODE]
    n = clock[TIMERS] - 1
    clock[TIMERS] = n
    _swap_timers(slots, 0, n)
    k = 0
    while 2 * k + 1 < n:
        child = 2 * k + 1
        if child + 1 < n and _earlier(slots, child + 1, child):
            child += 1
        if not _earlier(slots, child, k):
            break
        _swap_timers(slots, child, k)
        k = child
    return int(node)


@hot
def make_ready(clock: IntArray, task: IntArray, slots: IntArray, node: int, now_ps: int) -> None:
    """All predecessors of a node are done (eq:release_constraint)."""
    task[node, READY_AT] = now_ps
    owner = task[node, OWNER]
    if owner == FIBRE:
        push_fresh(clock, slots, node)
    elif owner > FIBRE:
        report(clock, slots, node, READY)
    elif owner == TIMER and task[node, RELEASE] > now_ps:
        push_timer(clock, slots, node, task[node, RELEASE])
    else:
        push_done(clock, slots, node)


@hot
def due(clock: IntArray, slots: IntArray, now_ps: int) -> bool:
    """Whether :func:`serve` has anything to do at this instant."""
    return bool(clock[WORK] > 0 or (clock[TIMERS] > 0 and slots[0, HEAP_AT] <= now_ps))


@bare
def serve(clock: IntArray, task: IntArray, edge: IntArray, slots: IntArray, now_ps: int) -> None:
    """Fire due timers, then complete nodes and release successors until nothing is left."""
    while clock[TIMERS] > 0 and slots[0, HEAP_AT] <= now_ps:
        n = _pop_timer(clock, slots)
        if task[n, READY_AT] < 0:  # a batch submitted for this instant
            make_ready(clock, task, slots, n, now_ps)
        else:
            push_done(clock, slots, n)
    k = 0
    while k < clock[WORK]:
        n = slots[k, DONE_NODE]
        k += 1
        task[n, DONE_AT] = now_ps
        if task[n, FLAGS] & NOTIFY:
            report(clock, slots, n, DONE)
        for e in range(task[n, SUCC_LO], task[n, SUCC_HI]):
            successor = edge[e]
            task[successor, PENDING] -= 1
            if task[successor, PENDING] == 0:
                make_ready(clock, task, slots, successor, now_ps)
    clock[WORK] = 0


@bare
def enter(
    task: IntArray, edge: IntArray, first_edge: int, kind: IntArray, succ_ptr: IntArray,
    succ: IntArray, release_ps: IntArray, notify: BoolArray, base: int,
) -> None:  # fmt: skip
    """Write down the rows of a batch, whose node 0 is ``base``, and its edges."""
    for k in range(len(kind)):
        row = task[base + k]
        row[OWNER] = kind[k]
        row[PENDING] = 0
        row[SUCC_LO] = first_edge + succ_ptr[k]
        row[SUCC_HI] = first_edge + succ_ptr[k + 1]
        row[FLAGS] = NOTIFY if notify[k] else 0
        row[READY_AT] = row[DONE_AT] = -1
        row[RELEASE] = -1 if kind[k] >= FIBRE else release_ps[k]
    for e in range(len(succ)):
        edge[first_edge + e] = base + succ[e]
        task[base + succ[e], PENDING] += 1


@bare
def begin(
    clock: IntArray, task: IntArray, slots: IntArray, base: int, count: int, at_ps: int
) -> None:
    """Start a submitted batch: nodes without predecessors become ready at ``at_ps``."""
    for n in range(base, base + count):
        if task[n, PENDING] == 0:
            if at_ps <= clock[NOW]:
                make_ready(clock, task, slots, n, clock[NOW])
            else:
                push_timer(clock, slots, n, at_ps)


@hot
def exists(task: IntArray, node: int) -> bool:
    """Whether there is a row of this number: callers name nodes, and rows are not guarded."""
    return 0 <= node < len(task)


@bare
def complete(clock: IntArray, task: IntArray, slots: IntArray, nodes: IntArray) -> int:
    """Chunks are done now; place of the first that is not ready, or is of the fibre, or -1.

    If there is one, all are as before. They are taken back rather than looked at first, so that
    a chunk that is named twice is found, too.
    """
    work = clock[WORK]
    for k in range(len(nodes)):
        n = nodes[k]
        ready = exists(task, n) and task[n, READY_AT] >= 0
        if not ready or task[n, OWNER] <= FIBRE or task[n, DONE_AT] >= 0:
            clock[WORK] = work
            for j in range(k):
                task[nodes[j], DONE_AT] = -1
            return k
        task[n, DONE_AT] = clock[NOW]
        push_done(clock, slots, n)
    return -1


@bare
def move(
    clock: IntArray, task: IntArray, slots: IntArray, nodes: IntArray, source: int, target: int
) -> int:
    """Chunks of a carrier other than fibre change their owner; place of one that cannot, or -1.

    If there is one, all are as before.
    """
    fresh, reports = clock[FRESH], clock[REPORTS]
    for k in range(len(nodes)):
        n = nodes[k]
        if not exists(task, n) or task[n, OWNER] != source or task[n, DONE_AT] >= 0:
            clock[FRESH], clock[REPORTS] = fresh, reports
            for j in range(k):
                task[nodes[j], OWNER] = source
            return k
        task[n, OWNER] = target
        if task[n, READY_AT] >= 0:
            if target == FIBRE:
                push_fresh(clock, slots, n)
            else:
                report(clock, slots, n, READY)
    return -1


@hot
def leave_fibre(clock: IntArray, task: IntArray, slots: IntArray, node: int, carrier: int) -> bool:
    """A chunk of the fibre that has not begun to leave changes its owner; whether it does."""
    if not exists(task, node) or task[node, OWNER] != FIBRE or task[node, START_AT] >= 0:
        return False
    task[node, OWNER] = carrier
    if task[node, READY_AT] >= 0:
        report(clock, slots, node, READY)
    return True


@bare
def run_clock(
    clock: IntArray, task: IntArray, edge: IntArray, slots: IntArray, until_ps: int
) -> None:
    """Without a fibre: go to the first instant with a report, or to ``until_ps``."""
    while True:
        if due(clock, slots, clock[NOW]):
            serve(clock, task, edge, slots, clock[NOW])
        if clock[REPORTS] > 0:
            return
        if clock[TIMERS] == 0 or slots[0, HEAP_AT] > until_ps:
            clock[NOW] = max(clock[NOW], until_ps)
            return
        clock[NOW] = slots[0, HEAP_AT]
