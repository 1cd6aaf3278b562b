"""From a specification to runs: each with its scenario and a key that names its result."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from thzsync.errors import ThzSyncError
from thzsync.experiments.compare import known_policies
from thzsync.experiments.references import reference_digest
from thzsync.feasibility import check_scenario
from thzsync.scenario import Scenario
from thzsync.scenario.changes import changed, value_at
from thzsync.studies.specification import Contender, Specification
from thzsync.version import __version__


def digest(*parts: object) -> str:
    """A name for plain values: equal values, equal name."""
    text = json.dumps([*parts, __version__], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Realisation:
    """A scenario in one seed: what the runs of all policies share, references included."""

    scenario: Scenario
    seed: int

    @cached_property
    def key(self) -> str:
        """Names the realisation."""
        return digest(self.scenario.digest, _files(self.scenario), self.seed)

    @cached_property
    def reference_key(self) -> str:
        """Names its references, which realisations share that differ in learning alone."""
        return digest(reference_digest(self.scenario), _files(self.scenario), self.seed)


@dataclass(frozen=True)
class PlannedRun:
    """One simulation of the sweep."""

    point: int
    contender: Contender
    realisation: Realisation
    iterations: int

    @cached_property
    def key(self) -> str:
        """Names the result: scenario, policy, seed, iterations and version."""
        return digest(self.realisation.key, self.contender.policy, self.iterations)

    @property
    def seed(self) -> int:
        """The realisation's seed."""
        return self.realisation.seed


@dataclass(frozen=True)
class Plan:
    """All runs of a sweep, point by point, seed by seed, contender by contender."""

    specification: Specification
    base: Scenario
    points: tuple[dict[str, Any], ...]
    """What the resolved scenario holds under the varied keys."""
    runs: tuple[PlannedRun, ...]

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Results that are needed, each once: a contender that pins an axis repeats itself."""
        return tuple(dict.fromkeys(run.key for run in self.runs))

    def shard(self, part: int, parts: int) -> Sequence[PlannedRun]:
        """The runs of one part of several; those that share a realisation stay together."""
        if not 1 <= part <= parts:
            raise ThzSyncError(f"--shard: found {part}/{parts}; use 1/{parts} to {parts}/{parts}")
        order = {key: k for k, key in enumerate(dict.fromkeys(_realisations(self.runs)))}
        return [run for run in self.runs if order[run.realisation.key] % parts == part - 1]


def make_plan(specification: Specification, base: Scenario | None = None) -> Plan:
    """Build and validate the scenario of every point, before any work is done."""
    start = base or Scenario.load(specification.base)
    start = changed(start, specification.set, "set") if specification.set else start
    known_policies(tuple(dict.fromkeys(c.policy for c in specification.all)))
    if not start.jobs:
        raise ThzSyncError(f"scenario {start.name!r} has no job; add a [[jobs]] table to sweep it")
    points, runs = [], []
    for number, point in enumerate(specification.points()):
        setting = changed(start, point, _place(point))
        points.append({key: _cell(value_at(setting, key)) for key in specification.keys})
        own = {c.name: changed(setting, c.set, f"contender {c.name}") for c in specification.all}
        for scenario in {one.digest: one for one in own.values()}.values():
            check_scenario(scenario, _place(point), files=False)
        runs += [
            PlannedRun(number, c, Realisation(own[c.name], seed), specification.iterations)
            for seed in specification.seeds
            for c in specification.all
        ]
        if points[-1] in points[:-1]:
            raise ThzSyncError(f"axes: {_place(point)} comes twice; give every value once")
    return Plan(specification, start, tuple(points), tuple(runs))


def _realisations(runs: Iterable[PlannedRun]) -> Iterable[str]:
    return (run.realisation.key for run in runs)


def _place(point: dict[str, Any]) -> str:
    return ", ".join(f"{key}={value}" for key, value in point.items()) or "base"


def _cell(value: Any) -> Any:
    """A value as a cell of a table; lists and tables are written as JSON."""
    return json.dumps(value) if isinstance(value, (list, dict)) else value


def _files(scenario: Scenario) -> list[str]:
    """Contents of the files that a scenario names, since its own digest has only their names."""
    names = [*(job.trace for job in scenario.jobs), scenario.channel.gains_file]
    return [_content(name) for name in names if name is not None]


def _content(name: str) -> str:
    try:
        return hashlib.sha256(Path(name).read_bytes()).hexdigest()
    except OSError:
        return ""  # the run itself says what is wrong with it
