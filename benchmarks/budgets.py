"""The speed that the project promises, and other figures that stand beside it in tables.

A budget is a ratio measured in one run, or a time that a user waits for. The budget of an iteration
is a ratio to another checkout: ``benchmarks/alternate.py`` measures it.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple


class Budget(NamedTuple):
    """A figure of ``thzsync bench``, its limit if it has one, and where it stood before."""

    what: str
    figure: str
    """Where it stands among the measured figures, the subject first."""
    unit: str
    second_edition: float | None = None
    limit: float | None = None
    at_least: bool = False
    per: float = 1.0
    """The figure is divided by this to have the unit."""

    def judged(self, measured: dict[str, Any]) -> dict[str, Any]:
        """The budget beside today's figure; None where nothing was measured."""
        value = _found(measured, self.figure)
        today = None if value is None else value / self.per
        return {
            "what": self.what,
            "unit": self.unit,
            "second_edition": self.second_edition,
            "budget": self.limit,
            "at_least": self.at_least,
            "today": today,
            "holds": self._holds(today),
        }

    def _holds(self, today: float | None) -> bool | None:
        if today is None or self.limit is None:
            return None
        return today >= self.limit if self.at_least else today <= self.limit


BUDGETS: Final = (
    Budget("optical kernel beside SimPy", "optical.ratio", "times", 220, 150, True),
    Budget("optical kernel beside csg-htsim", "peers.htsim.we_are_faster", "times", 25, 20, True),
    Budget("kernels compiled from nothing, 2 cores", "contact.cold_run_s", "s", 15, 75),
    Budget(
        "decision on an AllReduce, median", "decision.allreduce.p50_us", "ms", 0.33, 1.5, per=1e3
    ),
    Budget("make run, 3 seeds, all compiled, 2 cores", "figures.make_run_s", "s", 33, 60),
)  # fmt: skip
FIGURES: Final = (
    Budget("optical kernel beside ns-3", "peers.ns-3.we_are_faster", "times"),
    Budget("optical kernel", "optical.packet_hops_per_s", "M packet-hops/CPU-s", per=1e6),
    Budget(
        "cost per packet-hop, 1024 racks against 32", "optical.cost_ratio_1024_to_32_racks", "times"
    ),
    *(
        Budget(f"iteration of {job}, {policy}", f"iteration.{job}.{policy}", "CPU-s")
        for job in ("paper", "llama3-70b", "pod-1024")
        for policy in ("all-wired", "thz-sync", "ddqn")
    ),
    Budget("iteration of pod-4096, all-wired", "iteration.pod-4096.cpu_s", "CPU-s"),
    Budget("peak memory of pod-4096, one iteration", "iteration.pod-4096.peak_gb", "GB"),
    Budget("decision on a P2P, median", "decision.p2p.p50_us", "ms", per=1e3),
    Budget("decision on an All-to-All, median", "decision.a2a.p50_us", "ms", per=1e3),
    Budget("one All-to-All round, 12 racks", "synthesis.a2a_round_ms", "ms"),
    Budget("one P2P chunk", "synthesis.p2p_chunk_us", "µs"),
    Budget("run of tiny, warm", "contact.warm_run_s", "s"),
    Budget("thzsync --help, warm", "contact.help_s", "s"),
    Budget("reproduce fabric, 2 cores", "figures.fabric_s", "s"),
)  # fmt: skip
"""Without a budget."""


def judged(measured: dict[str, Any]) -> list[dict[str, Any]]:
    """Every budget with today's figure and whether it holds, then the figures without one."""
    return [budget.judged(measured) for budget in (*BUDGETS, *FIGURES)]


def _found(measured: dict[str, Any], figure: str) -> float | None:
    place: Any = measured
    for name in figure.split("."):
        if not isinstance(place, dict) or name not in place:
            return None
        place = place[name]
    return float(place)
