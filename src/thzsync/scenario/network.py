"""Which switches and fibres join the racks."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from thzsync.scenario.base import Count, FileName, Metres, Model, Real
from thzsync.scenario.kinds import kinds_of

MOST_SWITCHES = 65_536

Ratio = Annotated[Real, Field(ge=1e-3, le=1e3)]


class NetworkKind(Model):
    """What all networks have."""

    kind: str
    """Which network this is."""


class RingNetwork(NetworkKind):
    """A switch per group of racks (ring or row), and one link between every two switches."""

    kind: Literal["rings"] = "rings"
    """The paper's network; links between switches have `optical.inter_bps`."""


class SwitchedNetwork(NetworkKind):
    """What networks of any switches have in common, those of plug-ins among them."""

    oversubscription: Ratio = 1.0
    """How many times the racks can overload the links above their switch: 2 for 2:1."""
    routing: Literal["ecmp", "spray"] = "ecmp"
    """Flows pick one of equally short paths by a hash, or every chunk does ("spray")."""
    access_length_m: Metres = 0.0
    """Length of the fibre between a rack and its switch [m]; adds 4.9 ns per metre."""
    switch_length_m: Metres = 0.0
    """Length of the fibres between switches [m]."""

    def wires(self, racks: int, fibres: Any) -> Any:
        """The `Wires` of a plug-in's network: ``fibres`` are the `Fibres` of the keys above."""
        raise NotImplementedError


class LeafSpine(SwitchedNetwork):
    """Leaf switches for groups of racks, and spines that join all leaves."""

    kind: Literal["leaf-spine"] = "leaf-spine"
    """Which network this is."""
    racks_per_leaf: Annotated[Count, Field(le=MOST_SWITCHES)] = 8
    """Racks behind a leaf."""
    spines: Annotated[Count, Field(le=MOST_SWITCHES)] = 4
    """Spines, each with one link to every leaf."""
    planes: Annotated[Count, Field(le=64)] = 1
    """Copies of the network; every rack has a link of `optical.access_bps` into each."""


class FatTree(SwitchedNetwork):
    """Three levels of switches with equally many ports: edges, aggregations, cores."""

    kind: Literal["fat-tree"] = "fat-tree"
    """Which network this is."""
    radix: Annotated[Count, Field(le=1024, multiple_of=2)] = 8
    """Ports of a switch k; k^3 / 4 racks fit."""


class RailOptimised(SwitchedNetwork):
    """Several links per rack, each to a leaf of its own rail; spines join all leaves."""

    kind: Literal["rail-optimised"] = "rail-optimised"
    """Which network this is."""
    nics_per_rack: Annotated[Count, Field(le=64)] = 8
    """Links of a rack, one per rail, each of `optical.access_bps`."""
    racks_per_leaf: Annotated[Count, Field(le=MOST_SWITCHES)] = 8
    """Racks behind a leaf of every rail."""
    spines: Annotated[Count, Field(le=MOST_SWITCHES)] = 4
    """Spines, each with one link to every leaf."""


class NetworkFunction(SwitchedNetwork):
    """A network of your own: a function of a module that Python can import."""

    kind: Literal["function"] = "function"
    """Which network this is."""
    function: Annotated[str, Field(pattern=r"^[\w.]+:\w+$")]
    """Module and function, such as "my_lab.networks:hypercube". It is called with the number of
    racks, the `Fibres` that the other keys describe, and the arguments; it returns `Wires`."""
    arguments: dict[str, bool | int | float | str] = Field(default_factory=dict)
    """Further arguments by name."""

    def wires(self, racks: int, fibres: Any) -> Any:
        """What the function returns."""
        module, _, name = self.function.partition(":")
        return getattr(import_module(module), name)(racks, fibres, **self.arguments)


class NetworkFile(NetworkKind):
    """A network from a file of another tool: InfraGraph, ASTRA-sim or csg-htsim."""

    kind: Literal["file"] = "file"
    """Which network this is."""
    file: FileName
    """The file (YAML, JSON or .topo); it has as many racks as the floor."""
    routing: Literal["ecmp", "spray"] = "ecmp"
    """Flows pick one of equally short paths by a hash, or every chunk does ("spray")."""
    paths: Literal["auto", "shortest", "up-down"] = "auto"
    """Shortest paths, or shortest ones that go up a tree first and then down, which cannot
    deadlock; "auto" takes the second where shortest paths could."""


NETWORKS: Final = kinds_of(
    "network",
    "thzsync.networks",
    SwitchedNetwork,
    lambda: (RingNetwork, LeafSpine, FatTree, RailOptimised, NetworkFunction, NetworkFile),
)
register_network = NETWORKS.register
