"""From a specification to the runs that it asks for."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from thzsync.coordinator import PolicyLike
from thzsync.errors import ThzSyncError
from thzsync.experiments.policies import given_policy
from thzsync.experiments.references import digest
from thzsync.experiments.runs import Task
from thzsync.feasibility import check_scenario
from thzsync.scenario import Scenario
from thzsync.scenario.changes import OVERLAY, changed, value_at
from thzsync.studies.axes import is_number
from thzsync.studies.specification import BreakEven, Specification

Row = dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """All runs of a sweep, point by point, seed by seed, contender by contender."""

    specification: Specification
    base: Scenario
    points: tuple[Row, ...]
    """What the resolved scenario holds under the varied keys."""
    runs: tuple[Task, ...]
    changes: tuple[Row, ...]
    """What was asked of every point, as it was written."""
    given: Mapping[str, PolicyLike] = field(default_factory=dict)
    """Policies that are objects of the caller, by name."""

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Results that are needed, each once: a contender that pins an axis repeats itself."""
        return tuple(dict.fromkeys(run.key for run in self.runs))

    @property
    def expected_runs(self) -> int:
        """How many results will be needed, about: a break-even begins with two values."""
        sought = self.specification.break_even
        return len(self.keys) if sought is None else round(len(self.keys) * sought.values / 2)

    def shard(self, part: int, parts: int) -> Sequence[Task]:
        """The runs of one part of several; those that share a realisation stay together."""
        if not 1 <= part <= parts:
            raise ThzSyncError(f"--shard: found {part}/{parts}; use 1/{parts} to {parts}/{parts}")
        order = {key: k for k, key in enumerate(dict.fromkeys(r.realisation for r in self.runs))}
        return [run for run in self.runs if order[run.realisation] % parts == part - 1]

    def joined(self, other: Plan, key: str) -> Plan:
        """The plan with further points of the same sweep; along ``key`` all are in order."""
        points = (*self.points, *other.points)
        changes = (*self.changes, *other.changes)
        panels = list(dict.fromkeys(repr(_without(point, key)) for point in points))
        places = [(panels.index(repr(_without(point, key))), point[key]) for point in points]
        order = sorted(range(len(points)), key=places.__getitem__)
        rank = {old: new for new, old in enumerate(order)}
        shifted = (replace(run, point=run.point + len(self.points)) for run in other.runs)
        runs = [replace(run, point=rank[run.point]) for run in (*self.runs, *shifted)]
        return replace(
            self,
            points=tuple(points[k] for k in order),
            runs=tuple(sorted(runs, key=lambda run: run.point)),
            changes=tuple(changes[k] for k in order),
        )

    @cached_property
    def digest(self) -> str:
        """Names the plan: equal plans, equal name."""
        return digest(self.specification.model_dump(mode="json"), self.base.digest, self.keys)


def make_plan(
    specification: Specification,
    base: Scenario | None = None,
    asked: Sequence[Row] | None = None,
    given: Mapping[str, PolicyLike] | None = None,
) -> Plan:
    """Build and validate the scenario of every point, before any work is done.

    ``asked`` are other points than those of the specification, ``given`` policies that are objects
    of the caller.
    """
    start = base or Scenario.load(specification.base)
    start = changed(start, specification.set, "set") if specification.set else start
    names = dict.fromkeys(c.policy for c in specification.all)
    policies = {name: given_policy(name, (given or {}).get(name, name)) for name in names}
    if not start.jobs:
        raise ThzSyncError(f"scenario {start.name!r} has no job; add a [[jobs]] table to sweep it")
    changes = tuple(specification.points() if asked is None else asked)
    points, runs = [], []
    for number, point in enumerate(changes):
        setting = changed(start, point, _place(point))
        points.append({key: _cell(_value(setting, point, key)) for key in specification.keys})
        own = {c.name: changed(setting, c.set, f"contender {c.name}") for c in specification.all}
        for scenario in {one.digest: one for one in own.values()}.values():
            check_scenario(scenario, _place(point), files=False)
        runs += [
            Task(
                own[c.name],
                c.policy,
                seed,
                specification.iterations,
                number,
                c.name,
                own=policies[c.policy],
            )
            for seed in specification.seeds
            for c in specification.all
        ]
    if specification.break_even is not None and asked is None:
        _check_range(specification.break_even, points)
    for number, point in enumerate(points):
        if point in points[:number]:
            place = _place(changes[number])
            raise ThzSyncError(f"axes: {place} comes twice; give every value once")
    return Plan(specification, start, tuple(points), tuple(runs), changes, given or {})


def _check_range(sought: BreakEven, points: Sequence[Row]) -> None:
    """Raise if the ends of a break-even's range, low ones first, are no numbers or do not rise."""
    key, half = sought.key, len(points) // 2
    for low, high in zip(points[:half], points[half:], strict=True):
        if not (is_number(low[key]) and is_number(high[key])):
            raise ThzSyncError(f"break-even: {key} is {low[key]!r}; name a key with numbers")
        if low[key] >= high[key]:
            raise ThzSyncError(
                f"break-even: {key}: found {sought.low}..{sought.high}; give the lower end first"
            )


def _without(point: Row, key: str) -> Row:
    return {name: value for name, value in point.items() if name != key}


def _place(point: Row) -> str:
    return ", ".join(f"{key}={value}" for key, value in point.items()) or "base"


def _value(setting: Scenario, point: dict[str, Any], key: str) -> Any:
    return str(point[key]) if key == OVERLAY else value_at(setting, key)


def _cell(value: Any) -> Any:
    """A value as a cell of a table; lists and tables are written as JSON."""
    return json.dumps(value) if isinstance(value, (list, dict)) else value
