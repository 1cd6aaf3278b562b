"""What policies decide, as far as their names and the scenario tell.

A policy that never learns decides what its name says. A bandit that begins without knowledge tries
shares and powers from a fixed sequence, each model for itself. Double Q-learning explores at random
at first. What learners decide once they have learnt something nobody can foretell without learning
it too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from thzsync.arrays import BoolArray
from thzsync.auditor.findings import TOLERANCE, Findings
from thzsync.auditor.record import Record
from thzsync.scenario import Bandit

STATIC: Final = {
    "all-wired": (0.0, 0.0),
    "all-wired-best": (0.0, 0.0),
    "all-wireless": (1.0, 1.0),
    "all-wireless-best": (1.0, 1.0),
    "fixed-ratio": (0.5, 0.5),
}
"""Share of the chunks on THz, and of the power."""
KNOWLEDGE: Final = ("fresh", "taught", "frozen")
LEARNERS: Final = ("thz-sync", "shared-bandit", "ddqn")
MANY_TRIALS: Final = 40
"""So many random choices are not all alike."""
_FIRST_SHARE, _FIRST_PLACE = (5**0.5 - 1) / 2, 2**0.5
_PER_FLOW: Final = "proposed"
"""The method whose units are its flows for every collective of the paper."""


def static_policy(record: Record, findings: Findings) -> None:
    """All-Wired, All-Wireless and Fixed ratio split every flow alike, at one power."""
    policy, events, flows = record.run.policy, record.events, record.flows
    if policy not in STATIC:
        return
    share, power = STATIC[policy]
    expected = np.rint(flows.needed * share).astype(np.int64)
    known = flows.event >= 0
    if len(events):
        known &= (share in (0.0, 1.0)) | _split_flow_by_flow(record)[flows.event]
    findings.test(
        known & (flows.thz_chunks != expected),
        flows.name,
        lambda row: f"{flows.thz_chunks[row]} THz chunks, {policy} takes {expected[row]}",
    )
    levels = np.array(record.scenario.coordinator.power_levels)
    level = float(levels[np.argmin(np.abs(levels - power))])
    findings.test(
        (events.power != 0) & ~np.isclose(events.power, level, rtol=TOLERANCE),
        events.member_name,
        lambda k: f"power budget {events.power[k]:g}, {policy} takes {level:g}",
    )


def _split_flow_by_flow(record: Record) -> BoolArray:
    """Events in which every flow was split for itself, so that shares can be told from counts."""
    paper = np.isin(record.events.kind, ("p2p", "a2a", "allreduce"))
    by_flow: BoolArray = paper & (record.events.method == _PER_FLOW)
    return by_flow


def learner(record: Record, findings: Findings) -> None:
    """A policy knew at the start what its name allows; without knowledge it began by trying."""
    name, told = record.run.policy, record.run.learning
    noted = told != "" or record.run.declared is not None
    if noted and name in (*LEARNERS, *STATIC):
        findings.require(
            told in (KNOWLEDGE if name in LEARNERS else ("none",)),
            f"policy {name}",
            f"is said to have begun with {told!r} as its knowledge",
        )
    if name not in LEARNERS or told != "fresh" or record.cut:
        return
    if name == "ddqn":
        _explores(record, findings)
        return
    by_flow, coordinator = _split_flow_by_flow(record), record.scenario.coordinator
    shared = name == "shared-bandit"
    settings = coordinator.shared_bandit if shared else coordinator.bandit
    for trial in _warm_up(record, settings, shared):
        _check(record, findings, trial, bool(by_flow[trial.event]))


class Trial(NamedTuple):
    """What an event's decision must have been: one share for all flows, one power for all racks."""

    event: int
    share: float
    power: float


def _check(record: Record, findings: Findings, trial: Trial, by_flow: bool) -> None:
    events, flows = record.events, record.flows
    power = events.power[slice(*events.racks.start[trial.event :][:2].tolist())]
    fits = (power == 0) | np.isclose(power, trial.power, rtol=TOLERANCE)
    own = slice(*np.searchsorted(flows.number, events.number[trial.event] + np.arange(2)).tolist())
    if by_flow:
        expected = np.rint(flows.needed[own] * trial.share).astype(np.int64)
        fits = np.append(fits, flows.thz_chunks[own] == expected)
    findings.require(
        bool(fits.all()),
        events.name(trial.event),
        f"a fresh {record.run.policy} puts a share of {trial.share:.3f} on THz here, at a power "
        f"of {trial.power:g}",
    )


def _warm_up(record: Record, settings: Bandit, shared: bool) -> Iterator[Trial]:
    """The n-th decision of a model: multiples of two irrational numbers fill shares and powers."""
    levels, made = record.scenario.coordinator.power_levels, Counter[str]()
    if not settings.exploration:
        return
    for event in range(_first_events(record)):
        model = "shared" if shared else str(record.events.kind[event])
        made[model] += 1
        if made[model] <= settings.warm_up:
            place = made[model] * _FIRST_PLACE % 1.0
            power = levels[int(place * len(levels))]
            yield Trial(event, made[model] * _FIRST_SHARE % 1.0, power)


def _first_events(record: Record) -> int:
    """How many events are recorded before the first that is not."""
    number = record.events.number
    return int(np.argmin(np.append(number == np.arange(len(number)), False)))


def _explores(record: Record, findings: Findings) -> None:
    """Many random choices among several levels of power are not all of one level."""
    coordinator, racks = record.scenario.coordinator, record.events.racks
    settings, first = coordinator.ddqn, np.arange(_first_events(record))
    done = np.minimum(first / settings.epsilon_events, 1.0)
    random = settings.epsilon_start + done * (settings.epsilon_end - settings.epsilon_start)
    power = np.zeros(len(record.events))
    np.maximum.at(power, racks.owner, record.events.power)
    sends = power[first] > 0
    if len(coordinator.power_levels) > 1 and random[sends].sum() >= MANY_TRIALS:
        findings.require(
            len(np.unique(power[first][sends])) > 1,
            f"events 0 to {len(first) - 1}",
            f"a fresh {record.run.policy} tries more than one power",
        )
