"""A learner that begins without knowledge begins in a way that seed and scenario foretell.

Bandits first try shares and powers from a fixed sequence, each model for itself; double Q-learning
draws whether to explore, and what, from its own stream. What they decide once they have learnt
something nobody can foretell without learning it too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from thzsync.auditor.book import Book
from thzsync.auditor.findings import TOLERANCE, Findings
from thzsync.auditor.policy import STATIC, split_flow_by_flow
from thzsync.scenario import Bandit
from thzsync.streams import Streams

KNOWLEDGE: Final = ("fresh", "taught", "frozen")
LEARNERS: Final = ("thz-sync", "shared-bandit", "ddqn")
_FIRST_SHARE, _FIRST_PLACE = (5**0.5 - 1) / 2, 2**0.5
_DDQN_STREAM: Final = 4
_INPUTS_BESIDE_SUBBANDS: Final = 10


class Foretold(NamedTuple):
    """What an event's decision must have been: one share for all flows, one power for all racks."""

    event: int
    share: float
    power: float


def learner(book: Book, findings: Findings) -> None:
    """A policy knew at the start what its name allows; without knowledge it began as foretold."""
    name, told = book.run.policy, book.run.learning
    noted = told != "" or book.run.declared is not None
    if noted and name in (*LEARNERS, *STATIC):
        findings.require(
            "learner",
            told in (KNOWLEDGE if name in LEARNERS else ("none",)),
            f"policy {name}",
            f"is said to have begun with {told!r} as its knowledge",
        )
    if name in LEARNERS and told == "fresh" and not book.cut:
        by_flow = split_flow_by_flow(book)
        for foretold in _foretold(book):
            _check(book, findings, foretold, bool(by_flow[foretold.event]))


def _check(book: Book, findings: Findings, foretold: Foretold, by_flow: bool) -> None:
    events, flows = book.events, book.flows
    event, seats = foretold.event, slice(*events.racks.start[foretold.event :][:2].tolist())
    power = events.power[seats]
    fits = (power == 0) | np.isclose(power, foretold.power, rtol=TOLERANCE)
    own = slice(*np.searchsorted(flows.number, events.number[event] + np.arange(2)).tolist())
    if by_flow:
        expected = np.rint(flows.needed[own] * foretold.share).astype(np.int64)
        fits = np.append(fits, flows.thz_chunks[own] == expected)
    findings.require(
        "learner",
        bool(fits.all()),
        events.name(event),
        f"a fresh {book.run.policy} puts a share of {foretold.share:.3f} on THz here, at a power "
        f"of {foretold.power:g}",
    )


def _foretold(book: Book) -> Iterator[Foretold]:
    coordinator = book.scenario.coordinator
    if book.run.policy == "ddqn":
        return _explored(book)
    shared = book.run.policy == "shared-bandit"
    return _warming_up(book, coordinator.shared_bandit if shared else coordinator.bandit, shared)


def _events_in_order(book: Book) -> Iterator[int]:
    """Rows of the first events, up to the first that is not recorded."""
    for expected, number in enumerate(book.events.number.tolist()):
        if number != expected:
            return
        yield expected


def _warming_up(book: Book, settings: Bandit, shared: bool) -> Iterator[Foretold]:
    """The n-th decision of a model: multiples of two irrational numbers fill shares and powers."""
    levels, made = book.scenario.coordinator.power_levels, Counter[str]()
    if not settings.exploration:
        return
    for event in _events_in_order(book):
        model = "shared" if shared else str(book.events.kind[event])
        made[model] += 1
        if made[model] <= settings.warm_up:
            place = made[model] * _FIRST_PLACE % 1.0
            power = levels[int(place * len(levels))]
            yield Foretold(event, made[model] * _FIRST_SHARE % 1.0, power)


def _explored(book: Book) -> Iterator[Foretold]:
    """Random actions before the first training; greedy ones in between are not foretold."""
    scenario = book.scenario
    settings, levels = scenario.coordinator.ddqn, scenario.coordinator.power_levels
    if scenario.coordinator.encoder == "flat":
        return  # its first layer is drawn slot by slot, as events ask for more
    generator = Streams(book.run.seed).generator("policy", _DDQN_STREAM)
    inputs = _INPUTS_BESIDE_SUBBANDS + scenario.thz.subbands
    weights = inputs * settings.flow_units, 2 * settings.flow_units * settings.units
    generator.normal(size=weights[0]), generator.normal(size=weights[1])  # of the encoder
    generator.uniform(size=settings.flow_units), generator.uniform(size=settings.units)
    for event in _events_in_order(book):
        if event >= settings.train_every or not (book.flows.event == event).any():
            return
        done = min(event / settings.epsilon_events, 1.0)
        span = settings.epsilon_end - settings.epsilon_start
        if generator.random() < settings.epsilon_start + done * span:
            share, place = generator.random(2).tolist()
            yield Foretold(event, share, levels[int(place * len(levels))])
