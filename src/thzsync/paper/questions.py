"""Interpretations: questions that the paper's words leave open, and how near their answers come.

Every question has answers, ours first. A set of readings answers them all. Our defaults follow the
paper's words. The search only says which consistent set is nearest to all published numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from math import exp, log
from typing import Any, Final

from thzsync.paper.ladder import LEARNERS
from thzsync.paper.published import PUBLISHED, Published, published_ablation_pct

Place = tuple[str, str, str, str]
"""Figure, series, setting and metric of a published number."""
Numbers = Mapping[Place, float | tuple[float, ...]]
"""Ours by place; an ablation has one increase [%] for each of its four settings."""

NEAR: Final = 0.15
"""A number this near to the published one fits."""


def _place(row: Published) -> Place:
    metric = "increase" if row.unit == "%" else row.metric
    return row.figure, row.series, row.setting, metric


PLACES: Final = tuple(dict.fromkeys(map(_place, PUBLISHED)))
"""Places of all published numbers; a range is one of them."""
RANGES: Final = {
    place: found for place in PLACES if (found := published_ablation_pct(place[1])) is not None
}
"""Least and most increase that the paper reports for an ablation [%]."""
VALUES: Final = {_place(row): row.value for row in PUBLISHED if _place(row) not in RANGES}
"""Every other published number."""


@dataclass(frozen=True)
class Answer:
    """One way to read the paper."""

    name: str
    keys: Mapping[str, Any] = field(default_factory=dict)
    """What it changes in a scenario."""
    methods: Mapping[str, str] = field(default_factory=dict)
    """Series on the single ring that another variant stands for (see ``reading_runs``)."""


QUESTIONS: Final[dict[str, tuple[Answer, ...]]] = {
    "sharing": (
        Answer("events share transceivers"),
        Answer("events one by one", {"thz.sharing": "event"}),
    ),
    "radiation": (
        Answer("least powers"),
        Answer("whole budgets radiated", {"thz.radiation": "budget"}),
    ),
    "power": (
        Answer("four power levels"),
        Answer("one power for all", {"coordinator.power_levels": (1.0,)}),
    ),
    "background": (
        Answer("15 % background"),
        Answer("no background", {"optical.background.load": 0.0}),
        Answer("30 % background", {"optical.background.load": 0.3}),
    ),
    "fluctuation": (
        Answer("1.5 dB fluctuation"),
        Answer("2.5 dB fluctuation", {"channel.fluctuation_db": 2.5}),
    ),
    "permutations": (
        Answer("permutations on sustained links"),
        Answer(
            "permutations in rounds of a chunk",
            methods={"a2a demand-sorted": "rounds", "a2a cyclic": "rounds"},
        ),
        Answer("cyclic in blind rounds of a chunk", methods={"a2a cyclic": "blind rounds"}),
    ),
    "single tree": (
        Answer("single tree not told of delays"),
        Answer("single tree told of delays", methods={"allreduce single-tree": "told"}),
    ),
    "blind trees": (
        Answer("no-channel on the same trees"),
        Answer("no-channel on blind trees", methods={"allreduce no-channel": "blind trees"}),
    ),
    "ablations": (
        Answer("ablations counted from the release"),
        Answer("ablations counted from the last data", methods={"ablations": "last data"}),
    ),
    "coordinator": (
        Answer("our coordinator"),
        Answer("faithful coordinator"),
    ),
}
"""What the paper leaves open; the first answer is our default."""
LETTER: Final = QUESTIONS["coordinator"][1]

READERS: Final[dict[str, tuple[str, ...]]] = {
    "all-wired": ("background",),
    "all-wireless": ("sharing", "radiation", "fluctuation"),
    "fixed-ratio": ("sharing", "power", "background", "fluctuation"),
    **dict.fromkeys(
        LEARNERS, ("sharing", "radiation", "power", "background", "fluctuation", "coordinator")
    ),
}
"""The questions on which a policy's published numbers depend."""

Readings = dict[str, Answer]
"""An answer to every question."""


def defaults() -> Readings:
    """Our own."""
    return {question: answers[0] for question, answers in QUESTIONS.items()}


def every_set() -> Iterator[Readings]:
    """All combinations; the defaults come first."""
    for answers in product(*QUESTIONS.values()):
        yield dict(zip(QUESTIONS, answers, strict=True))


def departures(readings: Readings) -> list[str]:
    """The answers that are not our defaults, in words."""
    return [a.name for question, a in readings.items() if a is not QUESTIONS[question][0]]


@dataclass(frozen=True)
class Score:
    """How near a set of numbers comes to the published ones."""

    within: int
    """How many fit: values within 15 %, ablations whose four increases lie in the range."""
    count: int
    deviation_pct: float
    """Mean factor by which numbers are off, less one [%]."""


def score(ours: Numbers) -> Score:
    """Judge the numbers that are there; of a range, those parts that lie outside count."""
    off = [log_distance(place, value) for place, value in ours.items()]
    fits = sum(fit(place, value) for place, value in ours.items())
    return Score(fits, len(off), 100 * (exp(sum(off) / len(off)) - 1))


def fit(place: Place, value: float | tuple[float, ...]) -> bool:
    """Whether one of our numbers counts as the paper's."""
    if isinstance(value, tuple):
        least, most = RANGES[place]
        return all(least <= increase <= most for increase in value)
    return abs(value / VALUES[place] - 1) <= NEAR


def log_distance(place: Place, value: float | tuple[float, ...]) -> float:
    """|log(ours / paper)|; of times without a part, against the nearest that was published."""
    if not isinstance(value, tuple):
        return abs(log(value / VALUES[place]))
    least, most = RANGES[place]
    nearest = [min(max(increase, least), most) for increase in value]
    parts = [
        abs(log((100 + ours) / (100 + paper))) for ours, paper in zip(value, nearest, strict=True)
    ]
    return sum(parts) / len(parts)
