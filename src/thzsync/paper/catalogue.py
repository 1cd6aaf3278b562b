"""Which figures there are, from which preset, in how many seeds, and how long each takes."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from thzsync.paper.figure import Figure, Request

QUICK_ITERATIONS: Final = 6


class Entry(NamedTuple):
    """One figure; its module has a function ``reproduce``."""

    summary: str
    seeds: int
    cpu_minutes: float
    """Per seed, at the paper's sizes and iterations."""
    quick_seeds: int
    quick_cpu_minutes: float
    preset: str = "paper"
    in_quick_look: bool = True
    """Whether a quick look at all figures has it."""
    in_all: bool = True


FIGURES: Final = {
    "synthesis": Entry(
        "Completion time of All-to-All and AllReduce methods on one THz ring.",
        30, 0.5, 5, 0.03, preset="single-ring",
    ),
    "fabric": Entry("The policies over 20 iterations of the training trace.", 5, 1.6, 3, 0.7),
    "weights": Entry(
        "How the reward's weights move THz-SynC between delay and energy.", 5, 0.6, 3, 0.2
    ),
    "ladder": Entry(
        "From the paper's coordinator to ours, one departure at a time; can be resumed.",
        5, 8.5, 1, 1.4, in_quick_look=False,
    ),
    "beyond": Entry(
        "Delay and energy: published, the paper's mechanisms well learnt, and ours.",
        5, 4.0, 1, 0.8, preset="beyond", in_all=False,
    ),
    "readings": Entry(
        "Which interpretations come nearest to all numbers of the paper; can be resumed.",
        2, 5.0, 1, 2.5, in_quick_look=False,
    ),
}  # fmt: skip


def all_figures(quick: bool) -> list[str]:
    """The figures of ``reproduce all``."""
    return [
        name
        for name, figure in FIGURES.items()
        if figure.in_all and (figure.in_quick_look or not quick)
    ]


def seeds_of(name: str, quick: bool) -> int:
    """How many seeds a figure has unless told otherwise."""
    return FIGURES[name].quick_seeds if quick else FIGURES[name].seeds


def cpu_minutes(name: str, quick: bool) -> float:
    """What a seed takes."""
    return FIGURES[name].quick_cpu_minutes if quick else FIGURES[name].cpu_minutes


def reproduce(name: str, request: Request) -> Figure:
    """Make one figure."""
    made: Figure = import_module(f"thzsync.paper.{name}").reproduce(request)
    return made
