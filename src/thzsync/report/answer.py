"""What a page says first: who is faster than fibre alone, by how much, at which cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from thzsync.assumptions import assumptions
from thzsync.display import number, quantity, with_half
from thzsync.display.kinds import kind_look
from thzsync.display.labels import policy_name
from thzsync.display.metrics import (
    COMPLETION,
    ENERGY,
    EXPOSED,
    MAKESPAN,
    REWARD,
    Metric,
    more_energy,
)
from thzsync.experiments.statistics import interval95, verdict
from thzsync.names import BEST_OF
from thzsync.report.contest import (
    FIBRE_ONLY,
    Contest,
    by_reward,
    counted_energy,
    reference_row,
)
from thzsync.report.curves import fabric_split
from thzsync.report.source import Results, Row
from thzsync.report.story import Reason, paper_findings, title, undecided
from thzsync.report.sweep import swept_scenarios
from thzsync.report.sweep_story import sweep_findings, sweep_headline
from thzsync.studies import Sweep

WEIGHTY: Final = 3
"""So many findings stand in full; the rest is folded."""


class Figure(NamedTuple):
    """A number worth a large print."""

    value: str
    unit: str
    meaning: str


@dataclass(frozen=True)
class Answer:
    """A headline, figures worth a large print, findings by weight, and what is assumed."""

    headline: str
    figures: list[Figure] = field(default_factory=list)
    reasons: list[Reason] = field(default_factory=list)
    assumed: dict[str, str] = field(default_factory=dict)


def answer(results: Results) -> Answer:
    """What a reader should know after ten seconds."""
    if results.sweep is not None:
        return _of_sweep(results.sweep)
    paper = list(paper_findings(results))
    if results.fabric is None:
        return Answer(title(results), reasons=paper)
    assumed = assumptions(results.fabric.scenario)
    if len(results.rows) == 1:
        row = results.rows[0]
        reasons = [*_exposed(row), *_reference(results), *_spent(results, row), *paper]
        return Answer(_run_headline(row), _figures(row), reasons, assumed)
    found = Contest(results)
    beside = ""
    if found.best.get(EXPOSED.key) is not None and found.against.get(EXPOSED.key):
        change = _change(*found.paired_pct(found.best, found.against, EXPOSED), "less", "more")
        beside = f" That is {change} than with {_schedule(found.against)}."
    reasons = [*_exposed(found.best, beside), _energy(found), *paper[:1], *_others(found)]
    reasons += [_reward(found), *paper[1:], *_spent(results, found.best)]
    return Answer(_headline(found), _figures(found.best), reasons, _against(found) | assumed)


def _headline(found: Contest) -> str:
    """By how much the iteration is shorter than with the best schedule on fibre alone."""
    ours, theirs = _schedule(found.best), _schedule(found.against)
    what = "iteration" if found.time is MAKESPAN else "time of all collectives"
    lead, half = found.paired_pct(found.best, found.against, found.time)
    both = f"{_time(found, found.best)} instead of {_time(found, found.against)}"
    if remark := undecided(lead, half):
        per = "per iteration" if found.time is MAKESPAN else "for all collectives"
        return f"{remark.capitalize()}: {ours} against {theirs}, {both} {per}."
    if lead < 0:
        ours = ours[0].upper() + ours[1:]
        return f"{ours} shortens the {what} by {_pct(lead, half)} against {theirs}: {both}."
    return f"Nothing beats {theirs}: with {ours} the {what} is {_pct(lead, half)} longer."


def _against(found: Contest) -> dict[str, str]:
    """Which schedule the headline compares with, and whether a better one is missing."""
    remark = {
        FIBRE_ONLY[0]: "the best schedule on fibre alone",
        FIBRE_ONLY[1]: f"its best schedule ({FIBRE_ONLY[0]}) is not in this comparison",
    }.get(found.against["policy"], "no schedule on fibre alone is in this comparison")
    return {"Reference": f"{policy_name(found.against)}; {remark}"}


def _energy(found: Contest) -> Reason:
    """Who spends least; if that is not the fastest, whether its thrift is worth its time."""
    metric = found.energy
    least = min(found.rows, key=lambda row: float(row[metric.key]))
    rival = found.rival(least)
    saved = _change(*found.paired_pct(least, rival, metric), "less", "more")
    spent = f"{quantity(least[metric.key], 'J', 3)} ({metric.title.lower()})"
    spends = f"{policy_name(least)} spends least: {spent}"
    return Reason("Energy", f"{spends}, {saved} than {_schedule(rival)}.{_worth(found, least)}")


def _worth(found: Contest, least: Row) -> str:
    """Whether time is a reason to keep what spends more."""
    without = least["policy"] in ("all-wireless", BEST_OF["all-wireless"])
    lead, half = found.paired_pct(least, found.rival(least), found.time)
    longer = verdict(lead, half)
    if least is found.best:
        both = " It uses no fibre: neither time nor this energy is a reason to keep fibre here."
        return both if without and longer is False else ""
    keep = "fibre" if without else policy_name(found.best)
    advice = f"Keep {keep} unless energy counts more than time."
    if not longer:
        advice = f"Time gives no {'certain ' if longer is None else ''}reason to keep {keep}."
    return f" Its iterations take {_time(found, least)}, {_change(lead, half)}. {advice}"


def _others(found: Contest) -> Iterator[Reason]:
    """The time of every other policy; learners are often too close to call."""
    others = [row for row in found.rows if row is not found.best and row is not found.against]
    parts = [
        f"{policy_name(row)} {_time(found, row)}, "
        f"{_change(*found.paired_pct(row, found.best, found.time))}"
        for row in others
    ]
    if parts:
        yield Reason("Other policies", f"Beside {policy_name(found.best)}: {'; '.join(parts)}.")


def _reward(found: Contest) -> Reason:
    """Who has the highest reward, which weighs time and energy."""
    highest = by_reward(found.rows)[:2]
    ours, theirs = (found.seed_means(row, REWARD) for row in highest)
    remark = undecided(*interval95(ours - theirs))
    first, second = (f"{policy_name(row)} {number(row['reward'], 3)}" for row in highest)
    told = f"The highest is that of {first}, then {second}{f' ({remark})' if remark else ''}."
    return Reason("Reward", told)


def _time(found: Contest, row: Row) -> str:
    return quantity(row[found.time.key], "ms")


def _schedule(row: Row) -> str:
    """A policy in the middle of a sentence."""
    name = policy_name(row).removesuffix(", best")
    return f"the best {name.lower()} schedule" if row["policy"] in BEST_OF.values() else name


def _pct(lead: float, half: float) -> str:
    return with_half(abs(lead), half, "%", 3)


def _change(lead: float, half: float, less: str = "shorter", more: str = "longer") -> str:
    if lead == half == 0:
        return f"no {less}"
    remark = undecided(lead, half)
    return f"{_pct(lead, half)} {less if lead < 0 else more}{f' ({remark})' if remark else ''}"


def _figures(row: Row) -> list[Figure]:
    named = (
        (MAKESPAN, "iteration time"),
        (EXPOSED, "of it exposed communication"),
        (COMPLETION, "completion time, all collectives"),
        *((metric, metric.title.lower()) for metric in (ENERGY, *more_energy([row]))),
    )
    found = [_figure(row, m, text) for m, text in named if row.get(m.key) is not None]
    return [*found, Figure(number(row["reward"], 3), "", "mean reward")]


def _figure(row: Row, metric: Metric, meaning: str) -> Figure:
    value, _, unit = quantity(row[metric.key], metric.unit).partition(" ")
    return Figure(value, unit, meaning)


def _run_headline(row: Row) -> str:
    sent = f"{quantity(row['energy_j'], 'J')} of transmission energy"
    taken = f"{quantity(row['completion_ms'], 'ms')} and {sent}"
    if not row.get(MAKESPAN.key):
        return f"{policy_name(row)} needs {taken} for communication per iteration."
    time = quantity(row[MAKESPAN.key], "ms")
    return f"{policy_name(row)}: an iteration of {time}, with {taken} for communication."


def _exposed(row: Row, beside: str = "") -> Iterator[Reason]:
    """What of the iteration is communication in the open."""
    exposed, makespan = row.get(EXPOSED.key), row.get(MAKESPAN.key)
    if exposed is not None and makespan:
        shown, share = quantity(exposed, "ms", largest=makespan), _percent(exposed, makespan)
        text = f"Compute does not hide {shown} of communication with {policy_name(row)}"
        yield Reason("Exposed communication", f"{text}, {share} of the iteration.{beside}")


def _reference(results: Results) -> Iterator[Reason]:
    """What All-Wired needs for the same events: the reference of a single run's rewards."""
    if row := reference_row(results):
        ours, counted = results.rows[0], counted_energy(results)
        time, energy = (
            f"{quantity(row[m.key], m.unit)} instead of {quantity(ours[m.key], m.unit)}"
            for m in (COMPLETION, counted)
        )
        yield Reason(
            "All-wired reference",
            f"On fibre alone these collectives take {time} and {energy} "
            f"({counted.title.lower()}) per iteration. One seed "
            "decides nothing, and a run has no iteration time of All-wired: use `thzsync compare`.",
        )


