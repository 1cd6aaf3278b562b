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

    When a burst gets through depends on everybody else. But where fibres are idle most of the time,
    most of what came in the first three quarters of a run must have passed by its end.
    """
    links, model = book.links, book.scenario.optical.background
    outputs, instants = _outputs(book), np.unique(links["end_ps"])
    inside = np.isin(links.key, outputs) & (model.load > 0)
    findings.test(
        "background",
        (links["background_bytes"] != 0) & ~inside,
        lambda row: f"link {links.key[row]}",
        lambda row: "carried background that no switch output was offered",
    )
    if model.load == 0 or book.cut or not len(instants):
        return  # what was offered before a cut is not recorded
    edges = np.append(instants, instants[-1] * 3 // 4)
    total = np.zeros(2, dtype=np.int64)
    for link in outputs.tolist():
        carried, offered = _carried_bytes(book, link, edges), _offered_bytes(book, link, edges)
        total += (carried[-2], offered[-1])
        findings.test(
            "background",
            carried > offered,
            lambda k, link=link: f"link {link}, until {edges[k]} ps",  # type: ignore[misc]
            lambda k, c=carried, o=offered: (  # type: ignore[misc]
                f"carried {c[k]} bytes of background, {o[k]} were offered"
            ),
        )
    if _mostly_idle(book, outputs, int(instants[-1])):
        findings.require(
            "background",
            bool(total[0] > 0 or total[1] == 0),
            "all links",
            f"carried {total[0]} bytes of background, {total[1]} had long been offered",
        )


def _mostly_idle(book: Book, outputs: IntArray, until_ps: int) -> bool:
    """Whether the switches sent less than half of what they could, and no fibre was broken."""
    links = book.links
    own = np.isin(links.key, outputs)
    sent = int((links["bytes"] + links["background_bytes"])[own].sum())
    could = float(link_rate_bps(book)[outputs].sum()) * until_ps * 1e-12 / 8
    broken = any(isinstance(fault, FibreDegraded) for fault in book.scenario.faults)
    bursts = float(len(outputs)) * book.scenario.optical.background.burst_bytes
    return sent < could / 2 and could > 100 * bursts and not broken


def _outputs(book: Book) -> IntArray:
    """Links that leave a switch: to racks, and between rings."""
    racks, rings = book.racks, book.scenario.floor.rings
    between = [2 * racks + a * rings + b for a in range(rings) for b in range(rings) if a != b]
    return np.array([*range(racks, 2 * racks), *between], dtype=np.int64)


def _carried_bytes(book: Book, link: int, edges: IntArray) -> IntArray:
    """Background that a link has carried by every edge."""
    links = book.links
    first, end = np.searchsorted(links.key, (link, link + 1))
    instants, carried = links["end_ps"][first:end], links["background_bytes"][first:end]
    order = np.argsort(instants, kind="stable")
    total = np.append(0, np.cumsum(carried[order]))
    return total[np.searchsorted(instants[order], edges, side="right")]


def _offered_bytes(book: Book, link: int, edges: IntArray) -> IntArray:
    """Bytes of all bursts that have come by every edge: a Poisson process, burst k from a hash."""
    model = book.scenario.optical.background
    mean_ps = 8e12 * model.burst_bytes / (model.load * float(link_rate_bps(book)[link]))
    key = np.array([Streams(book.run.seed).key("background")], dtype=np.uint64)
    start = mix64(mix64(key) + np.uint64(link + 1) * GOLDEN)
    instants, last, drawn = [], 0, 0
    while last <= edges.max() and drawn < 10**7:
        index = np.arange(drawn + 1, drawn + 1025).astype(np.uint64)
        bits = mix64(start + index * GOLDEN)
        uniform = ((bits >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
        gaps = np.maximum(np.rint(-np.log(uniform) * mean_ps), 1.0).astype(np.int64)
        instants.append(last + np.cumsum(gaps))
        last, drawn = int(instants[-1][-1]), drawn + 1024
    come = np.searchsorted(np.concatenate(instants), edges, side="right")
    return come.astype(np.int64) * model.burst_bytes
