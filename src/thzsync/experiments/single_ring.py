"""The synthesis experiment's setting: one ring, its flows, and its stragglers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.channel import ChannelModel
from thzsync.collectives import Demand, Tensor, Transfer, collective_names, find_collective
from thzsync.errors import ThzSyncError
from thzsync.scenario import Scenario, ScenarioLike
from thzsync.scenario.base import read_bytes
from thzsync.streams import Streams
from thzsync.synthesis import Method, Setting, method_of
from thzsync.topology import Topology
from thzsync.transfers import Schedule

if TYPE_CHECKING:
    from thzsync.synthesis.fibre_bounds import FibreBound

LATE_S: Final = (0.05, 0.1)
RACKS_PER_LATE_RACK: Final = 8


@dataclass(frozen=True)
class Instance:
    """One collective among the first racks of a ring: demand, channel and stragglers of a seed.

    Everything but the method, so that all methods face the same instance.
    """

    scenario: Scenario
    kind: str
    """Name of the collective."""
    racks: int
    stragglers: bool
    seed: int
    size_bytes: int | None = None
    """Tensor, outgoing bytes per rack, or bytes per lane; the usual when absent [bytes]."""

    def __post_init__(self) -> None:
        floor = self.scenario.floor
        if not 2 <= self.racks <= floor.racks:
            raise ThzSyncError(f"racks: found {self.racks}; the floor takes 2..{floor.racks}")

    @property
    def members(self) -> IntArray:
        """The active racks: the first positions, not spread over the ring."""
        return np.arange(self.racks, dtype=np.int64)

    @cached_property
    def topology(self) -> Topology:
        """Where the racks stand."""
        return Topology(self.scenario.floor)

    @cached_property
    def channel(self) -> ChannelModel:
        """Gains of this seed."""
        scenario = self.scenario
        streams = Streams(self.seed)
        return ChannelModel.build(scenario.channel, scenario.thz, self.topology, streams)

    @cached_property
    def demand(self) -> Demand:
        """What the collective asks for."""
        collective = find_collective(self.kind)
        size_bytes = self.size_bytes or collective.usual_bytes
        if collective.demand is Tensor:
            root = int(self.members[0]) if collective.rooted else None
            return Tensor(size_bytes, root)
        if self.kind == "p2p":
            senders = np.arange(self.racks - 1)
            sizes = np.full(self.racks - 1, size_bytes)
            return Transfer.of(senders, senders + 1, sizes)
        generator = Streams(self.seed).generator("demand", self.racks)
        return uneven_a2a(self.racks, size_bytes, generator)

    @cached_property
    def late_s(self) -> FloatArray:
        """Delay of every rack's data [s]."""
        if not self.stragglers:
            return np.zeros(self.racks)
        return late_racks_s(self.racks, Streams(self.seed).generator("stragglers", self.racks))

    def run(self, method: str) -> Schedule:
        """Carry the collective out by one method; the schedule has been checked."""
        return self.carry_out(method_of(self.scenario, self.kind, method))

    def carry_out(self, method: Method) -> Schedule:
        """The same by a method that need not be registered."""
        from thzsync.execution.alone import run_collective

        return run_collective(
            self.demand,
            self.members,
            method,
            self.scenario,
            self.topology,
            self.channel,
            self.late_s,
        )

    def bound_ms(self, method: str = "proposed", tight: bool = False) -> float:
        """No method with the same guard times as this one can complete earlier [ms].

        For the gains at time 0: if they change on the way, see :meth:`gains_change`, it may.
        """
        from thzsync.synthesis.bounds import bound_s

        gains = self.channel.gain_matrix(self.members, 0)
        guarded, pointed, forwarding = self._owes(method, gains)
        thz, late_s = self.scenario.thz, self.late_s
        return 1e3 * bound_s(
            self.kind, self.demand, self.members, gains, thz, late_s, guarded, forwarding, tight,
            pointed,
        )  # fmt: skip

    def run_on_fibre(self, method: str) -> float:
        """Completion time on the scenario's fibre, beside its background [ms]."""
        from thzsync.execution.alone import run_on_fibre
        from thzsync.network import network_of
        from thzsync.simulation.world import make_fabric

        key, chunk_bytes = (
            Streams(self.seed).key("background"),
            self.scenario.collectives.chunk_bytes,
        )
        fabric = make_fabric(self.scenario, network_of(self.scenario), key)
        how = method_of(self.scenario, self.kind, method)
        end_s = run_on_fibre(self.demand, self.members, how, chunk_bytes, fabric, self.late_s)
        return 1e3 * end_s

    def fibre_bound(self) -> FibreBound:
        """No method can complete earlier on the scenario's fibre."""
        from thzsync.network import network_of
        from thzsync.synthesis.fibre_bounds import fibre_bound

        network = network_of(self.scenario)
        return fibre_bound(self.kind, self.demand, self.members, network, self.late_s)

    def gains_change(self, until_ps: int) -> bool:
        """Whether a gain among the racks is another than at time 0 before an instant [ps]."""
        first, at_ps = self.channel.gain_matrix(self.members, 0), self.channel.next_change_ps(0)
        while at_ps < until_ps:
            if not np.array_equal(self.channel.gain_matrix(self.members, at_ps), first):
                return True
            at_ps = self.channel.next_change_ps(at_ps)
        return False

    def _owes(self, method: str, gains: FloatArray) -> tuple[bool, bool, bool]:
        """Whether there are guard times, whether for turns only, and whether data is passed on."""
        from thzsync.wireless import find_discipline

        setting = Setting(gains, self.late_s, self.scenario.thz)
        chunk_bytes = self.scenario.collectives.chunk_bytes
        offer = method_of(self.scenario, self.kind, method).offer(
            self.demand, self.members, chunk_bytes, setting
        )
        graph = offer.lower(offer.chunks)
        used = [find_discipline(name) for name in graph.disciplines]
        owed = all(discipline.guarded or discipline.steers for discipline in used)
        return owed, any(discipline.steers for discipline in used), not graph.local.all()


