"""`thzsync reproduce readings`: every published number under every set of readings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from thzsync.files import write_document
from thzsync.paper.figure import Request, Row, facts, first_averaged
from thzsync.paper.ladder import LEARNERS, letter
from thzsync.paper.questions import (
    LETTER,
    QUESTIONS,
    READERS,
    Numbers,
    Place,
    Readings,
    defaults,
    departures,
    every_set,
    fit,
    interval,
    keys_of,
    places,
    published,
    score,
)
from thzsync.paper.reading_runs import FIRST_SEED, Found, RingRun, Task, TraceRun, complete
from thzsync.scenario import Scenario

STATIC_ITERATIONS: Final = 2
ABLATED: Final = ("no-channel", "equal-power")
_TRACE: Final = READERS["thz-sync"][:-1]
"""The questions that decide how the trace runs, whoever coordinates it."""


@dataclass(frozen=True)
class Assembly:
    """Published numbers under a set of readings, from measurements."""

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
        keys = keys_of(readings, _TRACE if learns else READERS[policy])
        if learns and readings["coordinator"] is LETTER:
            keys |= letter(policy)
        if time_weight != 0.7:
            keys |= {"reward.time_weight": time_weight, "reward.energy_weight": 1 - time_weight}
        asked = tuple(sorted(_plain(keys).items()))
        count = max(1, self.seeds // 2) if learns else self.seeds
        last = self.iterations if learns else STATIC_ITERATIONS
        first = first_averaged(last) if learns else 0
        seeds = range(FIRST_SEED, FIRST_SEED + count)
        return [TraceRun(policy, self.base, asked, s, last, first, learns) for s in seeds]

    def ring(self, series: str, racks: int, late: bool, readings: Readings) -> RingRun:
        """A series of the single ring, in the variant that the readings name."""
        chosen = [a.methods[series] for a in readings.values() if series in a.methods]
        keys = tuple(sorted(readings["fluctuation"].keys.items()))
        return RingRun(series, chosen[0] if chosen else "", racks, late, keys, self.ring_seeds)

    def tasks(self, readings: Readings, learners: bool) -> Iterator[Task]:
        """Everything that a set's numbers are made of."""
        for place in places():
            if _learnt(place) == learners:
                yield from self._tasks(place, readings)

    def numbers(self, readings: Readings, learners: bool = True) -> Numbers:
        """Ours by place, with or without those of the learners."""
        return {
            place: self._number(place, readings)
            for place in places()
            if learners or not _learnt(place)
        }

    def _tasks(self, place: Place, readings: Readings) -> list[Task]:
        figure, series, setting, _ = place
        if figure == "weights":
            return self.trace(series, readings, float(setting.split("/")[0]))
        if figure == "fabric":
            return self.trace(series, readings)
        if series in ABLATED:
            return [run for pair in self._ablated(series, readings) for run in pair]
        return [self._ring(series, setting, readings)]

    def _number(self, place: Place, readings: Readings) -> float | tuple[float, ...]:
        figure, series, setting, metric = place
        if figure != "synthesis":
            name = f"last {metric}" if figure == "weights" else metric
            found = [self.found[task][name] for task in self._tasks(place, readings)]
            return sum(found) / len(found)
        if series not in ABLATED:
            return self.found[self._ring(series, setting, readings)]["completion"]
        counted = "since data" if readings["ablations"].methods else "completion"
        return tuple(
            100 * (self.found[without][counted] / self.found[whole][counted] - 1)
            for without, whole in self._ablated(series, readings)
        )

    def _ring(self, series: str, setting: str, readings: Readings) -> RingRun:
        racks, late = int(setting.split(maxsplit=1)[0][2:]), "no stragglers" not in setting
        return self.ring(series, racks, late, readings)

    def _ablated(self, series: str, readings: Readings) -> list[tuple[RingRun, RingRun]]:
        """Without a part, and whole, in the four settings."""
        return [
            (
                self.ring(f"{kind} {series}", 12, late, readings),
                self.ring(f"{kind} proposed", 12, late, readings),
            )
            for kind in ("a2a", "allreduce")
            for late in (False, True)
        ]


def _plain(keys: Mapping[str, Any]) -> dict[str, Any]:
    """Lists as tuples, so that tasks can be compared."""
    return {k: tuple(v) if isinstance(v, list) else v for k, v in keys.items()}


def _learnt(place: Place) -> bool:
    return place[1] in LEARNERS


@dataclass(frozen=True)
class ReadingsFigure:
    """Sets of readings, and how near each comes."""

    sets: list[tuple[Readings, Numbers]]
    """Fully measured, our defaults first."""
    static_sets: int
    """How many were compared on static policies and single collectives."""
    made: Assembly
    quick: bool = False

    def rows(self) -> list[Row]:
        """One row per set, in the order in which they were chosen."""
        return [
            {
                "readings": departures(readings),
                "within": judged.within,
                "count": judged.count,
                "deviation_pct": judged.deviation_pct,
            }
            for readings, ours in self.sets
            for judged in (score(ours),)
        ]

    def numbers(self) -> list[Row]:
        """Every published number beside that of our defaults and that of the nearest set."""
        best = min(range(len(self.sets)), key=lambda k: score(self.sets[k][1]).deviation_pct)
        ours, nearest = self.sets[0][1], self.sets[best][1]
        return [
            {
                "figure": place[0],
                "series": place[1],
                "setting": place[2],
                "metric": place[3],
                "paper": interval(place) if isinstance(ours[place], tuple) else published(place),
                "ours": ours[place],
                "ours_fits": fit(place, ours[place]),
                "nearest": nearest[place],
                "nearest_fits": fit(place, nearest[place]),
            }
            for place in places()
        ]

    def document(self) -> Row:
        """The figure as plain values."""
        return facts("readings", self.made.scenario, self.quick) | {
            "seeds": list(range(FIRST_SEED, FIRST_SEED + self.made.seeds)),
            "iterations": self.made.iterations,
            "ring_seeds": self.made.ring_seeds,
            "questions": {q: [a.name for a in answers] for q, answers in QUESTIONS.items()},
            "static_sets": self.static_sets,
            "rows": self.rows(),
            "numbers": self.numbers(),
        }

    def save(self, folder: str | Path) -> Path:
        """Write the summary."""
        target = Path(folder)
        write_document(target / "readings.json", self.document())
        return target


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
