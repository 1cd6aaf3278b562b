"""Break-evens in words and as tables: the verdict first, and no more than the evidence allows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING

from thzsync.display import Column, Interval, Table, counted, signed, with_half
from thzsync.display.labels import POLICY_LABELS, label
from thzsync.display.numbers import DASH
from thzsync.experiments.statistics import undecided
from thzsync.studies.axes import heading, held_name, key_name, value_name
from thzsync.studies.break_evens import NONE, OPEN, SEVERAL, TURN, UNDECIDED, Finding

if TYPE_CHECKING:
    from thzsync.display.table import Value
    from thzsync.studies.curves import Crossover

VERDICTS = {
    TURN: "one turn",
    OPEN: "one turn, interval open",
    SEVERAL: "several turns",
    NONE: "no turn",
    UNDECIDED: "undecided",
}


def sentence(one: Finding) -> str:
    """What one break-even is, in a sentence or two."""
    place = f"At {held_name(one.held)}: " if one.held else ""
    told = {NONE: _none, UNDECIDED: _undecided}.get(one.verdict, _turned)(one)
    more = one.sign_changes - len(one.turns)
    if more > 0 and one.turns:
        told += (
            f" Within the interval the mean difference changes its sign {one.sign_changes} times."
        )
    return place + told


def headline(found: Sequence[Finding]) -> str:
    """What all break-evens of a sweep say together; of one, its sentence."""
    if len(found) == 1:
        return sentence(found[0])
    key = found[0].sought.key
    places = [one.turns[0].x for one in found if one.verdict in (TURN, OPEN)]
    lead = f"Break-even along {key_name(key)}"
    if not places:
        return f"{lead}: found in none of {len(found)} settings."
    ends = dict.fromkeys(value_name(x, key) for x in (min(places), max(places)))
    count = f"in {len(places)} of {len(found)} settings"
    return f"{lead}: {' to '.join(ends)}, {count}."


def _turned(one: Finding) -> str:
    first, *others = _by_quality(one)
    key = one.sought.key
    places = [f"{value_name(t.x, key)} ({_interval(one, t)})" for t in (first, *others)]
    lead = f"Break-even at {key_name(key)} = {places[0]}: {_better(one, first.before)} below"
    if not others:
        return f"{lead}, {_name(first.behind)} above."
    names = [
        f"{_name(t.behind)} above {place}" for t, place in zip(others, places[1:], strict=True)
    ]
    return (
        f"The order turns {len(one.turns)} times. {lead}, {_name(first.behind)} above, "
        f"{', '.join(names)}."
    )


def _none(one: Finding) -> str:
    sizes = sorted(range(len(one.x)), key=lambda k: abs(one.mean[k]))
    sizes_told = dict.fromkeys(_size(one, k) for k in (sizes[0], sizes[-1]))
    return (
        f"No turn from {value_name(one.x[0].item(), one.sought.key)} to "
        f"{value_name(one.x[-1].item(), one.sought.key)}: {_better(one, _lower(one, one.mean[0]))} "
        f"at all {len(one.x)} evaluated values, by {' to '.join(sizes_told)}."
    )


def _undecided(one: Finding) -> str:
    reason = undecided(one.seeds)
    reason = reason[0].upper() + reason[1:]
    known = [k for k, sign in enumerate(one.decided) if sign is not None]
    if known:
        ends = [value_name(one.x[k].item(), one.sought.key) for k in (known[0], known[-1])]
        where = (
            f"at {ends[0]}" if len(known) == 1 else f"at {len(known)} values, {' to '.join(ends)}"
        )
        better = _better(one, _lower(one, one.mean[known[0]]))
        return f"{reason} at {len(one.x) - len(known)} of {len(one.x)} values; {better} {where}."
    if not one.turns:
        return f"{reason} in the whole range, and the mean difference does not change its sign."
    (turn,) = _by_quality(one)
    x = value_name(turn.x, one.sought.key)
    return f"{reason}: the mean difference turns at {key_name(one.sought.key)} = {x}."


def _by_quality(one: Finding) -> list[Crossover]:
    """The turns with the better policy, not that of the lower values, on either side."""
    if one.metric.better != "high":
        return one.turns
    return [replace(t, before=t.behind, behind=t.before) for t in one.turns]


def _lower(one: Finding, difference: float) -> str:
    """The better policy at a value."""
    lower, higher = (one.policy, one.against) if difference < 0 else (one.against, one.policy)
    return higher if one.metric.better == "high" else lower


def _better(one: Finding, policy: str) -> str:
    word = "higher" if one.metric.better == "high" else "lower"
    title = one.metric.title
    return f"{_name(policy)} has the {word} {title[0].lower()}{title[1:]}"


def _name(policy: str) -> str:
    return label(POLICY_LABELS, policy)


def _size(one: Finding, k: int) -> str:
    scale = one.metric.scale
    return with_half(scale * abs(one.mean[k]), scale * one.half[k], one.metric.unit)


def _interval(one: Finding, turn: Crossover) -> str:
    low, high = (
        None if x is None else value_name(x, one.sought.key) for x in (turn.low, turn.high)
    )
    if low and high:
        return f"95 %: {low} to {high}"
    if not low and not high:
        return "one seed, no interval" if one.seeds == 1 else "95 %: beyond both ends"
    return f"95 %: from {low} to beyond the range" if low else f"95 %: up to {high} at least"


def break_even_table(found: Sequence[Finding]) -> Table:
    """A row per turn, or per combination of the other axes' values without one."""
    held, sought = list(found[0].held), found[0].sought
    names = ("Verdict", "Break-even", "from", "to", "Better below", "Better above")
    left = ("Verdict", "Better below", "Better above")
    columns = (
        *(Column(heading(key)) for key in held),
        *(Column(name, left=name in left) for name in names),
        *(
            Column(f"at {value_name(end, sought.key)}", found[0].metric.unit, show=signed)
            for end in (found[0].x[0].item(), found[0].x[-1].item())
        ),
        Column("Values"),
        Column("Seeds"),
    )
    policy, against = map(_name, (found[0].policy, found[0].against))
    caption = (
        f"{found[0].metric.title} of {policy} minus that of {against} in the same seeds along "
        f"{key_name(sought.key)}; from and to are the nearest evaluated values at which its "
        "95 % interval leaves out zero. The search assumes one turn; only evaluated values are "
        "known."
    )
    rows = [row for one in found for row in _rows(one)]
    return Table("Break-even", columns, rows, caption)


