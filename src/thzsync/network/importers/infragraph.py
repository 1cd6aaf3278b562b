"""InfraGraph 3.1: instances of devices, and edges between components of instances.

An instance whose device has xpu components, also inside devices that it is composed of, is a rack;
every other one is a switch. What is inside a device is no link of the network. Every edge between
two components is a fibre, so a server with two NICs has two. As in InfraGraph's own service, an
index may be left out for all of them, ``one2one`` pairs components in their order, and a pair of
components that is named twice has one edge. The schema names ``ring`` too, but says nowhere what
it joins, and the service refuses it; so do we.
"""

from __future__ import annotations

from itertools import product
from typing import Any, Final

from thzsync.network.generators import Wires
from thzsync.network.importers.endpoints import Endpoints, Port, named
from thzsync.network.importers.source import LONGEST_NS, MOST_BPS, Source, shown

BPS: Final = {"gigabits_per_second": 1e9, "gigabytes_per_second": 8e9}
NS: Final = {"ms": 1e6, "us": 1e3, "ns": 1.0}
SCHEMES: Final = ("one2one", "many2many")


def recognises(document: dict[str, Any]) -> bool:
    """Whether a document is of InfraGraph, in this dialect or the one before 3.0."""
    return bool({"infrastructure", "connections", "instances", "edges"} & set(document))


def wires_of(source: Source, document: dict[str, Any]) -> Wires:
    """The links of all edges between instances."""
    inner = document.get("infrastructure", document)  # InfraGraph's service answers so
    if not isinstance(inner, dict) or "connections" in inner or "edges" not in inner:
        raise source.wrong(
            "infrastructure" if "infrastructure" in document else "",
            "InfraGraph 2.x, or a part of a network: it has no edges",
            "write it with InfraGraph 3.1, with instances, devices, links and edges",
        )
    return _Edges(source, inner).wires()


class _Edges:
    """The edges of a document, and what their ends are."""

    def __init__(self, source: Source, document: dict[str, Any]) -> None:
        self.source = source
        self.edges = source.get(document, "", "edges", list)
        self.links = named(source, document, "", "links")
        self.endpoints = Endpoints(source, document)
        self.first_rack: dict[str, int] = {}
        self.racks = 0
        for name in self.endpoints.instances:
            found = self.endpoints.choices(name)
            if "xpu" in found:
                self.first_rack[name] = self.racks
                self.racks += self.endpoints.counts[name]
            elif "nic" in found and not found & {"port", "switch"}:
                remedy = "give it xpu, port or switch components, or leave it out"
                raise source.wrong(f"instance {name}", "has NICs, but computes nothing", remedy)
        if not self.racks:
            remedy = "add xpu components to the device of the servers"
            raise source.wrong("instances", "no device has xpu components", remedy)
        source.limit(self.racks, 0)

    def wires(self) -> Wires:
        """Racks and switches, numbered in the order of the instances, and all links."""
        fibres: dict[tuple[Port, Port], tuple[float, float]] = {}
        laid = 0
        for number, edge in enumerate(self.edges):
            place = f"edges[{number}]"
            if not isinstance(edge, dict):
                raise self.source.wrong(place, f"found {shown(edge)}", "give ep1, ep2 and link")
            speed = self._speed(self.source.get(edge, place, "link", str), place)
            pairs = self._pairs(edge, place)
            self.source.limit(self.racks, 2 * (laid := laid + len(pairs)))
            fibres.update({(min(pair), max(pair)): speed for pair in pairs})
        used = {port[:2] for pair in fibres for port in pair}
        order = {name: number for number, name in enumerate(self.endpoints.instances)}
        wires, node = Wires(self.racks), {}
        for name, k in sorted(used, key=lambda one: (order[one[0]], one[1])):
            first = self.first_rack.get(name)
            node[name, k] = wires.switch(f"{name} {k}") if first is None else first + k
        for (a, b), (rate_bps, delay_ps) in fibres.items():
            if a[:2] != b[:2]:
                wires.join(node[a[:2]], node[b[:2]], rate_bps, delay_ps)
        return wires

    def _speed(self, name: str, place: str) -> tuple[float, float]:
        """Rate [bit/s] and delay [ps] of a link."""
        if name not in self.links:
            raise self.source.wrong(place, f"there is no link {shown(name)}", "add it to links")
        at = f"link {name}"
        physical = self.source.get(self.links[name], at, "physical", dict)
        bps = self._amount(physical, at, "bandwidth", BPS, 1, MOST_BPS)
        delays = "latency" in physical
        ns = self._amount(physical, at, "latency", NS, 0, LONGEST_NS) if delays else 0.0
        return bps, 1e3 * ns

    def _amount(
        self,
        physical: dict[str, Any],
        place: str,
        key: str,
        units: dict[str, float],
        least: float,
        most: float,
    ) -> float:
        given, place = self.source.get(physical, place, key, dict), f"{place}.{key}"
        choice = given.get("choice")
        if not isinstance(choice, str) or choice not in units:
            remedy = f"use {', '.join(units)}"
            raise self.source.wrong(f"{place}.choice", f"found {shown(choice)}", remedy)
        unit, place = units[choice], f"{place}.{choice}"
        return unit * self.source.number(place, given.get(choice), least / unit, most / unit)

    def _pairs(self, edge: dict[str, Any], place: str) -> list[tuple[Port, Port]]:
        """The components that an edge joins."""
        scheme = edge.get("scheme")
        if scheme not in SCHEMES:
            remedy = f"use {' or '.join(SCHEMES)}"
            raise self.source.wrong(f"{place}.scheme", f"found {shown(scheme)}", remedy)
        (a, all_a), (b, all_b) = (
            self.endpoints.meant(self.source.get(edge, place, key, dict), f"{place}.{key}")
            for key in ("ep1", "ep2")
        )
        if scheme == "many2many":
            self.source.limit(self.racks, 2 * len(a) * len(b))
            pairs = list(product(a, b))
        else:
            if len(a) != len(b) and not (all_a if len(a) > len(b) else all_b):
                problem = f"one2one joins {len(a)} components to {len(b)}"
                raise self.source.wrong(place, problem, "name as many on either side")
            pairs = list(zip(a, b, strict=False))
        for one, other in pairs:
            servers = one[0] in self.first_rack and other[0] in self.first_rack
            if servers and one[:2] != other[:2]:
                problem = f"joins {one[0]}[{one[1]}] and {other[0]}[{other[1]}] directly"
                raise self.source.wrong(place, problem, "put a switch between servers")
        return pairs
