"""The first command of an installation: kernels are compiled once, before workers start.

Worker processes would each compile the same. Each part below has kernels that the others have not,
and calls them as a run does: on a tiny floor, so that what takes time is compiling. A part that is
missing here is compiled on demand.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from thzsync.jit import about_to_compile, code_folder
from thzsync.scenario import Scenario
from thzsync.workers import default_workers


class Part(NamedTuple):
    """Some kernels, and who calls them."""

    folder: str
    kernel: str
    """The largest or last of them, ``module.function``; where it is stored, nothing is missing."""
    call: Callable[[], object]


def missing() -> list[str]:
    """Parts whose machine code is not stored, but could be."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return []
    sources = Path(__file__).parents[1]
    folders = {name: code_folder(sources / name) for name in {p.folder for p in PARTS.values()}}
    return [name for name, part in PARTS.items() if not _stored(part, folders[part.folder])]


def prepare(workers: int | None = None) -> None:
    """Compile what is missing, before several workers would each compile it.

    In one process: Numba's files of stored code are not made for several writers. With one worker
    nothing is done: the kernels are compiled when they are needed.
    """
    count = default_workers() if workers is None else workers
    names = missing() if count > 1 else []
    if len(names) < 2:
        return
    about_to_compile()
    collects = gc.isenabled()
    gc.disable()  # looking for garbage would only cost time
    try:
        for name in names:
            PARTS[name].call()
    finally:
        if collects:
            gc.enable()


def _stored(part: Part, folder: Path | None) -> bool:
    return folder is None or any(folder.glob(f"{part.kernel}-*.nbi"))


def _fibre() -> None:
    """Look at an instant of a fabric at which nothing happens."""
    from thzsync.optical import Network, OpticalFabric

    fabric = OpticalFabric(Network.build(np.zeros(2, dtype=np.int64)))
    fabric.complete(np.zeros(0, dtype=np.int64), 0)
    fabric.occupancy(0, 1)
    fabric.link_bytes()
    fabric.advance(0)


def _iteration() -> None:
    from thzsync.simulation import simulate

    simulate(Scenario.preset("tiny"), "all-wired", 1, references={})


def _rounds() -> None:
    _transmit("a2a")
    _transmit("allreduce")


def _streams() -> None:
    _transmit("p2p")


def _transmit(kind: str) -> None:
    """Form transmissions of a collective whose chunks are all ready, and end them."""
    from thzsync.experiments.single_ring import Instance
    from thzsync.synthesis import Setting, find_method
    from thzsync.wireless import Overlay
    from thzsync.wireless.bookkeeping import numbered

    tiny = Scenario.preset("tiny")
    case = Instance(tiny, kind, 4, stragglers=False, seed=0, size_bytes=2**22)
    setting = Setting(case.channel.gain_matrix(case.members, 0), case.late_s, tiny.thz)
    method, chunk_bytes = find_method(kind, "proposed"), tiny.collectives.chunk_bytes
    offer = method.offer(case.demand, case.members, chunk_bytes, setting)
    graph = offer.lower(offer.chunks)
    overlay = Overlay(tiny.thz, case.channel, case.topology.racks)
    overlay.admit(0, graph, np.full(len(graph.racks), tiny.thz.max_power_w))
    overlay.ready(0, np.arange(len(graph.chunk_flow)))
    for sent in overlay.dispatch(0):
        numbered(graph.first_chunk, 0, sent.table, sent.delivers)
        overlay.finish(sent)


def _search() -> None:
    from thzsync.coordinator.beam import Head
    from thzsync.coordinator.encoder import random_encoder
    from thzsync.coordinator.features import ACTION_COLUMNS, columns, group_flows
    from thzsync.coordinator.learning import search_settings
    from thzsync.coordinator.search import search

    settings = Scenario.preset("tiny").coordinator.bandit
    encoder = random_encoder(
        columns(4), settings.flow_units, settings.units, np.random.default_rng(0)
    )
    levels, group = np.array([0.5, 1.0]), np.arange(2)
    features = group_flows(np.zeros((2, columns(4) - ACTION_COLUMNS)), group, group + 1, levels)
    head = Head(np.zeros(encoder.size), np.eye(encoder.size), settings.exploration)
    search(encoder, head, features, levels, search_settings(settings))


def _learning() -> None:
    from thzsync.coordinator.dense import Descent
    from thzsync.coordinator.encoder import Batch, random_encoder, represent
    from thzsync.coordinator.features import ACTION_COLUMNS, columns, group_flows
    from thzsync.coordinator.posterior import LinearHead
    from thzsync.coordinator.training import encode, fit

    encoder, group = random_encoder(columns(4), 4, 3, np.random.default_rng(0)), np.arange(2)
    rows = np.zeros((2, columns(4) - ACTION_COLUMNS))
    features = group_flows(rows, group, group + 1, np.array([0.5, 1.0]))
    head = LinearHead(encoder.size, 1.0)
    head.update(represent(encoder, features, np.zeros((2, ACTION_COLUMNS))), 0.0)
    batch = Batch(np.zeros((2, 2, columns(4))), np.zeros((2, 2), dtype=np.int64))
    draws = np.zeros((1, 2), dtype=np.int64)
    fit(encoder, np.zeros(encoder.size), batch, draws, np.zeros((1, 2)), Descent(0.0, 0.0))
    head.rebuild(encode(encoder, batch), np.zeros(2))


PARTS: Final = {
    "fibre": Part("optical", "kernel.advance", _fibre),
    "search": Part("coordinator", "search.search_all", _search),
    "rounds": Part("wireless", "forming.form_round", _rounds),
    "learning": Part("coordinator", "posterior.factorise", _learning),
    "streams": Part("wireless", "streaming.stream", _streams),
    "iteration": Part("transfers", "batch.rows_of", _iteration),
}
