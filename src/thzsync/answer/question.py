"""Does a THz overlay pay for this job on this floor? Paired runs, and the answer in a paragraph.

Four candidates meet the same channel, background and stragglers: the best fibre-only schedule, THz
alone, and the hybrid of both with the scenario's own mechanisms and with pipelined ones. Two or
three quick checks change one assumption each and tell on which of them the answer depends most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from thzsync.arrays import FloatArray
from thzsync.experiments.compare import Comparison, compare_settings
from thzsync.experiments.policies import given_policies
from thzsync.experiments.statistics import interval95, paired_row, verdict
from thzsync.records.run import environment
from thzsync.scenario import Job, NetworkFile, RingNetwork, Scenario, ScenarioLike, preset_names
from thzsync.scenario.overlays import tables_of, with_overlays
from thzsync.workers import one_team
from thzsync.workload.tracefile import read_trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIBRE: Final = "fibre"
FIBRE_ONLY: Final = "all-wired-best"
"""The policy of the fibre-only candidate."""
THZ: Final = "thz"
HYBRID: Final = "hybrid"
PIPELINED: Final = "hybrid-pipelined"
TITLES: Final = {
    FIBRE: "best fibre-only schedule",
    THZ: "THz alone",
    HYBRID: "hybrid, the scenario's mechanisms",
    PIPELINED: "hybrid, pipelined mechanisms",
}
ENERGIES: Final = ("wall_energy_j", "static_energy_j", "total_energy_j")
JUDGED: Final = ("makespan_ms", "exposed_ms", "energy_j", *ENERGIES)
"""Metrics of which less is better."""
METRICS: Final = (*JUDGED, "completion_ms", "thz_share")
REALISTIC_NOISE_DB: Final = 11.0
"""Noise figure of a receiver that was built (InP, 10.8 dB)."""

Row = dict[str, Any]
Values = dict[str, FloatArray]
"""Per metric one value per seed."""
Progress = Callable[[float, int], None]


@dataclass(frozen=True)
class Effort:
    """How many seeds and iterations a question is worth; the second half of them counts."""

    seeds: int = 5
    iterations: int = 8
    check_seeds: int = 3
    check_iterations: int = 4

    @classmethod
    def of(cls, seeds: int, iterations: int) -> Effort:
        """So many seeds and iterations, and about half as many for the checks."""
        return cls(seeds, iterations, min(seeds, max(2, (seeds + 1) // 2)), max(2, iterations // 2))


@dataclass(frozen=True)
class Answer:
    """What the candidates did, and how far each check moves the difference."""

    scenario: Scenario
    source: str
    """How a user named it on the command line, changes of keys included."""
    seeds: tuple[int, ...]
    iterations: int
    candidates: tuple[Row, ...]
    """Means with 95 % intervals, and paired differences from the best fibre-only schedule.

    ``best`` names the metrics in which no candidate is better beyond the paired interval."""
    checks: tuple[Row, ...]
    """The best hybrid's difference from fibre only in iteration time, one assumption changed."""

    def __str__(self) -> str:
        """The answer in words."""
        from thzsync.answer.text import lines

        return "\n".join(lines(self))

    def plot(self) -> Figure:
        """Iteration time and energy of every candidate."""
        from thzsync.answer.picture import draw

        return draw(self)

    def candidate(self, name: str) -> Row:
        """The row of one candidate."""
        return {row["candidate"]: row for row in self.candidates}[name]

    @property
    def hybrid(self) -> Row:
        """The hybrid that the answer is about: with pipelined mechanisms."""
        return self.candidate(PIPELINED)

    @property
    def pays(self) -> bool | None:
        """Whether the hybrid shortens the iteration; None if the seeds do not decide."""
        return verdict(-self.hybrid["diff_makespan_ms"], self.hybrid["ci95_diff_makespan_ms"])

    def most_sensitive(self) -> list[Row]:
        """The checks, the one that moves the answer most first."""
        usual = self.hybrid["diff_makespan_ms"]
        return sorted(self.checks, key=lambda row: -abs(row["diff_makespan_ms"] - usual))

    def document(self) -> Row:
        """The answer as plain values."""
        return {
            "kind": "ask",
            "scenario": self.scenario.name,
            "scenario_sha256": self.scenario.digest,
            "source": self.source,
            "environment": environment(),
            "seeds": list(self.seeds),
            "iterations": self.iterations,
            "against": FIBRE,
            "pays": self.pays,
            "candidates": list(self.candidates),
            "checks": list(self.checks),
        }


