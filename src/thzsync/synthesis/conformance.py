"""What every synthesis method must keep: run this on a method of your own before you publish it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.collectives import Demand, Tensor, Transfer, find_collective
from thzsync.errors import ThzSyncError
from thzsync.scenario import Thz
from thzsync.synthesis.method import Method, Setting, configured
from thzsync.synthesis.offer import Offer
from thzsync.transfers import TransferGraph
from thzsync.transfers.check import check_plan

_CHUNK_BYTES = 1000


def check_method(method: Method, seed: int = 0) -> int:
    """Lower many events and splits; refuse the first graph that breaks a rule. Returns the graphs.

    Under every split the graph must turn the collective's precondition into its postcondition, keep
    to the event's racks and chunk size, send over THz only from racks that may, carry no empty
    flow, and be the same when made again.
    """
    generator = np.random.default_rng(seed)
    method, count = configured(method, {}), 0
    for racks, demand, setting in _events(method.collective, generator):
        offer, again = (method.offer(demand, racks, _CHUNK_BYTES, setting) for _ in range(2))
        place = f"{method.collective} method {method.name!r}, {len(racks)} racks"
        _check_offer(place, method, offer, racks)
        some = generator.integers(0, offer.chunks + 1)
        few = some * (generator.random(offer.units) < 0.2)  # racks that send nothing on THz
        for counts in (np.zeros_like(offer.chunks), offer.chunks, some, few):
            _check_graph(place, method, offer, counts)
            if not _same(offer.lower(counts), again.lower(counts)):
                raise ThzSyncError(
                    f"{place}: two graphs of the same event differ; draw nothing at random"
                )
            count += 1
    return count


def _check_offer(place: str, method: Method, offer: Offer, racks: IntArray) -> None:
    if offer.kind != method.collective or not np.array_equal(offer.racks, racks):
        raise ThzSyncError(f"{place}: the offer is for other racks or another collective")
    if (offer.chunks < 1).any():
        raise ThzSyncError(f"{place}: a unit without chunks cannot be split; leave it out")
    if len(offer.link_start) != offer.units + 1 or (np.diff(offer.link_start) < 1).any():
        raise ThzSyncError(f"{place}: every unit needs a link by which it can be judged")


def _check_graph(place: str, method: Method, offer: Offer, counts: IntArray) -> None:
    graph = offer.lower(counts)
    if graph.method != method.name or graph.kind != method.collective:
        raise ThzSyncError(f"{place}: the graph calls itself {graph.kind} {graph.method!r}")
    if graph.chunk_bytes != _CHUNK_BYTES or not np.array_equal(graph.racks, offer.racks):
        raise ThzSyncError(f"{place}: the graph changed the event's racks or chunk size")
    if (graph.stage < 0).any():
        raise ThzSyncError(f"{place}: stages must count from 0")
    silent = offer.racks[~offer.sending(counts)]
    if np.isin(graph.src[graph.thz_chunks > 0], silent).any():
        raise ThzSyncError(f"{place}: a rack without a power budget sends over THz")
    check_plan(graph)


def _events(
    collective: str, generator: np.random.Generator
) -> Iterator[tuple[IntArray, Demand, Setting]]:
    for n in (1, 2, 3, 4, 5, 8, 13):
        for subbands in (1, 2, 4):
            racks = np.sort(generator.choice(40, n, replace=False)).astype(np.int64)
            gains: FloatArray = 10 ** generator.uniform(-12, -6, (n, n, subbands))
            delay_s = generator.uniform(0, 0.1, n) * (generator.random(n) < 0.3)
            setting = Setting(gains + gains.transpose(1, 0, 2), delay_s, Thz(subbands=subbands))
            for demand in demands(collective, racks, generator):
                yield racks, demand, setting


def demands(collective: str, racks: IntArray, generator: np.random.Generator) -> Iterator[Demand]:
    """Demands of a collective among some racks, odd ones too."""
    meaning = find_collective(collective)
    if meaning.demand is Tensor:
        for tensor_bytes in (0, 1, 2, 999, 1000, 12_345, 64_000):
            root = int(generator.choice(racks)) if meaning.rooted else None
            yield Tensor(tensor_bytes, root)
        return
    i, j = np.nonzero(~np.eye(len(racks), dtype=np.bool_))
    for likely in (0.0, 0.3, 1.0):
        size = generator.integers(0, 5000, len(i)) * (generator.random(len(i)) < likely)
        yield Transfer.of(racks[i], racks[j], size)


def _same(a: TransferGraph, b: TransferGraph) -> bool:
    names = (f.name for f in fields(TransferGraph) if f.name != "demand")
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in names)
