"""What no policy can change, drawn anew from the seed: who is late, what else fibres carry."""

from __future__ import annotations

import numpy as np

from thzsync.arrays import FloatArray, IntArray, to_ps
from thzsync.auditor.book import Book
from thzsync.auditor.fibre import link_rate_bps
from thzsync.auditor.findings import Findings
from thzsync.hashing import GOLDEN, mix64
from thzsync.scenario import ComputeFrozen, FibreDegraded
from thzsync.streams import Streams, name_key


def stragglers(book: Book, findings: Findings) -> None:
    """Every rack is as late as seed and scenario say (delta^str in eq:release_constraint)."""
    events = book.events
    jobs, streams = events.text("job"), Streams(book.run.seed)
    bounds = events.racks.start
    expected = np.zeros(len(events.racks.values), dtype=np.int64)
    for row in range(len(events)):
        job = str(jobs[row])
        name = () if job == "train" else (name_key(job),)
        path = (int(events.iteration[row]), int(events.node[row]), *name)
        if min(path) < 0:
            continue
        seats = slice(int(bounds[row]), int(bounds[row + 1]))
        racks = events.racks.values[seats]
        draw = streams.generator("stragglers", *path).random((2, len(racks)))
        expected[seats] = _delays_ps(book, racks, draw, int(events.release_ps[row]))
    owner, rack = events.racks.owner, events.racks.values
    findings.test(
        "stragglers",
        events.delay_ps != expected,
        lambda k: events.name(int(owner[k])),
        lambda k: f"rack {rack[k]} is {events.delay_ps[k]} ps late, was drawn {expected[k]} ps",
    )


def _delays_ps(book: Book, racks: IntArray, draw: FloatArray, release_ps: int) -> IntArray:
    model = book.scenario.stragglers
    span_s = model.max_delay_s - model.min_delay_s
    late_s = np.where(draw[0] < model.probability, model.min_delay_s + span_s * draw[1], 0.0)
    for slow in model.slow_racks:
        late_s = late_s + np.where(racks == slow.rack, slow.delay_s, 0.0)
    appears = release_ps + np.rint(late_s * 1e12).astype(np.int64)
    frozen = [f for f in book.scenario.faults if isinstance(f, ComputeFrozen)]
    for fault in sorted(frozen, key=lambda f: f.start_s):
        held = (racks == fault.rack) & (appears >= to_ps(fault.start_s))
        appears = np.where(held, np.maximum(appears, to_ps(fault.end_s)), appears)
    return appears - release_ps


def background(book: Book, findings: Findings) -> None:
    """A fibre carries the bursts that were drawn for it, none before it comes.

    And none much later, where its switch had time for it: no burst is pending at the end of a span
    that began after it, if all outputs of the switch were idle for half of that span.
    """
    links, model = book.links, book.scenario.optical.background
    edges = np.unique(np.concatenate((links["start_ps"], links["end_ps"])))
    if not len(edges) or len(edges) > 1_000_000:
        return
    outputs = _outputs(book)
    inside = np.isin(links.key, outputs) & (links["end_ps"] > links["start_ps"])
    findings.test(
        "background",
        (links["background_bytes"] != 0) & (~inside | (model.load == 0)),
        lambda row: f"link {links.key[row]}",
        lambda row: "carried background that no switch output was offered",
    )
    if model.load > 0 and not book.cut:  # what was offered before a cut is not recorded
        for link in outputs.tolist():
            _check_link(book, findings, link, edges)


def _check_link(book: Book, findings: Findings, link: int, edges: IntArray) -> None:
    carried = _cumulative(book, link, edges, "background_bytes")
    offered = _offered_bytes(book, link, edges)
    findings.test(
        "background",
        carried > offered,
        lambda k: f"link {link}, until {edges[k]} ps",
        lambda k: f"carried {carried[k]} bytes of background, {offered[k]} were offered",
    )
    quiet = _quiet(book, link, edges)
    if not any(isinstance(f, FibreDegraded) for f in book.scenario.faults):
        findings.test(
            "background",
            quiet & (carried[1:] < offered[:-1]),
            lambda k: f"link {link}, until {edges[k + 1]} ps",
            lambda k: f"carried {carried[k + 1]} bytes of background, {offered[k]} were waiting",
        )


def _outputs(book: Book) -> IntArray:
    """Links that leave a switch: to racks, and between rings."""
    racks, rings = book.racks, book.scenario.floor.rings
    between = [2 * racks + a * rings + b for a in range(rings) for b in range(rings) if a != b]
    return np.array([*range(racks, 2 * racks), *between], dtype=np.int64)


def _cumulative(book: Book, link: int, edges: IntArray, column: str) -> IntArray:
    """Bytes that a link has carried by every edge."""
    links = book.links
    first, end = np.searchsorted(links.key, (link, link + 1))
    total = np.zeros(len(edges), dtype=np.int64)
    at = np.searchsorted(edges, links["end_ps"][first:end])
    np.add.at(total, at, links[column][first:end])
    return np.cumsum(total)


def _quiet(book: Book, link: int, edges: IntArray) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Spans between edges in which no output of the link's switch was busy half of the time."""
    racks, rings, lanes = book.racks, book.scenario.floor.rings, book.scenario.floor.lanes
    ring = (link - racks) // lanes if link < 2 * racks else (link - 2 * racks) // rings
    outputs = _outputs(book)
    source = np.where(
        outputs < 2 * racks, (outputs - racks) // lanes, (outputs - 2 * racks) // rings
    )
    rate, quiet = link_rate_bps(book), np.ones(len(edges) - 1, dtype=np.bool_)
    for output in outputs[source == ring].tolist():
        both = sum(_cumulative(book, output, edges, c) for c in ("bytes", "background_bytes"))
        quiet &= 16.0 * np.diff(both) < rate[output] * np.diff(edges) * 1e-12
    return quiet & (np.diff(edges) >= 10**9)


def _offered_bytes(book: Book, link: int, edges: IntArray) -> IntArray:
    """Bytes of all bursts that have come by every edge: a Poisson process, burst k from a hash."""
    model = book.scenario.optical.background
    mean_ps = 8e12 * model.burst_bytes / (model.load * float(link_rate_bps(book)[link]))
    key = np.array([Streams(book.run.seed).key("background")], dtype=np.uint64)
    start = mix64(mix64(key) + np.uint64(link + 1) * GOLDEN)
    instants, last, drawn = [], 0, 0
    while last <= edges[-1] and drawn < 10**7:
        index = np.arange(drawn + 1, drawn + 1025).astype(np.uint64)
        bits = mix64(start + index * GOLDEN)
        uniform = ((bits >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
        gaps = np.maximum(np.rint(-np.log(uniform) * mean_ps), 1.0).astype(np.int64)
        instants.append(last + np.cumsum(gaps))
        last, drawn = int(instants[-1][-1]), drawn + 1024
    come = np.searchsorted(np.concatenate(instants), edges, side="right")
    return come.astype(np.int64) * model.burst_bytes
