"""What kinds of sections must keep: rate laws, antennas, path losses, floors, networks, workloads.

Each suite takes the model with its keys set, as a scenario's section makes it. It checks the facts
of its family first and then simulates small floors: two runs must be the same, and the audit must
find nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NoReturn

import numpy as np

from thzsync.errors import ThzSyncError
from thzsync.network import network_of
from thzsync.scenario import (
    Antenna,
    FloorKind,
    NetworkKind,
    Pairs,
    PathLoss,
    RateLaw,
    Scenario,
    WorkloadKind,
)
from thzsync.scenario.antennas import ANTENNAS, pattern_problem
from thzsync.scenario.base import Model
from thzsync.scenario.floor import FLOORS, SHORTEST_M
from thzsync.scenario.kinds import Kinds
from thzsync.scenario.network import NETWORKS
from thzsync.scenario.path_loss import PATH_LOSSES
from thzsync.scenario.rates import RATE_LAWS, step_problem
from thzsync.scenario.workload import WORKLOADS
from thzsync.streams import Streams
from thzsync.testing.floors import FEW, RandomPolicy, check_run, small_floors
from thzsync.topology import Topology
from thzsync.workload import scenario_graph


def check_rate_law(law: RateLaw) -> int:
    """Steps within Shannon's limit, shares of errors below 1; returns the audited runs."""
    place = _place("rate law", law)
    if law.steps() != law.steps():
        _refuse(place, "two calls of steps() differ")
    if problem := step_problem(law):
        _refuse(place, problem)
    return _runs(place, RATE_LAWS, law, "thz.rate")


def check_antenna(antenna: Antenna) -> int:
    """No loss on the axis, and nowhere a gain above it; returns the runs that were audited."""
    place, angle_deg = _place("antenna", antenna), np.linspace(0.0, 180.0, 1801)
    for gain_dbi in (0.0, 10.0, 25.0, 40.0):
        lost_db = antenna.loss_db(angle_deg, gain_dbi)
        _same(place, lost_db, antenna.loss_db(angle_deg.copy(), gain_dbi), "two calls of loss_db")
        _same(place, lost_db, antenna.loss_db(-angle_deg, gain_dbi), "both sides of the axis")
        if problem := pattern_problem(antenna, [gain_dbi]):
            _refuse(place, problem)
    return _runs(place, ANTENNAS, antenna, "thz.antenna", gains_db=25.0, beams=True)


def check_path_loss(law: PathLoss) -> int:
    """Gains from 0 to 1, alike in both directions; returns the runs that were audited."""
    place, draw = _place("path loss", law), np.random.default_rng(0)
    a_m, b_m = draw.uniform(-20, 20, (2, 500, 2))
    distance_m = np.maximum(np.linalg.norm(a_m - b_m, axis=1), 0.5)
    there, back = (Pairs(distance_m, *ends, 300e9, 1) for ends in ((a_m, b_m), (b_m, a_m)))
    gain = law.gain(there)
    _same(place, gain, law.gain(there), "two calls of gain")
    _same(place, gain, law.gain(back), "both directions of a pair")
    if not ((gain >= 0) & (gain <= 1)).all():
        _refuse(place, f"gains are {gain.min():g} to {gain.max():g}; use 0 to 1")
    return _runs(place, PATH_LOSSES, law, "channel.path_loss")


def check_floor(floor: FloorKind) -> int:
    """As many places as racks, none too near another; returns the runs that were audited."""
    place = _place("floor", floor)
    _same(place, floor.places_m, floor.places_m, "two readings of places_m")
    if len(floor.places_m) != floor.racks or floor.racks != floor.groups * floor.lanes:
        told = f"{len(floor.places_m)} places, {floor.groups} groups of {floor.lanes}"
        _refuse(place, f"{told}, {floor.racks} racks")
    apart_m = np.linalg.norm(np.array(floor.places_m)[:, None] - np.array(floor.places_m), axis=2)
    if floor.racks > 1 and apart_m[~np.eye(floor.racks, dtype=np.bool_)].min() < SHORTEST_M:
        _refuse(place, f"two racks stand less than {SHORTEST_M} m apart")
    moe = [] if floor.groups < 2 else [1]
    return _runs(place, FLOORS, floor, "floor", moe_stages=moe)


def check_network(network: NetworkKind) -> int:
    """The same links every time, and a path for every pair; returns the runs that were audited."""
    place = _place("network", network)
    with NETWORKS.temporarily(type(network)):
        other = Scenario.preset("tiny")
        scenario = other.with_({"network": _table(network)})
        # The last network is kept: one in between has it built anew.
        first, _, again = (network_of(one) for one in (scenario, other, scenario))
    for name in ("from_switch", "rate_bps", "delay_ps"):
        _same(place, getattr(first, name), getattr(again, name), f"links of two readings ({name})")
    return _runs(place, NETWORKS, network, "network")


def check_workload(workload: WorkloadKind) -> int:
    """The same tasks for the same seed; returns the runs that were audited."""
    place = _place("workload", workload)
    with WORKLOADS.temporarily(type(workload)):
        job = {"name": "train", "workload": _table(workload)}
        scenario = Scenario.preset("tiny").with_({"jobs": [job]})
        topology = Topology(scenario.floor)
        graphs = [scenario_graph(scenario, topology, Streams(3), 1) for _ in range(2)]
        if repr(graphs[0].nodes) != repr(graphs[1].nodes):
            _refuse(place, "two iterations of one number differ; draw from the streams alone")
        for seed in range(FEW):
            check_run(place, scenario, seed, partial(RandomPolicy, seed))
    return FEW


def _runs(
    place: str, kinds: Kinds, section: Model, key: str, *, gains_db: float | None = None,
    beams: bool = False, moe_stages: Sequence[int] | None = None,
) -> int:  # fmt: skip
    """Audited runs of small floors with a section."""
    changes: dict[str, Any] = {key: _table(section)}
    if gains_db is not None:
        changes |= {"thz.transmit_gain_db": gains_db, "thz.receive_gain_db": gains_db}
    if beams:
        changes["thz.interference"] = "beams"
    if moe_stages is not None:
        changes["jobs.train.training.moe_stages"] = moe_stages
    with kinds.temporarily(type(section)):
        for seed, scenario in small_floors():
            check_run(place, scenario.with_(changes), seed, partial(RandomPolicy, seed))
    return FEW


def _table(section: Model) -> dict[str, Any]:
    return section.model_dump(mode="json", exclude_none=True)


def _place(noun: str, section: Any) -> str:
    return f"{noun} {section.kind!r}"


def _same(place: str, one: Any, other: Any, who: str) -> None:
    if not np.array_equal(np.asarray(one), np.asarray(other)):
        _refuse(place, f"{who} differ")


def _refuse(place: str, what: str) -> NoReturn:
    raise ThzSyncError(f"{place}: {what}")