def _spent(results: Results, row: Row) -> Iterator[Reason]:
    """Where a policy's bytes, joules and milliseconds went."""
    assert results.fabric is not None
    split = {s["policy"]: s for s in fabric_split(results.fabric, results.first)}
    mine = split.get(row["policy"])
    if mine is None or not mine["kinds"]:
        return
    shares = ", ".join(
        f"{_percent(cell['thz_bytes'], cell['thz_bytes'] + cell['wired_bytes'])} of "
        f"{kind_look(kind).label}"
        for kind, cell in mine["kinds"].items()
    )
    yield Reason("Bytes", f"THz carries {shares}; fibre carries the rest.")
    total = mine["total"]
    fibre, thz = (quantity(total[f"{name}_j"], "J", 3) for name in ("optical", "thz"))
    spent = f"fibre spends {fibre} and THz {thz} per iteration"
    yield Reason("Joules", f"{mine['energy']}: {spent}.")
    slowest, cell = max(mine["kinds"].items(), key=lambda item: float(item[1]["completion_ms"]))
    share = _percent(cell["completion_ms"], total["completion_ms"])
    yield Reason(
        "Time",
        f"{kind_look(slowest).label} takes most: {quantity(cell['completion_ms'], 'ms')}, {share} "
        "of all collectives.",
    )


def _percent(part: Any, whole: Any) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "0 %"


def _of_sweep(sweep: Sweep) -> Answer:
    metrics = () if sweep.break_evens else (MAKESPAN, ENERGY)
    least = {m: min(sweep.rows, key=lambda row: float(row[m.key])) for m in metrics}
    return Answer(
        sweep_headline(sweep),
        [_figure(row, m, f"least {m.title.lower()} of any point") for m, row in least.items()],
        list(sweep_findings(sweep, least)),
        assumptions(*swept_scenarios(sweep)),
    )
