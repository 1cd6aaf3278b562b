"""What a sweep varies: a base, axes, contenders, seeds and iterations; in Python or as TOML."""

from __future__ import annotations

import tomllib
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import product
from math import ceil, log2
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field, ValidationError, field_validator, model_validator

from thzsync.display.metrics import ALL_SWEPT, MAKESPAN
from thzsync.errors import Problems, ThzSyncError
from thzsync.scenario.base import Count, Index, Model
from thzsync.scenario.changes import parse_assignment, parse_value
from thzsync.scenario.explain import explain


def _dotted(table: Any) -> Any:
    """Nested tables as dotted keys: TOML reads ``thz.subbands = 8`` as a table in a table."""
    if not isinstance(table, Mapping):
        return table
    flat: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, Mapping) and value:
            flat |= {f"{key}.{name}": item for name, item in _dotted(value).items()}
        else:
            flat[key] = value
    return flat


Values = Annotated[tuple[Any, ...], Field(min_length=1)]
Group = Annotated[dict[str, Values], BeforeValidator(_dotted)]
"""Keys whose values change together; all have as many."""
Changes = Annotated[dict[str, Any], BeforeValidator(_dotted)]
"""Scenario keys and other values for them."""

KEYS_OF_ITS_OWN: Final = ("base", "axes", "zipped", "contenders", "break_even")
"""Keys that tell a specification from a scenario."""
BREAKING_EVEN: Final = ("all-wired-best", "thz-sync")
"""Policies of a break-even when nobody is named: the best fibre-only one, and the overlay's."""


class Contender(Model):
    """A policy under its own name, with changes to the scenario that apply to it alone."""

    name: str
    """Name in tables and pictures."""
    policy: str
    """Who decides."""
    set: Changes = Field(default_factory=dict)
    """Changes for this contender; they come last, so they may also pin an axis."""


class BreakEven(Model):
    """A range of a key in which the place is sought where two policies are equal."""

    key: str
    """The scenario key."""
    low: Any
    """Its least value: a number, or a quantity such as ``50 Gb/s``."""
    high: Any
    """Its greatest value."""
    metric: str = MAKESPAN.key
    """What the policies are compared in."""
    tolerance: Annotated[float, Field(gt=0, le=0.5)] = 0.02
    """Values are evaluated until they are as near as this share of the range."""

    @field_validator("metric")
    @classmethod
    def _known(cls, metric: str) -> str:
        known = [one.key for one in ALL_SWEPT]
        if metric not in known:
            raise ValueError(f"use one of {', '.join(known)}")
        return metric

    @property
    def values(self) -> int:
        """How many values are evaluated, about: both ends, then halvings."""
        return 3 + 2 * ceil(log2(1 / self.tolerance))


class Specification(Model):
    """A sweep: every point of the axes, under every contender, in every seed."""

    question: str = ""
    """What the sweep is to answer."""
    base: str = "paper"
    """The scenario that is varied: a preset, or a file beside the specification."""
    set: Changes = Field(default_factory=dict)
    """Changes to the base that hold everywhere."""
    axes: Group = Field(default_factory=dict)
    """Scenario keys and their values; all combinations are run."""
    zipped: tuple[Group, ...] = ()
    """Groups of keys whose values go together, first with first; each group is one axis."""
    break_even: BreakEven | None = None
    """An axis whose values are not given but found: where two policies are equal."""
    policies: tuple[str, ...] = ()
    """Policies to compare; the first is the reference of paired differences."""
    contenders: tuple[Contender, ...] = ()
    """Policies with settings of their own; they follow the plain policies."""
    seeds: Annotated[tuple[Index, ...], Field(min_length=1)] = (0, 1, 2)
    """Realisations; a number N means 0 to N-1."""
    iterations: Count = 20
    """Training iterations per run."""
    first: Index = 0
    """First iteration (from 0) that counts in the means."""

    @model_validator(mode="before")
    @classmethod
    def _count_of_seeds(cls, values: Any) -> Any:
        if isinstance(values, dict) and type(values.get("seeds")) is int and values["seeds"] > 0:
            return values | {"seeds": tuple(range(values["seeds"]))}
        return values

    @model_validator(mode="after")
    def _consistent(self) -> Specification:
        for problem in self._problems():
            raise ValueError(problem)
        return self

    def _problems(self) -> Iterator[str]:
        for group in self.zipped:
            lengths = {key: len(values) for key, values in group.items()}
            if len(set(lengths.values())) > 1:
                counts = ", ".join(f"{key} has {n}" for key, n in lengths.items())
                yield f"zipped: {counts} values; give all as many"
        for kind, names in (("axes", self.keys), ("policies", [c.name for c in self.all])):
            twice = [name for k, name in enumerate(names) if name in names[:k]]
            if twice:
                yield f"{kind}: {twice[0]} stands there twice; name it once"
        if len(set(self.seeds)) < len(self.seeds):
            yield "seeds: one stands there twice; name each once"
        if self.break_even is not None and len(self.all) != 2:
            found = ", ".join(contender.name for contender in self.all)
            yield f"policies: found {found}; name two for a break-even"
        if self.first >= self.iterations:
            yield f"first: found {self.first}; use less than iterations ({self.iterations})"

    @property
    def groups(self) -> list[Group]:
        """The axes, each as a group of keys that change together; a break-even has its ends."""
        sought = self.break_even
        ends = [] if sought is None else [{sought.key: (sought.low, sought.high)}]
        return [*ends, *({key: values} for key, values in self.axes.items()), *self.zipped]

    @property
    def keys(self) -> list[str]:
        """All scenario keys that vary, in order."""
        return [key for group in self.groups for key in group]

    @property
    def all(self) -> list[Contender]:
        """Every contender, plain policies first; THz-SynC when nobody is named."""
        plain = [Contender(name=policy, policy=policy) for policy in self.policies]
        usual = ("thz-sync",) if self.break_even is None else BREAKING_EVEN
        default = [Contender(name=policy, policy=policy) for policy in usual]
        return [*plain, *self.contenders] or default

    def overridden(self, options: Mapping[str, Any]) -> Specification:
        """The specification with other parts; what varies or is set anew leaves its old place."""
        over = specify(dict(options), "sweep")
        anew = {*over.set, *over.keys}
        merged = self.model_dump() | {key: getattr(over, key) for key in options}
        merged["set"] = _without(self.set, anew) | over.set
        merged["axes"] = _without(self.axes, anew) | over.axes
        kept = (_without(group, anew) for group in self.zipped)
        merged["zipped"] = [*(group for group in kept if group), *over.zipped]
        return specify(merged, "sweep")

    def points(self) -> list[dict[str, Any]]:
        """Every combination of the axes, the last axis fastest."""
        steps = [
            [dict(zip(group, values, strict=True)) for values in zip(*group.values(), strict=True)]
            for group in self.groups
        ]
        return [
            {key: value for step in combination for key, value in step.items()}
            for combination in product(*steps)
        ]


