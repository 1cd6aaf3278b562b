"""All-to-All over third racks where a pair is weak, and in the order of a rotation on fibre."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tests.reference.tensors import execute
from tests.wireless.worlds import channel_of
from thzsync.arrays import FloatArray
from thzsync.auditor import audit
from thzsync.execution.alone import run_collective
from thzsync.experiments.single_ring import Instance
from thzsync.scenario import Scenario
from thzsync.simulation import simulate
from thzsync.synthesis import Setting, find_method
from thzsync.synthesis.bounds import bound_s
from thzsync.synthesis.exchanges import weak_pairs
from thzsync.synthesis.stragglers import air_times
from thzsync.testing.floors import RandomPolicy
from thzsync.transfers import Schedule
from thzsync.transfers.check import check_plan

RING = Scenario.preset("single-ring")


def an_exchange(racks: int, blocked_db: float) -> tuple[Instance, FloatArray]:
    """An instance, and its gains with pair (0, 1) blocked."""
    instance = Instance(RING, "a2a", racks, False, 3, 8 * 2**20)
    gains = instance.channel.gain_matrix(instance.members, 0).copy()
    gains[[0, 1], [1, 0]] *= 10 ** (-blocked_db / 10)
    return instance, gains


def carried_out(method: str, instance: Instance, gains: FloatArray) -> Schedule:
    return run_collective(
        instance.demand, instance.members, find_method("a2a", method), RING, instance.topology,
        channel_of(gains), instance.late_s,
    )  # fmt: skip


@pytest.mark.parametrize("racks", [3, 6])
def test_a_blocked_pair_goes_over_others_and_ends_sooner(racks: int) -> None:
    instance, gains = an_exchange(racks, 20)
    straight, relayed = (
        carried_out(m, instance, gains) for m in ("sustained", "sustained-relayed")
    )
    assert relayed.completion_ps < 0.8 * straight.completion_ps
    graph = relayed.plan
    passed_on = ~graph.local
    blocked = {f"{a}-{b}" for a, b in ((0, 1), (1, 0))}
    source = graph.src[graph.after]
    assert {f"{a}-{b}" for a, b in zip(source, graph.dst[passed_on], strict=True)} == blocked
    execute(relayed, np.random.default_rng(0))
    bound = bound_s(
        "a2a", instance.demand, instance.members, gains, RING.thz, instance.late_s,
        forwarding=True, pointed=True,
    )  # fmt: skip
    assert bound <= relayed.completion_ps * 1e-12


def test_nobody_is_relayed_where_no_pair_is_weak() -> None:
    instance, gains = an_exchange(6, 0)
    straight, relayed = (
        carried_out(m, instance, gains) for m in ("sustained", "sustained-relayed")
    )
    assert relayed.completion_ps == straight.completion_ps
    assert relayed.plan.disciplines == ("sustained",)


@pytest.mark.parametrize("part", [0.0, 0.4, 1.0])
def test_nothing_is_relayed_on_fibre(part: float) -> None:
    instance, gains = an_exchange(6, 20)
    setting = Setting(gains, np.zeros(6), RING.thz)
    offer = find_method("a2a", "sustained-relayed").offer(
        instance.demand, instance.members, 2**19, setting
    )
    graph = offer.lower((part * offer.chunks).astype(np.int64))
    fibre = graph.thz_chunks == 0
    assert graph.local[fibre].all()
    assert (graph.thz_chunks[~fibre] == graph.chunks[~fibre]).all()
    assert bool((~graph.local).any()) == (part > 0)
    check_plan(graph)


def test_a_pair_is_weak_if_two_hops_take_less() -> None:
    airtime = np.array([[9, 5, 2, 9], [5, 9, 2.5, 9], [2, 2.5, 9, 1], [9, 9, 1, 9]])
    weak = weak_pairs(airtime)
    assert [(int(a), int(b)) for a, b in np.argwhere(np.triu(weak))] == [(0, 1), (0, 3), (1, 3)]
    _, gains = an_exchange(6, 20)
    setting = Setting(gains, np.zeros(6), RING.thz)
    assert weak_pairs(air_times(setting))[0, 1]


def test_bounds_of_a_method_that_relays_allow_for_it() -> None:
    instance, gains = an_exchange(5, 30)
    instance.__dict__["channel"] = channel_of(gains)
    assert instance.bound_ms("sustained-relayed") < instance.bound_ms("sustained")
    assert (
        instance.bound_ms("sustained-relayed")
        <= instance.run("sustained-relayed").completion_ps / 1e9
    )


def test_on_fibre_every_rack_begins_with_another_one() -> None:
    instance, gains = an_exchange(6, 0)
    offer = find_method("a2a", "sustained").offer(
        instance.demand, instance.members, 2**19, Setting(gains, np.zeros(6), RING.thz)
    )
    graph = offer.lower(np.zeros_like(offer.chunks))
    for rack in range(6):
        mine = graph.dst[graph.src == rack]
        assert mine.tolist() == [(rack + k) % 6 for k in range(1, 6)]
    assert int(graph.flow_bytes.sum()) == 6 * 8 * 2**20


@pytest.mark.parametrize("seed", range(3))
def test_the_auditor_finds_nothing_wrong_with_relays(seed: int) -> None:
    blocked = {"channel.blockage.share": 0.3, "channel.blockage.loss_db": 25}
    scenario = Scenario.preset("tiny").with_({"collectives.a2a": "sustained-relayed", **blocked})
    run = simulate(scenario, RandomPolicy(seed), 1, seed, references={})
    assert audit(run).violations == []
    sustained = run.rounds.filter(pl.col("discipline") == "sustained-chunk")
    assert len(sustained) > 0
