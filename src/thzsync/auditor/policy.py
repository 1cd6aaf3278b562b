"""What policies decide, as far as their names and the scenario tell.

A policy that never learns decides what its name says. A bandit that begins without knowledge tries
shares and powers from a fixed sequence, each model for itself. Double Q-learning explores at random
at first. What learners decide later cannot be told without learning it, too.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

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
    for k in findings.broken(known & (flows.thz_chunks != expected)):
        findings.add(flows.name(k), f"{flows.thz_chunks[k]} THz chunks, not {expected[k]}")
    levels = np.array(record.scenario.coordinator.power_levels)
    level = float(levels[np.argmin(np.abs(levels - power))])
    wrong = (events.power != 0) & ~np.isclose(events.power, level, rtol=TOLERANCE)
    for k in findings.broken(wrong):
        findings.add(events.member_name(k), f"power {events.power[k]:g}, {policy} takes {level:g}")


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
        known = told in (KNOWLEDGE if name in LEARNERS else ("none",))
        findings.require(known, f"policy {name}", f"cannot have begun with knowledge {told!r}")
    if name not in LEARNERS or told != "fresh" or record.cut:
        return
    number, coordinator = record.events.number, record.scenario.coordinator
    first = int(np.argmin(np.append(number == np.arange(len(number)), False)))
    if name == "ddqn":
        _explores(record, findings, first)
    elif name == "shared-bandit":
        _warms_up(record, findings, first, coordinator.shared_bandit, ["shared"] * first)
    else:
        _warms_up(record, findings, first, coordinator.bandit, record.events.kind.tolist())


def _warms_up(
    record: Record, findings: Findings, first: int, settings: Bandit, models: list[str]
) -> None:
    """The n-th decision of a model: multiples of two irrational numbers fill shares and powers.

    It is one share for all flows and one power for all racks of each of the ``first`` events.
    """
    events, flows, by_flow = record.events, record.flows, _split_flow_by_flow(record)
    levels, made = record.scenario.coordinator.power_levels, Counter[str]()
    for event, model in enumerate(models[: first if settings.exploration else 0]):
        made[model] += 1
        if made[model] > settings.warm_up:
            continue
        share = made[model] * _FIRST_SHARE % 1.0
        power = levels[int(made[model] * _FIRST_PLACE % 1.0 * len(levels))]
        budget = events.power[slice(*events.racks.start[event : event + 2].tolist())]
        fits = (budget == 0) | np.isclose(budget, power, rtol=TOLERANCE)
        if by_flow[event]:
            own = slice(
                *np.searchsorted(flows.number, events.number[event] + np.arange(2)).tolist()
            )
            expected = np.rint(flows.needed[own] * share).astype(np.int64)
            fits = np.append(fits, flows.thz_chunks[own] == expected)
        message = (
            f"a fresh {record.run.policy} takes a share of {share:.3f} at a power of {power:g}"
        )
        findings.require(bool(fits.all()), events.name(event), message)


def _explores(record: Record, findings: Findings, first: int) -> None:
    """Many random choices among several levels of power are not all of one level."""
    coordinator, racks = record.scenario.coordinator, record.events.racks
    settings = coordinator.ddqn
    done = np.minimum(np.arange(first) / settings.epsilon_events, 1.0)
    random = settings.epsilon_start + done * (settings.epsilon_end - settings.epsilon_start)
    power = np.zeros(len(record.events))
    np.maximum.at(power, racks.owner, record.events.power)
    sends = power[:first] > 0
    if len(coordinator.power_levels) > 1 and random[sends].sum() >= MANY_TRIALS:
        varied, message = len(np.unique(power[:first][sends])) > 1, "all powers are alike"
        findings.require(varied, f"events 0 to {first - 1}", message)