def _rows(one: Finding) -> Iterator[list[Value]]:
    held: list[Value] = [value_name(value, key) for key, value in one.held.items()]
    ends: list[Value] = [_difference(one, 0), _difference(one, -1), len(one.x), one.seeds]
    verdict = VERDICTS[one.verdict]
    for turn in _by_quality(one):
        places = (turn.x, turn.low, turn.high)
        texts = [DASH if x is None else value_name(x, one.sought.key) for x in places]
        yield [*held, verdict, *texts, _name(turn.before), _name(turn.behind), *ends]
    if not one.turns:
        signs = set(one.decided)
        better = DASH if None in signs else _name(_lower(one, one.mean[0]))
        yield [*held, verdict, DASH, DASH, DASH, better, better, *ends]


def values_table(found: Sequence[Finding]) -> Table:
    """The paired difference at every evaluated value."""
    sought, metric = found[0].sought, found[0].metric
    columns = (
        *(Column(heading(key)) for key in found[0].held),
        Column(heading(sought.key)),
        Column("Difference", metric.unit, show=signed),
        Column("Better", left=True),
    )
    rows: list[list[Value]] = [
        [
            *(value_name(value, key) for key, value in one.held.items()),
            value_name(x, sought.key),
            _difference(one, k),
            undecided(one.seeds) if one.decided[k] is None else _name(_lower(one, one.mean[k])),
        ]
        for one in found
        for k, x in enumerate(one.x.tolist())
    ]
    policy, against = map(_name, (found[0].policy, found[0].against))
    caption = f"{metric.title} of {policy} minus that of {against}, ± 95 % over paired seeds."
    return Table(f"All {counted(len(rows), 'evaluated value')}", columns, rows, caption)


def _difference(one: Finding, k: int) -> Interval:
    half = one.metric.scale * one.half[k]
    return Interval(one.metric.scale * one.mean[k], half if isfinite(half) else None)
