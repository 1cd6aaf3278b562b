"""An answer as text: sentences with the verdict first, and two tables."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Final

from thzsync.answer.question import FIBRE, HYBRID, PIPELINED, THZ, TITLES, Answer, Row
from thzsync.assumptions import assumptions
from thzsync.display import Column, Interval, Table, counted, number, quantity, with_half
from thzsync.display.metrics import ENERGY, Metric, more_energy
from thzsync.display.table import Value
from thzsync.experiments.statistics import verdict
from thzsync.scenario import Scenario
from thzsync.scenario.changes import value_at

VERDICTS: Final = {True: "Yes", False: "No", None: "Undecided"}


def lines(answer: Answer) -> list[str]:
    """Verdict and energy, assumptions, sensitivity, next step: a line each."""
    return [
        f"{headline(answer)} {details(answer)}",
        assumed(answer.scenario),
        _sensitivity(answer),
        next_step(answer),
    ]


def headline(answer: Answer) -> str:
    """The verdict and its numbers, in a sentence."""
    hybrid, fibre = answer.hybrid, answer.candidate(FIBRE)
    means = (
        f"{VERDICTS[answer.pays]}: with fibre and THz together an iteration of "
        f"{answer.scenario.name} takes {_ms(hybrid['makespan_ms'])}, with the best "
        f"fibre-only schedule {_ms(fibre['makespan_ms'])}"
    )
    return f"{means}: {_difference(hybrid)}."


def details(answer: Answer) -> str:
    """Exposed communication, the other candidates, energy."""
    exposed = _exposed(answer.hybrid, answer.candidate(FIBRE))
    return " ".join((exposed, *_others(answer), *_energies(answer)))


def _difference(row: Row) -> str:
    """How an iteration compares with fibre only, as far as the seeds decide."""
    diff, half = row["diff_makespan_ms"], row["ci95_diff_makespan_ms"]
    more = "less" if diff < 0 else "more"
    if not isfinite(half):
        return f"{_ms(abs(diff), 3)} {more} in one seed, undecided"
    told = with_half(abs(diff), half, "ms")
    if verdict(diff, half) is None:
        return f"a difference of {told}, too close to call"
    share = 100 * abs(diff) / (row["makespan_ms"] - diff)
    return f"{told} ({number(share, 2)} %) {more}"


def _exposed(hybrid: Row, fibre: Row) -> str:
    before, after = fibre["exposed_ms"], hybrid["exposed_ms"]
    verb = "falls" if after < before else "rises"
    return f"Communication that no compute hides {verb} from {_ms(before)} to {_ms(after)}."


def _others(answer: Answer) -> Iterator[str]:
    for name, title in ((THZ, "THz alone"), (HYBRID, "The hybrid with the scenario's own methods")):
        for row in (row for row in answer.candidates if row["candidate"] == name):
            yield f"{title} takes {_ms(row['makespan_ms'])}: {_difference(row)}."


def _energies(answer: Answer) -> Iterator[str]:
    """What every candidate spends, by each energy that differs."""
    for metric in (ENERGY, *more_energy(answer.candidates)):
        yield _energy(answer, metric)


def _energy(answer: Answer, metric: Metric) -> str:
    spent = {name: answer.candidate(name)[metric.key] for name in (FIBRE, THZ, PIPELINED)}
    hybrid, fibre, thz = (
        quantity(spent[name], "J", 3, max(spent.values())) for name in (PIPELINED, FIBRE, THZ)
    )
    return (
        f"{metric.title} per iteration is {hybrid} with both, {fibre} with fibre only and "
        f"{thz} with THz alone."
    )


def assumed(scenario: Scenario) -> str:
    """What the answer rests on."""
    told = (f"{name}: {text}." for name, text in assumptions(scenario).items())
    return f"Assumptions. {' '.join(told)}"


def _sensitivity(answer: Answer) -> str:
    parts = [f"{row['check']}: {_difference(row)}" for row in answer.most_sensitive()]
    return (
        f"Against fibre only with one assumption changed, largest effect first: {'; '.join(parts)}."
    )


def next_step(answer: Answer) -> str:
    """The same question with half of the change of a number that matters most."""
    first, *others = answer.most_sensitive()
    row = next(row for row in (first, *others) if _is_number(row))
    key, value = next(iter(row["changes"].items()))
    half = _typed(key, (value_at(answer.scenario, key) + value) / 2)
    command = f'thzsync ask {answer.source} --set "{key}={half}"'
    change = "the first change" if row is first else f"the change “{row['check']}”"
    return f"Next: {command} asks the same with half of {change}."


def _is_number(check: Row) -> bool:
    return all(isinstance(value, (int, float)) for value in check["changes"].values())


def _typed(key: str, value: float) -> str:
    """A value as a user would type it."""
    return f"{value / 1e9:g} Gbps" if key.endswith("_bps") else f"{value:g}"


def _ms(value: float, digits: int = 4) -> str:
    return quantity(value, "ms", digits)


def candidates_table(answer: Answer) -> Table:
    """What every candidate reached."""
    energies = (ENERGY, *more_energy(answer.candidates))
    columns = (
        Column("Candidate", left=True),
        Column("Iteration time", "ms"),
        Column("Against fibre only", "ms", priority=1),
        Column("Exposed", "ms", priority=2),
        *(Column(metric.short, metric.unit, priority=1) for metric in energies),
    )
    metrics = ["makespan_ms", "diff_makespan_ms", "exposed_ms", *(m.key for m in energies)]
    first, last = answer.iterations // 2 + 1, answer.iterations
    window = f"Iteration {last}" if first == last else f"Means of iterations {first} to {last}"
    caption = f"{window}, ± 95 % over {counted(len(answer.seeds), 'seed')}."
    if answer.scenario.energy.thz.idle_w:
        caption += " The floor of the fibre-only candidate has no RF chains."
    rows: list[list[Value]] = [
        [TITLES[row["candidate"]], *(_interval(row, metric) for metric in metrics)]
        for row in answer.candidates
    ]
    return Table("Candidates", columns, rows, caption, paired=True)


def checks_table(answer: Answer) -> Table:
    """How the pipelined hybrid compares with fibre only when one assumption changes."""
    columns = (
        Column("Assumption changed", left=True),
        Column("Against fibre only", "ms"),
        Column("Does the overlay pay?", left=True),
    )
    judged: list[list[Value]] = [
        [row["check"], _interval(row, "diff_makespan_ms"), _verdict(row)]
        for row in (answer.hybrid | {"check": "none"}, *answer.most_sensitive())
    ]
    caption = (
        "Iteration time of the pipelined hybrid minus that of the best fibre-only schedule in the "
        "same seeds, ± 95 %; below 0 the hybrid is faster. The check that moves it most is first."
    )
    return Table("One assumption changed", columns, judged, caption)


def _interval(row: Row, metric: str) -> Interval:
    return Interval(row[metric], row[f"ci95_{metric}"], metric in row.get("best", ()))


def _verdict(row: Row) -> str:
    diff, half = row["diff_makespan_ms"], row["ci95_diff_makespan_ms"]
    return VERDICTS[verdict(-diff, half)] if isfinite(half) else "Undecided, one seed"