def ask(
    scenario: ScenarioLike,
    effort: Effort | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    source: str | None = None,
    policy: str = "thz-sync",
) -> Answer:
    """Whether a THz overlay pays, by how much, and on what that depends.

    ``policy`` coordinates the hybrid candidates.
    ``progress`` is told how many of all runs are done. ``source`` is how a user names the
    scenario, for the command that the answer suggests.
    """
    setting = scenario_of(str(scenario)) if isinstance(scenario, (str, Path)) else scenario
    named = source or (setting.name if isinstance(scenario, Scenario) else str(scenario))
    effort = effort or Effort()
    best, checks = pipelined(setting), checks_of(setting)
    same = setting.digest == best.digest
    # Fibre only brings methods of its own, so it is the same with the mechanisms of either setting.
    contests = [
        (setting, given_policies(("all-wireless-best", *(() if same else (policy,))))),
        (best, given_policies((FIBRE_ONLY, policy))),
    ]
    runs = effort.seeds * sum(len(policies) for _, policies in contests)
    total = runs + 2 * effort.check_seeds * len(checks)

    def advance(before: int) -> Progress:
        return lambda done, _: None if progress is None else progress(before + done, total)

    with one_team():
        own, piped = compare_settings(
            contests, effort.seeds, effort.iterations, workers, advance(0)
        )
        checked = compare_settings(
            [(pipelined(setting.with_(changes)), contests[1][1]) for changes in checks.values()],
            effort.check_seeds, effort.check_iterations, workers, advance(runs),
        )  # fmt: skip
    candidates = {
        FIBRE: (piped, FIBRE_ONLY),
        THZ: (own, "all-wireless-best"),
        **({} if same else {HYBRID: (own, policy)}),
        PIPELINED: (piped, policy),
    }
    first = effort.iterations // 2
    values = {name: _values(runs, who, first) for name, (runs, who) in candidates.items()}
    rows = [
        _row(name, who, values[name], values[FIBRE])
        | {"best": [metric for metric in JUDGED if name in undefeated(values, metric)]}
        for name, (_, who) in candidates.items()
    ]
    first = effort.check_iterations // 2
    answers = []
    for (name, changes), found in zip(checks.items(), checked, strict=True):
        hybrid, fibre = (_values(found, who, first) for who in (policy, FIBRE_ONLY))
        row = _row(PIPELINED, policy, hybrid, fibre)
        answers.append({"check": name, "changes": changes, **row})
    return Answer(setting, named, piped.seeds, effort.iterations, tuple(rows), tuple(answers))


def scenario_of(source: str, plugins: Iterable[str] = ()) -> Scenario:
    """The scenario that a preset, a TOML file or a trace file stands for.

    A trace is the only job of a floor with the rings, fibre and radios of the preset `paper`, as
    many rings as its racks fill.
    """
    path = Path(source)
    if source in preset_names() or path.suffix == ".toml" or not path.is_file():
        return Scenario.load(source, plugins)
    paper = Scenario.load("paper", plugins)
    racks = read_trace(path).rack_count
    floor = paper.floor.model_copy(update={"rings": ceil(racks / paper.floor.lanes)})
    job = Job(name=paper.jobs[0].name, trace=source)
    return paper.model_copy(update={"name": path.stem, "floor": floor, "jobs": (job,)})


def pipelined(scenario: Scenario) -> Scenario:
    """The scenario with the mechanisms of the preset that comes nearest to the bounds."""
    return with_overlays(scenario, ["pipelined"])


def checks_of(scenario: Scenario) -> dict[str, dict[str, Any]]:
    """Changes of one assumption each: of the fibre, the radio and the background traffic."""
    optical, thz = scenario.optical, scenario.thz
    full_bps = optical.access_bps * scenario.floor.lanes
    checks: dict[str, dict[str, Any]] = {}
    ringed = isinstance(scenario.network, RingNetwork)
    if ringed and scenario.floor.groups > 1 and optical.inter_bps < full_bps:
        checks["no oversubscription"] = {"optical.inter_bps": full_bps}
    elif getattr(scenario.network, "oversubscription", 1) > 1:
        checks["no oversubscription"] = {"network.oversubscription": 1}
    elif not isinstance(scenario.network, NetworkFile):  # whose rates are in the file
        keys = ("access_bps", "inter_bps") if ringed else ("access_bps",)
        faster = {f"optical.{key}": 2 * getattr(optical, key) for key in keys}
        checks["fibre twice as fast"] = faster
    if thz.rate.kind != "shannon":
        radio = tables_of("paper")["thz"]
        checks["the paper's radio"] = {f"thz.{key}": value for key, value in radio.items()}
    elif thz.noise_figure_db < REALISTIC_NOISE_DB:
        noise = {"thz.noise_figure_db": REALISTIC_NOISE_DB}
        checks[f"noise figure of {REALISTIC_NOISE_DB:g} dB"] = noise
    else:
        checks["half the transmit power"] = {"thz.max_power_w": thz.max_power_w / 2}
    load = 0.3 if optical.background.load < 0.15 else 0.0
    words = "background load of 30 %" if load else "no background traffic"
    return checks | {words: {"optical.background.load": load}}


def undefeated(values: dict[str, Values], metric: str) -> list[str]:
    """The candidate with the least mean, and those too close to it to call; none for one seed."""
    least = min(values.values(), key=lambda own: float(own[metric].mean()))
    if len(least[metric]) < 2:
        return []
    return [
        name
        for name, own in values.items()
        if verdict(*interval95(own[metric] - least[metric])) is None
    ]


def _values(runs: Comparison, policy: str, first: int) -> Values:
    """Means by seed. The floor of fibre only has no RF chains, so they draw nothing there."""
    found = {metric: runs.seed_means(policy, metric, first) for metric in METRICS}
    if policy == FIBRE_ONLY:
        chains_j = runs.seed_means(policy, "thz_static_j", first)
        for metric in ("static_energy_j", "total_energy_j"):
            found[metric] = found[metric] - chains_j
    return found


def _row(name: str, policy: str, own: Values, fibre: Values) -> Row:
    """Means of one candidate, and its differences from fibre only in the same realisations."""
    paired = paired_row(METRICS, lambda m: own[m], lambda m: own[m] - fibre[m])
    return {"candidate": name, "policy": policy, **paired}
