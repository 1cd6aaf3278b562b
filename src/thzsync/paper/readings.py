"""`thzsync reproduce interpretations`: the published numbers under sets of interpretations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Final

from thzsync.paper.figure import Figure, Request, Row, facts, first_averaged
from thzsync.paper.ladder import LEARNERS, letter
from thzsync.paper.questions import (
    LETTER,
    PLACES,
    QUESTIONS,
    RANGES,
    READERS,
    VALUES,
    Numbers,
    Place,
    Readings,
    defaults,
    departures,
    every_set,
    fit,
    score,
)
from thzsync.paper.reading_runs import FIRST_SEED, Found, RingRun, Task, TraceRun, complete
from thzsync.scenario import Scenario

STATIC_ITERATIONS: Final = 2
_TRACE: Final = READERS["thz-sync"][:-1]
"""The questions that decide how the trace runs, whoever coordinates it."""


@dataclass(frozen=True)
class Assembly:
    """Published numbers under a set of interpretations, from measurements."""

    scenario: Scenario
    """What the answers change."""
    seeds: int = 2
    """Of static policies on the trace; learners have half as many."""
    iterations: int = 20
    ring_seeds: int = 30
    found: Found = field(default_factory=dict)

    @cached_property
    def base(self) -> str:
        """The scenario as tasks carry it."""
        return self.scenario.model_dump_json(exclude_none=True)

    def trace(self, policy: str, readings: Readings, time_weight: float = 0.7) -> list[Task]:
        """A policy's runs on the trace."""
        learns = policy in LEARNERS
        questions = _TRACE if learns else READERS[policy]
        keys = {key: value for q in questions for key, value in readings[q].keys.items()}
        if learns and readings["coordinator"] is LETTER:
            keys |= letter(policy)
        if time_weight != 0.7:
            keys |= {"reward.time_weight": time_weight, "reward.energy_weight": 1 - time_weight}
        asked = tuple(sorted(keys.items()))
        count = max(1, self.seeds // 2) if learns else self.seeds
        last = self.iterations if learns else STATIC_ITERATIONS
        first = first_averaged(last) if learns else 0
        seeds = range(FIRST_SEED, FIRST_SEED + count)
        return [TraceRun(policy, self.base, asked, s, last, first, learns) for s in seeds]

    def ring(self, series: str, racks: int, late: bool, readings: Readings) -> RingRun:
        """A series of the single ring, in the variant that the interpretations name."""
        chosen = [a.methods[series] for a in readings.values() if series in a.methods]
        keys = tuple(sorted(readings["fluctuation"].keys.items()))
        return RingRun(series, chosen[0] if chosen else "", racks, late, keys, self.ring_seeds)

    def tasks(self, readings: Readings, learners: bool) -> Iterator[Task]:
        """Everything that a set's numbers are made of."""
        for place in PLACES:
            if _learnt(place) == learners:
                yield from self._tasks(place, readings)

    def numbers(self, readings: Readings, learners: bool = True) -> Numbers:
        """Ours by place, with or without those of the learners."""
        return {
            place: self._number(place, readings)
            for place in PLACES
            if learners or not _learnt(place)
        }

    def _tasks(self, place: Place, readings: Readings) -> list[Task]:
        """What a number is made of; for an ablation, runs without a part before whole ones."""
        figure, series, setting, _ = place
        if figure != "synthesis":
            weights = {"time_weight": float(setting.split("/")[0])} if figure == "weights" else {}
            return self.trace(series, readings, **weights)
        if place not in RANGES:
            racks, late = int(setting.split(maxsplit=1)[0][2:]), "no stragglers" not in setting
            return [self.ring(series, racks, late, readings)]
        return [
            self.ring(f"{kind} {method}", 12, late, readings)
            for kind in ("a2a", "allreduce")
            for late in (False, True)
            for method in (series, "proposed")
        ]

    def _number(self, place: Place, readings: Readings) -> float | tuple[float, ...]:
        figure, _, _, metric = place
        results = [self.found[task] for task in self._tasks(place, readings)]
        if place in RANGES:
            counted = "since data" if readings["ablations"].methods else "completion"
            times = [result[counted] for result in results]
            return tuple(100 * (a / b - 1) for a, b in zip(times[::2], times[1::2], strict=True))
        name = f"last {metric}" if figure == "weights" else metric
        return sum(result[name] for result in results) / len(results)


def _learnt(place: Place) -> bool:
    return place[1] in LEARNERS


@dataclass(frozen=True)
class ReadingsFigure(Figure):
    """Sets of interpretations, and how near each comes."""

    sets: list[tuple[Readings, Numbers]]
    """Fully measured, our defaults first."""
    static_sets: int
    """How many were compared on static policies and single collectives."""
    made: Assembly
    quick: bool = False
    kind = "readings"

    def rows(self) -> list[Row]:
        """One row per set, in the order in which they were chosen."""
        return [{"readings": departures(r)} | asdict(score(ours)) for r, ours in self.sets]

    def numbers(self) -> list[Row]:
        """Every published number beside that of our defaults and that of the nearest set."""
        every = [numbers for _, numbers in self.sets]
        ours, nearest = every[0], min(every, key=lambda numbers: score(numbers).deviation_pct)
        return [
            dict(zip(("figure", "series", "setting", "metric"), place, strict=True))
            | {
                "paper": RANGES[place] if place in RANGES else VALUES[place],
                "ours": ours[place],
                "ours_fits": fit(place, ours[place]),
                "nearest": nearest[place],
                "nearest_fits": fit(place, nearest[place]),
            }
            for place in PLACES
        ]

    def document(self) -> Row:
        """The figure as plain values."""
        return facts(self.kind, self.made.scenario, self.quick) | {
            "seeds": list(range(FIRST_SEED, FIRST_SEED + self.made.seeds)),
            "iterations": self.made.iterations,
            "ring_seeds": self.made.ring_seeds,
            "questions": {q: [a.name for a in answers] for q, answers in QUESTIONS.items()},
            "static_sets": self.static_sets,
            "rows": self.rows(),
            "numbers": self.numbers(),
        }


def reproduce(request: Request) -> ReadingsFigure:
    """Compare all sets on what is cheap, then the nearest and ours on everything."""
    ring_seeds = 5 if request.quick else 30
    made = Assembly(request.scenario, request.seeds, request.iterations, ring_seeds)

    def measure(sets: list[Readings], learners: bool, part: str) -> None:
        tasks = [task for r in sets for task in made.tasks(r, learners)]
        complete(made.found, tasks, request.folder, request.workers, request.part(part))

    sets = [r for r in every_set() if r["coordinator"] is not LETTER]
    measure(sets, False, "static readings")
    ranked = sorted(sets, key=lambda r: score(made.numbers(r, learners=False)).deviation_pct)
    chosen = [defaults(), next(r for r in ranked if r != defaults())]
    chosen = [r | {"coordinator": c} for r in chosen for c in QUESTIONS["coordinator"]]
    measure(chosen, True, "learners")
    numbers = [(r, made.numbers(r)) for r in chosen]
    return ReadingsFigure(numbers, len(sets), made, request.quick)
