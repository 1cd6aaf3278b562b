"""Three unknowns of the paper's radio, fitted once to four of its numbers.

The paper states neither noise figure, nor fluctuation, nor the cost of setting up a round. They
are fitted together, by least squares of log(ours / paper), on seeds that the figure does not use.
Every other number is then a prediction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean
from typing import Final

from thzsync.errors import ThzSyncError
from thzsync.experiments.parallel import map_runs
from thzsync.experiments.single_ring import Instance
from thzsync.paper.published import published_synthesis
from thzsync.scenario import Scenario

FIRST_SEED: Final = 1000
"""Seeds from here on are for fitting; the figure uses 0, 1, 2, ..."""


@dataclass(frozen=True)
class Target:
    """A published completion time."""

    kind: str
    method: str
    racks: int
    stragglers: bool = False

    @property
    def paper_ms(self) -> float:
        """The paper's number [ms]."""
        value = published_synthesis(self.kind, self.method, self.racks, self.stragglers)
        if value is None:
            raise ThzSyncError(f"{self}: the paper gives no number for this")
        return value


TARGETS: Final = (
    Target("a2a", "proposed", 4),
    Target("a2a", "proposed", 12),
    Target("allreduce", "proposed", 12),
    Target("allreduce", "ring", 12),
)
"""The four numbers of the fit: the shortest and longest rounds, many links and few."""


@dataclass(frozen=True)
class Radio:
    """The three unknowns."""

    noise_figure_db: float
    fluctuation_db: float
    round_overhead_s: float

    def applied(self, scenario: Scenario) -> Scenario:
        """The scenario with these values."""
        thz = {"noise_figure_db": self.noise_figure_db, "round_overhead_s": self.round_overhead_s}
        channel = {"fluctuation_db": self.fluctuation_db}
        return scenario.model_copy(
            update={
                "thz": scenario.thz.model_copy(update=thz),
                "channel": scenario.channel.model_copy(update=channel),
            }
        )

    @staticmethod
    def of(scenario: Scenario) -> Radio:
        """The values that a scenario has."""
        thz, channel = scenario.thz, scenario.channel
        return Radio(thz.noise_figure_db, channel.fluctuation_db, thz.round_overhead_s)


@dataclass(frozen=True)
class _Trial:
    radio: Radio
    targets: tuple[Target, ...]
    seeds: range


def mean_ms(trial: _Trial) -> tuple[float, ...]:
    """Mean completion time of every target [ms]."""
    scenario = trial.radio.applied(Scenario.preset("single-ring"))

    def mean(target: Target) -> float:
        setting = (target.kind, target.racks, target.stragglers)
        runs = (Instance(scenario, *setting, seed).run(target.method) for seed in trial.seeds)
        return fmean(run.completion_ps / 1e9 for run in runs)

    return tuple(mean(target) for target in trial.targets)


def misfit(times_ms: Sequence[float], targets: Sequence[Target] = TARGETS) -> float:
    """Root mean square of log(ours / paper): about the relative error."""
    pairs = zip(times_ms, targets, strict=True)
    return math.sqrt(fmean(math.log(t / target.paper_ms) ** 2 for t, target in pairs))


def calibrate(
    noise_figures_db: Sequence[float],
    fluctuations_db: Sequence[float],
    overheads_s: Sequence[float],
    seeds: int = 30,
    progress: Callable[[int, int], None] | None = None,
) -> list[tuple[float, Radio, tuple[float, ...]]]:
    """Misfit, values and times [ms] of every grid point, best first."""
    radios = [Radio(*p) for p in product(noise_figures_db, fluctuations_db, overheads_s)]
    times = times_ms(radios, TARGETS, range(FIRST_SEED, FIRST_SEED + seeds), progress)
    ranked = [(misfit(t), radio, t) for radio, t in zip(radios, times, strict=True)]
    return sorted(ranked, key=lambda found: found[0])


def times_ms(
    radios: Sequence[Radio],
    targets: Sequence[Target],
    seeds: range,
    progress: Callable[[int, int], None] | None = None,
) -> list[tuple[float, ...]]:
    """Mean times [ms] of all targets under each of the radios."""
    trials = [_Trial(radio, tuple(targets), seeds) for radio in radios]
    return map_runs(mean_ms, trials, progress=progress)
