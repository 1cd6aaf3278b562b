"""Small worlds with known gains, and random ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pytest

from thzsync.arrays import FloatArray, IntArray
from thzsync.channel import ChannelModel, link_budget_per_w
from thzsync.collectives import Demand, Tensor, Transfer, find_collective
from thzsync.scenario import Thz
from thzsync.synthesis import Method, Setting, find_method
from thzsync.wireless import (
    NEVER_PS,
    Overlay,
    Round,
    beams,
    bookkeeping,
    disciplines,
    forming,
    group,
    matching,
    overlay,
    pipelining,
    power,
    streaming,
    sustaining,
)

KERNELS = (
    beams, bookkeeping, disciplines, forming, matching, overlay, group, pipelining, power,
    streaming, sustaining,
)  # fmt: skip

CHUNK = 2**19


@dataclass(frozen=True)
class KnownGains:
    """Gains by (rack, rack, subband), which may change at given instants [ps]."""

    phases: dict[int, FloatArray] = field(default_factory=dict)

    def gains(self, src: IntArray, dst: IntArray, time_ps: int) -> FloatArray:
        return self.phases[max(t for t in self.phases if t <= time_ps)][src, dst]

    def base_gain(self, src: IntArray, dst: IntArray) -> FloatArray:
        return self.gains(src, dst, 0)

    def next_change_ps(self, time_ps: int) -> int:
        return min((t for t in self.phases if t > time_ps), default=NEVER_PS)


def channel_of(*phases: FloatArray, at_ps: tuple[int, ...] = (0,)) -> ChannelModel:
    """A channel with the given gains from each instant on."""
    racks, _, subbands = phases[0].shape
    return ChannelModel(KnownGains(dict(zip(at_ps, phases, strict=True))), racks, subbands)


def gains_for_snr(thz: Thz, snr: FloatArray | float, racks: int) -> FloatArray:
    """Gains at which a rack's full power arrives with the given signal-to-noise ratio."""
    shape = (racks, racks, thz.subbands)
    gain = np.broadcast_to(snr, shape) / (thz.max_power_w * link_budget_per_w(thz))
    return np.array(gain, dtype=np.float64)


def even_gains(thz: Thz, racks: int, snr: float = 100.0) -> FloatArray:
    """The same gain everywhere."""
    return gains_for_snr(thz, snr, racks)


def random_gains(generator: np.random.Generator, thz: Thz, racks: int) -> FloatArray:
    """Reciprocal gains over 60 dB, around what the paper's links have."""
    snr_db = generator.uniform(-20.0, 40.0, (racks, racks, thz.subbands))
    snr_db = np.maximum(snr_db, snr_db.transpose(1, 0, 2))
    return gains_for_snr(thz, 10 ** (snr_db / 10), racks)


def seconds(bits: float, snr: float, thz: Thz) -> float:
    """Time for some bits at a signal-to-noise ratio (eq:thz_rate) [s]."""
    return bits / (thz.subband_hz * np.log2(1 + snr))


def everyone_to_everyone(racks: int, size_bytes: int) -> Transfer:
    """The same bytes between all ordered pairs."""
    src, dst = np.nonzero(~np.eye(racks, dtype=np.bool_))
    return Transfer.of(src, dst, np.full(len(src), size_bytes))


def method_of(kind: str, name: str = "proposed") -> Method:
    return find_method(kind, name)


def demand_of(kind: str, racks: int, generator: np.random.Generator) -> Demand:
    """A random demand with zeros in it."""
    takes = find_collective(kind)
    if takes.demand is Tensor:
        root = int(generator.integers(racks)) if takes.rooted else None
        return Tensor(int(generator.integers(0, 40 * CHUNK)), root)
    src, dst = np.nonzero(~np.eye(racks, dtype=np.bool_))
    size = generator.integers(0, 4 * CHUNK, len(src)) * (generator.random(len(src)) < 0.6)
    if kind == "p2p":
        few = generator.random(len(src)) < 0.3
        src, dst, size = src[few], dst[few], size[few]
    return Transfer.of(src, dst, size)


def admit(
    on: Overlay,
    number: int,
    demand: Demand,
    racks: int | IntArray,
    method: Method,
    thz: Thz,
    budget_w: float | None = None,
    ready: bool = True,
    rank: int = 0,
) -> None:
    """Put an event on the overlay, all of it on THz and ready at once."""
    members = np.arange(racks) if isinstance(racks, int) else racks
    offer = method.offer(demand, members, CHUNK, Setting.flat(len(members), thz))
    graph = offer.lower(offer.chunks)
    budget = np.full(len(members), thz.max_power_w if budget_w is None else budget_w)
    on.admit(number, graph, budget, rank)
    if ready:
        on.ready(number, np.arange(len(graph.chunk_flow)))


def play(on: Overlay, start_ps: int = 0, flying: Sequence[Round] = ()) -> list[Round]:
    """Dispatch and finish until nothing is in the air; the rounds in order of their start."""
    flying = [*flying, *on.dispatch(start_ps)]
    rounds = list(flying)
    while flying:
        flying.sort(key=lambda r: r.end_ps)
        now_ps = flying[0].end_ps
        for ended in [r for r in flying if r.end_ps == now_ps]:
            on.finish(ended)
        started = on.dispatch(now_ps)
        rounds += started
        flying = [r for r in flying if r.end_ps > now_ps] + started
    return rounds


def overlaps(rounds: list[Round]) -> bool:
    """Whether a rack does two things at once on one subband (eq:rf_half_duplex)."""
    spans: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for r in rounds:
        for rack in (r.src, r.dst):
            for v, c in zip(rack.tolist(), r.subband.tolist(), strict=True):
                spans.setdefault((v, c), []).append((r.start_ps, r.end_ps))
    return any(a[1] > b[0] for spans_of in spans.values() for a, b in pairwise(sorted(spans_of)))


def peak_power_w(rounds: list[Round], racks: int) -> FloatArray:
    """Most power that every rack radiates at any instant [W]."""
    peak = np.zeros(racks)
    for instant in {r.start_ps for r in rounds}:
        now = np.zeros(racks)
        for r in rounds:
            if r.start_ps <= instant < r.end_ps:
                np.add.at(now, r.src, r.power_w)
        peak = np.maximum(peak, now)
    return peak


@contextmanager
def plain_kernels() -> Iterator[None]:
    """Run every kernel of the overlay as the Python it is written in."""
    with pytest.MonkeyPatch.context() as patch:
        for module in KERNELS:
            for name, value in vars(module).copy().items():
                if hasattr(value, "py_func"):
                    patch.setattr(module, name, value.py_func)
        yield
