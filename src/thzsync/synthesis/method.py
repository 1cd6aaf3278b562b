"""What a synthesis method is: it offers what can be split, and lowers a split to transfers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.collectives import Demand
from thzsync.errors import ThzSyncError
from thzsync.scenario import Thz
from thzsync.scenario.base import Model
from thzsync.scenario.parameters import section_of
from thzsync.synthesis.offer import Offer
from thzsync.transfers import TransferGraph

if TYPE_CHECKING:
    from thzsync.network import Network


@dataclass(frozen=True, eq=False)
class Setting:
    """What a method may know of an event's surroundings; rows and columns follow its racks."""

    known_gains: FloatArray | Callable[[], FloatArray]
    """The gains, or who works them out: that takes the square of the racks, and few methods ask."""
    delay_s: FloatArray
    """Expected delay of every rack's own data [s]."""
    thz: Thz
    """The transceivers."""
    place: IntArray | None = None
    """Place of every rack on the fibre: those with neighbouring places are near each other."""
    leaf: IntArray | None = None
    """The switch next to every rack."""
    parameters: Any = None
    """The scenario's section for the method, if it has parameters."""

    def at(self, network: Network, racks: IntArray) -> Setting:
        """The same for these racks of a network."""
        leaf, place = network.leaf_of_rack[racks], network.place_of_rack[racks]
        return replace(self, place=place, leaf=leaf)

    def along_fibre(self, racks: IntArray) -> IntArray:
        """The racks in the order of their places; by number where these are unknown."""
        return racks if self.place is None else racks[np.argsort(self.place, kind="stable")]

    @cached_property
    def leaf_and_port(self) -> tuple[IntArray, IntArray]:
        """Leaf of every rack, numbered along the fibre, and the rack's number behind it."""
        order = self.along_fibre(np.arange(len(self.delay_s)))
        leaf = np.zeros_like(order) if self.leaf is None else self.leaf[order]
        starts = np.concatenate(([True], leaf[1:] != leaf[:-1]))  # racks of a leaf are neighbours
        number = np.cumsum(starts) - 1
        found = np.empty((2, len(order)), dtype=np.int64)
        found[:, order] = number, np.arange(len(order)) - np.flatnonzero(starts)[number]
        return found[0], found[1]

    @cached_property
    def gains(self) -> FloatArray:
        """Channel power gain by (rack, rack, subband), linear; the diagonal is ignored."""
        return self.known_gains() if callable(self.known_gains) else self.known_gains

    @cached_property
    def link_rates(self) -> FloatArray:
        """Bits per second and hertz between racks, the slower way, on half a rack's power."""
        # compiled: not for who only asks names
        from thzsync.channel import efficiency, law_of, silent_budget_per_w

        snr = self.gains * (silent_budget_per_w(self.thz) * self.thz.max_power_w / 2)
        weaker: FloatArray = np.minimum(snr, snr.transpose(1, 0, 2))
        rates: FloatArray = efficiency(weaker, law_of(self.thz)).mean(axis=2)
        return rates

    @staticmethod
    def flat(racks: int, thz: Thz) -> Setting:
        """Equal gains and no delays, for callers that know neither."""
        return Setting(np.ones((racks, racks, thz.subbands)), np.zeros(racks), thz)


class Method(Protocol):
    """A named way to carry out one collective on both carriers."""

    @property
    def collective(self) -> str:
        """Name of the collective."""
        ...

    @property
    def name(self) -> str:
        """What scenarios and tables call it."""
        ...

    @property
    def summary(self) -> str:
        """One line for people who choose."""
        ...

    def offer(self, demand: Demand, racks: IntArray, chunk_bytes: int, setting: Setting) -> Offer:
        """What can be split of an event among ``racks`` (ascending), in ``chunk_bytes`` chunks."""
        ...


class Planner(Protocol):
    """Turns an event into flows whose carriers are left open."""

    def plan(
        self, demand: Demand, racks: IntArray, chunk_bytes: int, setting: Setting
    ) -> TransferGraph:
        """Flows, chunks and precedence."""
        ...


def configured(method: Method, sections: Mapping[str, Model]) -> Method:
    """A method with its section of a scenario, or the defaults; itself without parameters."""
    section = section_of(method, sections)
    return method if section is None else Configured(method, section)


@dataclass(frozen=True)
class Configured:
    """A method whose events know its section of a scenario."""

    method: Method
    section: Any

    @property
    def collective(self) -> str:
        """Name of the collective."""
        return self.method.collective

    @property
    def name(self) -> str:
        """Name of the method."""
        return self.method.name

    @property
    def summary(self) -> str:
        """One line for people who choose."""
        return self.method.summary

    def offer(self, demand: Demand, racks: IntArray, chunk_bytes: int, setting: Setting) -> Offer:
        """What the method offers."""
        return self.method.offer(
            demand, racks, chunk_bytes, replace(setting, parameters=self.section)
        )


@dataclass(frozen=True)
class FlowMethod:
    """One structure for both carriers, split flow by flow: how the paper does it."""

    collective: str
    name: str
    planner: Planner
    discipline: str
    """How the overlay forms transmissions; see ``wireless.disciplines``. Empty: as flows say."""
    summary: str = ""
    parameters: type[Model] | None = None
    """Model of the section ``[parameters.NAME]`` of a scenario, if it has one."""

    def offer(self, demand: Demand, racks: IntArray, chunk_bytes: int, setting: Setting) -> Offer:
        """One unit per flow."""
        return Offer.per_flow(self.plan(demand, racks, chunk_bytes, setting))

    def plan(
        self, demand: Demand, racks: IntArray, chunk_bytes: int, setting: Setting
    ) -> TransferGraph:
        """The flows, under this method's name and discipline."""
        graph = self.planner.plan(demand, racks, chunk_bytes, setting)
        if not isinstance(graph, TransferGraph):
            raise ThzSyncError(
                f"{self.collective} method {self.name!r}: found {graph!r}; return a TransferGraph"
            )
        named = replace(graph, kind=self.collective, method=self.name)
        if not self.discipline:
            return named
        first = np.zeros(graph.flows, dtype=np.int64)
        return replace(named, disciplines=(self.discipline,), discipline=first)
