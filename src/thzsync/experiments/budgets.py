"""The speed that the project promises, beside what was measured."""

from __future__ import annotations

from typing import Any, Final, NamedTuple


class Budget(NamedTuple):
    """One promise: a figure of ``thzsync bench``, its limit, and where it stood before."""

    what: str
    figure: str
    """Where it stands among the measured figures, the subject first."""
    unit: str
    before: float
    """The first edition's."""
    limit: float
    per: float = 1.0
    """The figure is divided by this to have the unit."""
    at_least: bool = False

    def at_pace(self, today: float, pace: float) -> float:
        """What would have been measured at pace 1 (see ``feasibility/pace.py``)."""
        if self.unit not in PACED:
            return today
        return today / pace if self.at_least else today * pace

    def holds(self, today: float) -> bool:
        """Whether a figure is within the limit."""
        return today >= self.limit if self.at_least else today <= self.limit


PACED: Final = ("s", "ms", "CPU-s", "M packet-hops/CPU-s")
"""Units that a slower machine changes."""

BUDGETS: Final = (
    Budget("optical kernel", "optical.packet_hops_per_s", "M packet-hops/CPU-s", 16, 16, 1e6, True),
    Budget("optical kernel beside SimPy", "optical.ratio", "times", 125, 125, 1.0, True),
    Budget("iteration of paper, all-wired", "iteration.paper.all-wired", "CPU-s", 0.43, 0.25),
    Budget("iteration of paper, thz-sync", "iteration.paper.thz-sync", "CPU-s", 1.0, 0.4),
    Budget("iteration of paper, ddqn", "iteration.paper.ddqn", "CPU-s", 2.7, 0.6),
    Budget("iteration of llama3-70b, all-wired", "iteration.llama3-70b.all-wired", "CPU-s", 17, 3),
    Budget("iteration of llama3-70b, thz-sync", "iteration.llama3-70b.thz-sync", "CPU-s", 35, 5),
    Budget("iteration of pod-1024, all-wired", "iteration.pod-1024.all-wired", "CPU-s", 43, 8),
    Budget("iteration of pod-1024, thz-sync", "iteration.pod-1024.thz-sync", "CPU-s", 108, 15),
    Budget("first run of tiny, nothing compiled", "contact.cold_run_s", "s", 44, 15),
    Budget("run of tiny, warm", "contact.warm_run_s", "s", 2.2, 1.5),
    Budget("thzsync --help, warm", "contact.help_s", "s", 0.25, 0.4),
    Budget("decision on a P2P, median", "decision.p2p.p50_us", "ms", 0.37, 0.2, 1e3),
    Budget("decision on an All-to-All, median", "decision.a2a.p50_us", "ms", 0.69, 0.5, 1e3),
    Budget("decision on an AllReduce, median", "decision.allreduce.p50_us", "ms", 1.39, 0.7, 1e3),
    Budget("make run, 3 seeds, nothing compiled, 2 cores", "figures.make_run_s", "s", 255, 120),
    Budget("reproduce fabric, 8 policies (budget: 6), 2 cores", "figures.fabric_s", "s", 600, 240),
    Budget("4096 racks, one iteration", "iteration.pod-4096.peak_gb", "GB", float("nan"), 2),
)  # fmt: skip


def limit(figure: str) -> float:
    """The limit of a figure, as it is measured."""
    return next(budget.limit * budget.per for budget in BUDGETS if budget.figure == figure)


def judged(measured: dict[str, Any]) -> list[dict[str, Any]]:
    """Every budget with today's figure and whether it holds; None where nothing was measured.

    Beside it what the figure would be at pace 1, where the pace of its subject is known.
    """
    return [_judged(budget, measured) for budget in BUDGETS]


def _judged(budget: Budget, measured: dict[str, Any]) -> dict[str, Any]:
    value = _found(measured, budget.figure)
    pace = measured.get("pace", {}).get(budget.figure.split(".")[0])
    today = None if value is None else value / budget.per
    paced = None if today is None or pace is None else budget.at_pace(today, pace)
    return {
        "what": budget.what,
        "unit": budget.unit,
        "first_edition": budget.before if budget.before == budget.before else None,
        "budget": budget.limit,
        "at_least": budget.at_least,
        "today": today,
        "holds": None if today is None else budget.holds(today),
        "at_pace": paced,
        "holds_at_pace": None if paced is None else budget.holds(paced),
    }


def _found(measured: dict[str, Any], figure: str) -> float | None:
    place: Any = measured
    for name in figure.split("."):
        if not isinstance(place, dict) or name not in place:
            return None
        place = place[name]
    return float(place)
