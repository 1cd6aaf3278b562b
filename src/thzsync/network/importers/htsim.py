"""csg-htsim's fat trees (``.topo``): two or three tiers of switches above pods of hosts.

A top-of-rack switch (tier 0) has Radix_Down hosts. It is joined to every switch of tier 1 in its
pod by as many fibres as the Bundle of tier 1 says. Aggregation switch p of any pod is joined to the
cores p, p + A, p + 2 A ... with A aggregation switches per pod, by the Bundle of tier 2. Speeds and
latencies belong to the links below a tier. Radices decide how many switches there are; the file
must agree with them in Podsize, speeds and Oversubscribed.

Queue sizes and Switch_Latency_ns are not part of the wiring; `Buffers` has them here.
"""

from __future__ import annotations

from typing import Final

from thzsync.network.generators import Wires
from thzsync.network.importers.source import LONGEST_NS, MOST_RACKS, Source, shown

HEAD: Final = ("nodes", "tiers", "podsize")
SPEED, LATENCY = "downlink_speed_gbps", "downlink_latency_ns"
NEEDED: Final = (SPEED, LATENCY, "radix_down")
OTHER: Final = ("radix_up", "bundle", "oversubscribed")
IGNORED: Final = ("switch_latency_ns", "queue_up", "queue_down")
_MOST: Final = {SPEED: 999_000, LATENCY: int(LONGEST_NS)}
Tier = dict[str, int]


def recognises(text: str) -> bool:
    """Whether a text begins as csg-htsim's files do."""
    words = next((w for line in text[:4096].splitlines() if (w := _words(line))), [])
    return len(words) == 2 and words[0] in HEAD


def wires_of(source: Source, text: str) -> Wires:
    """The links of a fat tree."""
    head, tiers = _parsed(source, text)
    _check_tiers(source, head, tiers)
    nodes, podsize = head["nodes"], head["podsize"]
    pods, leaves = nodes // podsize, podsize // tiers[0]["radix_down"]
    middles = tiers[0]["radix_up"] // tiers[1]["bundle"]
    tops = tiers[1]["radix_up"] // tiers[2]["bundle"] if len(tiers) == 3 else 0
    up = leaves * tiers[0]["radix_up"] + (middles * tiers[1]["radix_up"] if tops else 0)
    source.limit(nodes, 2 * (nodes + pods * up))
    _check_radices(source, head, tiers, [1, leaves, pods])
    wires = Wires(nodes)
    counts = (pods * leaves, pods * middles, middles * tops)
    leaf, middle, top = (
        [wires.switch(f"tier {tier} switch {k}") for k in range(count)]
        for tier, count in enumerate(counts)
    )

    def join(below: int, above: int, tier: int) -> None:
        for _ in range(tiers[tier]["bundle"]):
            wires.join(below, above, 1e9 * tiers[tier][SPEED], 1e3 * tiers[tier][LATENCY])

    for host in range(nodes):
        join(host, leaf[host // tiers[0]["radix_down"]], 0)
    for k, below in enumerate(leaf):
        pod = k // leaves
        for above in middle[pod * middles : (pod + 1) * middles]:
            join(below, above, 1)
    for k, below in enumerate(middle):
        for above in top[k % middles :: middles]:
            join(below, above, 2)
    return wires


def _words(line: str) -> list[str]:
    words = line.split()
    return [] if not words or words[0].startswith("#") else [words[0].lower(), *words[1:]]


def _parsed(source: Source, text: str) -> tuple[Tier, list[Tier]]:
    head: Tier = {}
    tiers: dict[int, Tier] = {}
    into = head
    for number, line in enumerate(text.splitlines(), 1):
        if not (words := _words(line)):
            continue
        key, place = words[0], f"line {number}"
        allowed = HEAD if into is head else (*NEEDED, *OTHER, *IGNORED)
        if key != "tier" and key not in allowed:
            remedy = f"use Tier, {', '.join(allowed)}"
            raise source.wrong(place, f"found {shown(key)}", remedy)
        least = 0 if key in (LATENCY, *IGNORED, "tier") else 1
        given = int(words[1]) if len(words) == 2 and _digits(words[1]) else " ".join(words[1:])
        most = 2**40 if key in IGNORED else 2 if key == "tier" else _MOST.get(key, MOST_RACKS)
        value = source.whole(f"{place}, {key}", given, least, most)
        if key in into or (key == "tier" and value in tiers):
            raise source.wrong(place, f"{key} comes twice", "keep one")
        if key == "tier":
            into = tiers[value] = {}
        else:
            into[key] = value
    for key in HEAD:
        source.whole(key.capitalize(), head.get(key), 2 if key == "tiers" else 1, MOST_RACKS)
    if sorted(tiers) != list(range(len(tiers))):
        raise source.wrong("", f"describes tiers {sorted(tiers)}", "number them from 0")
    return head, [tiers[k] for k in range(len(tiers))]


def _digits(word: str) -> bool:
    return word.isascii() and word.isdecimal() and len(word) < 16


def _check_tiers(source: Source, head: Tier, tiers: list[Tier]) -> None:
    if head["tiers"] not in (2, 3) or len(tiers) != head["tiers"]:
        problem = f"Tiers is {head['tiers']}, and {len(tiers)} tiers are described"
        raise source.wrong("", problem, "describe tiers 0 and 1, and 2 if Tiers is 3")
    for k, tier in enumerate(tiers):
        for key in (*NEEDED, "radix_up") if k < len(tiers) - 1 else NEEDED:
            if key not in tier:
                raise source.wrong(f"tier {k}", f"{key} is missing", "add it")
        tier.setdefault("bundle", 1)
        tier.setdefault("oversubscribed", 1)
    if tiers[0]["bundle"] > 1:
        raise source.wrong("tier 0", "hosts have one link each", "remove its Bundle")


def _check_radices(source: Source, head: Tier, tiers: list[Tier], below: list[int]) -> None:
    """``below``: how many bundles every switch of a tier has downwards."""
    nodes, podsize = head["nodes"], head["podsize"]
    if nodes % podsize or podsize % tiers[0]["radix_down"]:
        problem = f"{nodes} nodes, pods of {podsize}, {tiers[0]['radix_down']} per switch"
        raise source.wrong("Podsize", problem, "let each be a multiple of the next")
    if len(tiers) == 2 and nodes != podsize:
        raise source.wrong("Podsize", "two tiers are one pod", f"set it to {nodes}")
    for k in range(1, len(tiers)):
        lower, tier = tiers[k - 1], tiers[k]
        if lower["radix_up"] % tier["bundle"] or tier["radix_down"] != below[k] * tier["bundle"]:
            problem = f"Radix_Down {tier['radix_down']}, Bundle {tier['bundle']}"
            remedy = f"use {below[k]} times the Bundle, which must divide the Radix_Up below"
            raise source.wrong(f"tier {k}", problem, remedy)
        offered = lower["radix_down"] * lower[SPEED]
        if offered != lower["radix_up"] * tier[SPEED] * lower["oversubscribed"]:
            problem = f"{offered} Gbit/s below, {lower['radix_up'] * tier[SPEED]} Gbit/s above"
            raise source.wrong(f"tier {k - 1}", problem, "let their ratio be Oversubscribed")