def _without(table: Mapping[str, Any], keys: Container[str]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if key not in keys}


def specify(values: dict[str, Any], source: str) -> Specification:
    """A specification from plain values, or what is wrong with them in one line."""
    try:
        return Specification.model_validate(values)
    except ValidationError as error:
        raise Problems.of(f"{source}: {line}" for line in explain(error, Specification)) from None


def read_specification(path: str | Path) -> Specification | None:
    """The specification in a TOML file; ``None`` where it is a scenario or no file at all."""
    file = Path(path)
    if not file.is_file():
        return None
    try:
        values = tomllib.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return None  # whoever reads it as a scenario says what is wrong
    if not any(key in values for key in KEYS_OF_ITS_OWN):
        return None
    specification = specify(values, str(path))
    beside = file.parent / specification.base
    found = beside.suffix == ".toml" and beside.is_file()
    return specification.model_copy(update={"base": str(beside)}) if found else specification


def read_assignments(changes: Sequence[str], zipped: Sequence[str]) -> dict[str, Any]:
    """The parts of a specification that the options say; empty parts are left out."""
    values: dict[str, list[Any]] = {}
    for text in changes:
        key, value = parse_assignment(text)
        if key in values:
            raise ThzSyncError(f"--set: {key} is set twice; give all its values at once")
        values[key] = [parse_value(part.strip()) for part in split_values(value)]
    groups = [_group(text, values) for text in zipped]
    parts = {
        "set": {key: found[0] for key, found in values.items() if len(found) == 1},
        "axes": {key: found for key, found in values.items() if len(found) > 1},
        "zipped": groups,
    }
    return {name: part for name, part in parts.items() if part}


def read_break_even(text: str) -> dict[str, Any]:
    """Key and range of ``KEY=LOW..HIGH``."""
    key, _, values = (part.strip() for part in text.partition("="))
    ends = [part.strip() for part in values.split("..")]
    if not all(key.split(".")) or len(ends) != 2 or not all(ends):
        raise ThzSyncError(
            f"--break-even: found {text!r}; write KEY=LOW..HIGH, such as thz.noise_figure_db=0..20"
        )
    low, high = map(parse_value, ends)
    return {"key": key, "low": low, "high": high}


def split_values(text: str) -> Iterator[str]:
    """Cut at commas, but not inside brackets or quotes."""
    depth, quote, start = 0, "", 0
    for position, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign == "," and depth == 0:
            yield text[start:position]
            start = position + 1
        else:
            depth += (sign in "[{") - (sign in "]}")
    yield text[start:]


def _group(text: str, values: dict[str, list[Any]]) -> dict[str, list[Any]]:
    keys = [key.strip() for key in text.split(",")]
    for key in keys:
        if key not in values:
            raise ThzSyncError(f"--zip: {key} has no values; give them with --set {key}=A,B,C")
    return {key: values.pop(key) for key in keys}
