"""From a specification to the runs that it asks for."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from thzsync.errors import ThzSyncError
from thzsync.experiments.policies import Own, given_policy
from thzsync.experiments.references import digest
from thzsync.experiments.runs import Task
from thzsync.feasibility import check_scenario
from thzsync.scenario import Scenario
from thzsync.scenario.changes import OVERLAY, changed, value_at
from thzsync.studies.specification import Specification


@dataclass(frozen=True)
class Plan:
    """All runs of a sweep, point by point, seed by seed, contender by contender."""

    specification: Specification
    base: Scenario
    points: tuple[dict[str, Any], ...]
    """What the resolved scenario holds under the varied keys."""
    runs: tuple[Task, ...]

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Results that are needed, each once: a contender that pins an axis repeats itself."""
        return tuple(dict.fromkeys(run.key for run in self.runs))

    def shard(self, part: int, parts: int) -> Sequence[Task]:
        """The runs of one part of several; those that share a realisation stay together."""
        if not 1 <= part <= parts:
            raise ThzSyncError(f"--shard: found {part}/{parts}; use 1/{parts} to {parts}/{parts}")
        order = {key: k for k, key in enumerate(dict.fromkeys(r.realisation for r in self.runs))}
        return [run for run in self.runs if order[run.realisation] % parts == part - 1]

    @cached_property
    def digest(self) -> str:
        """Names the plan: equal plans, equal name."""
        return digest(self.specification.model_dump(mode="json"), self.base.digest, self.keys)


def make_plan(
    specification: Specification,
    base: Scenario | None = None,
    given: Mapping[str, Own | None] | None = None,
) -> Plan:
    """Build and validate the scenario of every point, before any work is done.

    ``given`` are policies that are objects of the caller.
    """
    start = base or Scenario.load(specification.base)
    start = changed(start, specification.set, "set") if specification.set else start
    names = dict.fromkeys(c.policy for c in specification.all)
    policies = {name: given_policy(name, name) for name in names if name not in (given or ())}
    policies |= given or {}
    if not start.jobs:
        raise ThzSyncError(f"scenario {start.name!r} has no job; add a [[jobs]] table to sweep it")
    points, runs = [], []
    for number, point in enumerate(specification.points()):
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
        if points[-1] in points[:-1]:
            raise ThzSyncError(f"axes: {_place(point)} comes twice; give every value once")
    return Plan(specification, start, tuple(points), tuple(runs))


def _place(point: dict[str, Any]) -> str:
    return ", ".join(f"{key}={value}" for key, value in point.items()) or "base"


def _value(setting: Scenario, point: dict[str, Any], key: str) -> Any:
    return point[key] if key == OVERLAY else value_at(setting, key)


def _cell(value: Any) -> Any:
    """A value as a cell of a table; lists and tables are written as JSON."""
    return json.dumps(value) if isinstance(value, (list, dict)) else value