def uneven_a2a(racks: int, bytes_per_rack: int, generator: np.random.Generator) -> Transfer:
    """Every rack sends exactly ``bytes_per_rack``, in shares of uniform random weights."""
    weight = generator.random((racks, racks))
    np.fill_diagonal(weight, 0.0)
    share = weight / weight.sum(axis=1, keepdims=True) * bytes_per_rack
    size = np.floor(share).astype(np.int64)
    for row, exact in zip(size, share, strict=True):  # bytes lost by rounding: largest first
        missing = bytes_per_rack - int(row.sum())
        row[np.argsort(row - exact, kind="stable")[:missing]] += 1
    src, dst = np.nonzero(~np.eye(racks, dtype=np.bool_))
    return Transfer.of(src, dst, size[src, dst])


def late_racks_s(racks: int, generator: np.random.Generator) -> FloatArray:
    """Delays [s]: max(1, ceil(N / 8)) racks by 50 to 100 ms, the others by nothing."""
    count = max(1, -(-racks // RACKS_PER_LATE_RACK))
    late_s = np.zeros(racks)
    late_s[generator.choice(racks, count, replace=False)] = generator.uniform(*LATE_S, count)
    return late_s


def synthesize(
    collective: str,
    racks: int = 12,
    method: str = "proposed",
    stragglers: bool = False,
    seed: int = 0,
    size_bytes: int | str | None = None,
    scenario: ScenarioLike | None = None,
) -> Schedule:
    """Carry out one collective alone on THz: ``a2a``, ``allreduce``, ``p2p``, ``all-gather``, ...

    ``size_bytes`` is the tensor, what leaves each rack (a2a), or what each flow carries (p2p),
    such as ``"4 MiB"``.
    """
    if collective not in collective_names():
        known = ", ".join(collective_names())
        raise ThzSyncError(f"{collective}: no such collective; use one of {known}")
    setting = Scenario.of("single-ring" if scenario is None else scenario)
    size = None if size_bytes is None else read_bytes(size_bytes, "size_bytes")
    return Instance(setting, collective, racks, stragglers, seed, size).run(method)


def round_rows(schedule: Schedule) -> list[dict[str, Any]]:
    """One row per round; ``power_w`` is radiated by all racks, ``busiest_rack_w`` by one [W]."""
    plan = schedule.plan
    before = np.concatenate(([0], np.cumsum(plan.chunk_sizes)))
    first = plan.first_chunk[schedule.flow] + schedule.first_chunk
    size_bytes = before[first + schedule.chunks] - before[first]
    rows = []
    for number in range(schedule.rounds):
        of = np.flatnonzero(schedule.round == number)
        start_ps, end_ps = int(schedule.start_ps[of[0]]), int(schedule.end_ps[of[0]])
        power_w = schedule.power_w[of]
        per_rack_w = np.bincount(plan.src[schedule.flow[of]], power_w)
        sending_s = (end_ps - start_ps - int(schedule.overhead_ps[of[0]])) / 1e12
        rows.append(
            {
                "round": number + 1,
                "start_ms": start_ps / 1e9,
                "duration_ms": (end_ps - start_ps) / 1e9,
                "links": len(of),
                "mib": float(size_bytes[of].sum()) / 2**20,
                "power_w": float(power_w.sum()),
                "busiest_rack_w": float(per_rack_w.max()),
                "energy_j": float(power_w.sum()) * sending_s,  # eq:thz_energy
            }
        )
    return rows
