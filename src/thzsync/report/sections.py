"""The sections of the report: what each needs, and how it is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final


@dataclass(frozen=True)
class Section:
    """One section with charts."""

    name: str
    needs: str
    """The key of the data without which it is left out."""
    word: str
    """Its name in the navigation."""
    title: str
    lead: str
    """How to read it: what is drawn, in which unit, and which end is better."""
    drawn: bool = True
    """Whether it has charts; some sections are tables only."""

    @property
    def holder(self) -> str:
        """The element that the scripts draw into."""
        return f"{self.name}-charts"


@dataclass(frozen=True)
class Group:
    """Neighbouring sections; those about one policy stand under one picker."""

    closeup: bool
    sections: list[Section]


SECTIONS: Final = (
    Section(
        "curves",
        "curves",
        "Learning",
        "Learning",
        "Means per training iteration; the band is the 95 % interval over seeds. Each panel says "
        "its unit and which end is better.",
    ),
    Section(
        "plane",
        "plane",
        "Delay and energy",
        "Delay and energy",
        "Every policy by what it costs in time and in energy: the nearer to the lower left corner, "
        "the better. Small dots are single seeds (iterations where there is one seed), the dashed "
        "line joins the policies that no other beats in both; hollow marks are published values.",
    ),
    Section(
        "split",
        "split",
        "Bytes and joules",
        "Where bytes and joules went",
        "What each fabric carried and spent, and how much of every collective type went over THz. "
        "Fewer joules are better; bytes are given by the job, only their split is a choice.",
    ),
    Section(
        "distributions",
        "distributions",
        "Distributions",
        "Completion time per collective type",
        "Density over all events, shorter is better; the circle is the median, the thick line the "
        "middle half, the thin line reaches from 5 to 95 %.",
    ),
    Section(
        "traffic",
        "closeups",
        "Traffic",
        "Traffic, link by link",
        "One iteration of one seed. The stronger the colour, the more; the scale below each map "
        "says how much, and both fabrics and all policies share it. An even load is better than "
        "a few dark cells.",
    ),
    Section(
        "gantt",
        "closeups",
        "Timeline",
        "Timeline of the iteration",
        "Compute and collectives of every pipeline stage over time; an iteration that ends sooner "
        "is better. Numbers are micro-batches.",
    ),
    Section(
        "replay",
        "closeups",
        "Replay",
        "Replay of the floor plan",
        "The rings from above. Coloured links are THz transmissions (colour: subband, width: "
        "rate), grey spokes are fibres (width and depth: load), the squares in the middle are "
        "the ring switches.",
    ),
    Section(
        "synthesis",
        "synthesis",
        "Synthesis",
        "Synthesis of single collectives",
        "Mean completion time over seeds on one THz ring, lower is better; bars are 95 % "
        "intervals, the dotted line is a lower bound that no schedule can beat.",
    ),
    Section(
        "weights",
        "weights",
        "Weights",
        "What the weights buy",
        "THz-SynC under three pairs of reward weights; less is better in both panels, and the "
        "weights trade one for the other. Hollow marks are published values.",
    ),
    Section(
        "sweep",
        "sweep",
        "Curves",
        "Iteration time and other metrics along the axes",
        "First the paired difference of iteration times to the reference policy: below the zero "
        "line is faster, the band is the 95 % interval. Other metrics are means over seeds with "
        "95 % intervals. A dotted line marks where two policies change places, the shaded span the "
        "95 % interval of that place. Rewards are relative to All-wired in the same settings.",
    ),
    Section(
        "points",
        "points",
        "Numbers",
        "Numbers",
        "All of it as plain tables; table.parquet beside this page has every single iteration.",
        drawn=False,
    ),
)


def grouped(data: Mapping[str, Any]) -> list[Group]:
    """The sections that the data can fill, in order."""
    shown = [section for section in SECTIONS if data.get(section.needs)]
    return [
        Group(closeup, list(members))
        for closeup, members in groupby(shown, key=lambda section: section.needs == "closeups")
    ]
