"""What one wireless round costs: forming (match, augment, power) and finishing it."""

from __future__ import annotations

import time
from typing import Any, Final

import numpy as np

from thzsync.experiments.single_ring import Instance
from thzsync.scenario import Scenario
from thzsync.synthesis import Setting, find_method
from thzsync.wireless import Overlay, Round

RACKS: Final = 12
REPEATS: Final = 7


def measure() -> dict[str, Any]:
    """Median CPU time over repeats of one A2A and AllReduce round [ms] and one P2P chunk [us]."""
    a2a_ms, a2a_rounds = _round_ms("a2a")
    allreduce_ms, allreduce_rounds = _round_ms("allreduce")
    p2p_ms, p2p_chunks = _round_ms("p2p")
    return {
        "racks": RACKS,
        "subbands": Scenario.preset("single-ring").thz.subbands,
        "a2a_round_ms": a2a_ms,
        "a2a_rounds": a2a_rounds,
        "allreduce_round_ms": allreduce_ms,
        "allreduce_rounds": allreduce_rounds,
        "p2p_chunk_us": 1e3 * p2p_ms,
        "p2p_chunks": p2p_chunks,
    }


def _round_ms(kind: str) -> tuple[float, int]:
    """Median time per round [ms] and the number of rounds; the first run compiles."""
    runs = [_timed(kind) for _ in range(REPEATS + 1)][1:]
    return float(np.median([seconds / rounds * 1e3 for seconds, rounds in runs])), runs[0][1]


def _timed(kind: str) -> tuple[float, int]:
    """Seconds in the overlay and rounds of one whole event, all of whose chunks are ready.

    AllReduce flows keep to their stages only by precedence, so here all edges compete at once:
    the largest rounds that can occur.
    """
    instance = Instance(Scenario.preset("single-ring"), kind, RACKS, False, 0)
    thz = instance.scenario.thz
    setting = Setting(instance.channel.gain_matrix(instance.members, 0), np.zeros(RACKS), thz)
    offer = find_method(kind, "proposed").offer(instance.demand, instance.members, 2**19, setting)
    graph = offer.lower(offer.chunks)
    overlay = Overlay(thz, instance.channel, instance.topology.racks, trains=False)
    overlay.admit(0, graph, np.full(RACKS, thz.max_power_w))
    overlay.ready(0, np.arange(len(graph.chunk_flow)))
    flying: list[Round] = []
    rounds, spent, now_ps = 0, 0.0, 0
    while overlay.outstanding(0):
        begun = time.thread_time()
        started = overlay.dispatch(now_ps)
        spent += time.thread_time() - begun
        rounds += len(started)
        flying = sorted([*flying, *started], key=lambda r: r.end_ps)
        ended = flying.pop(0)
        now_ps = ended.end_ps
        begun = time.thread_time()
        overlay.finish(ended)
        spent += time.thread_time() - begun
    return spent, rounds
