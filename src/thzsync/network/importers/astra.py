"""ASTRA-sim's analytical networks: a list of dimensions, each a ring, a full mesh or a switch.

NPU ``a + n0 (b + n1 c)`` has the coordinates (a, b, c). The NPUs that differ in one coordinate only
form a group, which is wired as its dimension says. ``bandwidth`` and ``latency`` are those of one
link and direction. ASTRA-sim calls the unit GB/s and multiplies by 2^30 bytes; so do we.

NPUs forward from one dimension to the next. So every NPU is a rack with a switch of its own, and
the link between the two has the rates of all links of the NPU together. Paths take the dimensions
in their order, as in ASTRA-sim. In a ring of four or more, ASTRA-sim goes round the shorter way.
Then lossless queues could wait in a circle. Here only the NPUs at the seam of a ring use the link
across it, and all others go the way that does not cross it. ASTRA-sim switches in no time; here
the delay of a switch is that of `Buffers`.
"""

from __future__ import annotations

from itertools import combinations, pairwise
from math import prod
from typing import Any, Final, NamedTuple

from thzsync.network.generators import Wires
from thzsync.network.importers.source import LONGEST_NS, MOST_BPS, MOST_RACKS, Source, shown

BITS_PER_GB: Final = 8 * 2**30
KINDS: Final = ("Ring", "FullyConnected", "Switch")


class Dimension(NamedTuple):
    """How the NPUs of a group are wired."""

    kind: str
    npus: int
    rate_bps: float
    delay_ps: float

    @property
    def links_per_npu(self) -> int:
        """Fibres of an NPU; a ring of two has one, not two."""
        return {"Ring": min(2, self.npus - 1), "FullyConnected": self.npus - 1, "Switch": 1}[
            self.kind
        ]

    @property
    def fibres(self) -> int:
        """Fibres of a group."""
        return self.npus * self.links_per_npu // (1 if self.kind == "Switch" else 2)

    def join(self, wires: Wires, members: list[int], name: str, dimension: int) -> None:
        """Lay the fibres between the switches of a group's NPUs."""
        if self.kind == "Switch":
            centre = wires.switch(name)
            pairs = [(member, centre) for member in members]
        elif self.kind == "FullyConnected":
            pairs = list(combinations(members, 2))
        else:
            pairs = list(pairwise(members))
            if self.npus > 2:  # across the seam: only worth it for the two at its sides
                wires.join(
                    members[-1], members[0], self.rate_bps, self.delay_ps, self.npus - 2, dimension
                )
        for a, b in pairs:
            wires.join(a, b, self.rate_bps, self.delay_ps, dimension=dimension)


def recognises(document: dict[str, Any]) -> bool:
    """Whether a document is an analytical network of ASTRA-sim."""
    return "topology" in document and "npus_count" in document


def wires_of(source: Source, document: dict[str, Any]) -> Wires:
    """The links of all dimensions."""
    dimensions = _dimensions(source, document)
    racks = prod(one.npus for one in dimensions)
    fibres = racks + sum(one.fibres * racks // one.npus for one in dimensions)
    source.limit(racks, 2 * fibres)
    own_bps = sum(one.links_per_npu * one.rate_bps for one in dimensions)
    source.number("bandwidth (all links of an NPU together, in bit/s)", own_bps, 1, MOST_BPS)
    wires = Wires(racks)
    for npu in range(racks):
        wires.join(npu, wires.switch(f"NPU {npu}"), own_bps)
    stride = 1
    for number, one in enumerate(dimensions):
        firsts = [npu for npu in range(racks) if npu // stride % one.npus == 0]
        for group, first in enumerate(firsts):
            members = [racks + first + k * stride for k in range(one.npus)]
            one.join(wires, members, f"dimension {number} switch {group}", number)
        stride *= one.npus
    return wires


def _dimensions(source: Source, document: dict[str, Any]) -> list[Dimension]:
    keys = ("topology", "npus_count", "bandwidth", "latency")
    columns = {key: source.get(document, "", key, list) for key in keys}
    kinds = columns["topology"]
    if not 1 <= len(kinds) <= 16:
        raise source.wrong("topology", f"found {len(kinds)} dimensions", "give 1 to 16")
    for key, column in columns.items():
        if len(column) != len(kinds):
            problem = f"has {len(column)} entries, but topology has {len(kinds)}"
            raise source.wrong(key, problem, "give one per dimension")
    for number, kind in enumerate(kinds):
        if kind not in KINDS:
            remedy = f"use {', '.join(KINDS)}"
            raise source.wrong(f"topology[{number}]", f"found {shown(kind)}", remedy)
    most_gbps = MOST_BPS / BITS_PER_GB
    return [
        Dimension(
            kind,
            source.whole(f"npus_count[{d}]", columns["npus_count"][d], 2, MOST_RACKS),
            BITS_PER_GB
            * source.number(f"bandwidth[{d}]", columns["bandwidth"][d], 1e-9, most_gbps),
            1e3 * source.number(f"latency[{d}]", columns["latency"][d], 0, LONGEST_NS),
        )
        for d, kind in enumerate(kinds)
    ]
