"""The headline tables: ours, published, deviation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from thzsync.display import number
from thzsync.report.labels import (
    KIND_LABELS,
    METHOD_LABELS,
    POLICY_LABELS,
    label,
    styles,
)
from thzsync.report.source import Results, Row

NEAR_PCT: Final = 5.0
FAIR_PCT: Final = 15.0


@dataclass(frozen=True)
class Cell:
    """One cell: text, a smaller note behind it, a tone, or a series' mark in front."""

    text: str
    note: str = ""
    tone: str = ""
    """``near``, ``fair`` or ``far`` for a deviation; ``best`` for a column's winner."""
    style: int | None = None
    """Style index of a series, shown as its mark."""


@dataclass(frozen=True)
class Table:
    """A titled table; every column has a heading and the number of columns it spans."""

    title: str
    caption: str
    groups: tuple[tuple[str, int], ...]
    columns: tuple[str, ...]
    rows: list[list[Cell]]
    section: str = "headline"
    """The section of the report that it stands in."""


def headline_tables(results: Results) -> list[Table]:
    """Every table that the results can fill."""
    tables = []
    if results.rows:
        tables.append(_policy_table(results))
    if results.synthesis:
        tables.append(_synthesis_table(results.synthesis))
    if results.ablations:
        tables.append(_ablation_table(results.ablations))
    if results.weights:
        tables.append(_weights_table(results.weights))
    return tables


def deviation_pct(ours: Any, published: Any) -> float | None:
    """How far ours is from the published value, relative to its size [%]."""
    if ours is None or not published:
        return None
    return float(100 * (ours - published) / abs(published))


def deviation_cell(ours: Any, published: Any) -> Cell:
    """A deviation with its tone; a dash where nothing was published."""
    percent = deviation_pct(ours, published)
    if percent is None:
        return Cell("–")
    size = abs(percent)
    tone = "near" if size <= NEAR_PCT else "fair" if size <= FAIR_PCT else "far"
    sign = "+" if percent > 0 else "\N{MINUS SIGN}" if percent < 0 else ""
    return Cell(f"{sign}{size:.1f} %", tone=tone)


def _value(row: Row, key: str, digits: int = 4, best: bool = False) -> Cell:
    value = number(_float(row.get(key)), digits, pad=True)
    return Cell(value, _half(row.get(f"ci95_{key}")), "best" if best else "")


def _triple(row: Row, key: str, digits: int = 4, best: bool = False) -> list[Cell]:
    paper = row.get(f"paper_{key}")
    return [
        _value(row, key, digits, best),
        Cell(number(_float(paper))),
        deviation_cell(row.get(key), paper),
    ]


def _policy_table(results: Results) -> Table:
    rows = results.rows
    marks = {s["key"]: s for s in styles(POLICY_LABELS, [r["policy"] for r in rows])}
    published = any(row.get("paper_completion_ms") is not None for row in rows)
    metrics = (("completion_ms", min, 4), ("energy_j", min, 4), ("reward", max, 3))
    best = {key: pick(row[key] for row in rows) for key, pick, _ in metrics}
    several = len(rows) > 1
    body = []
    for row in rows:
        mark = marks[row["policy"]]
        cells = [Cell(mark["label"], style=mark["style"])]
        for key, _, digits in metrics:
            wins = several and row[key] == best[key]
            made = (
                _triple(row, key, digits, wins) if published else [_value(row, key, digits, wins)]
            )
            cells += made
        cells += [_value(row, "makespan_ms"), Cell(f"{100 * row['thz_share']:.0f} %")]
        body.append(cells)
    names = ("Completion [ms]", "Energy [J]", "Reward")
    last = ("Makespan [ms]", "on THz")
    if not published:
        groups: tuple[tuple[str, int], ...] = ()
        columns: tuple[str, ...] = ("Policy", *names, *last)
    else:
        groups = (("", 1), *((name, 3) for name in names), ("", 2))
        columns = ("Policy", *("ours", "paper", "deviation") * 3, *last)
    return Table("Policies on the training trace", _window(results), groups, columns, body)


def _window(results: Results) -> str:
    comparison = results.fabric
    if comparison is None:
        return ""
    numbers = comparison.iterations["iteration"].to_numpy()
    first, last = max(results.first, int(numbers.min())) + 1, int(numbers.max()) + 1
    seeds = len(comparison.seeds)
    text = f"Per-iteration means over iterations {first}–{last}"
    if first == last:
        text = f"Iteration {last}"
    return (
        f"{text}; ± is the 95 % interval over {seeds} seeds." if seeds > 1 else f"{text}, 1 seed."
    )


def _synthesis_table(rows: Sequence[Row]) -> Table:
    largest = max(row["racks"] for row in rows)
    shown = [r for r in rows if r.get("paper_ms") is not None or r["racks"] == largest]
    body = [
        [
            Cell(label(KIND_LABELS, row["collective"])),
            Cell(label(METHOD_LABELS, row["method"])),
            Cell(str(row["racks"])),
            Cell("yes" if row["stragglers"] else "no"),
            Cell(number(_float(row["mean_ms"]), pad=True), _half(row.get("ci95_ms"))),
            Cell(number(_float(row.get("paper_ms")))),
            deviation_cell(row["mean_ms"], row.get("paper_ms")),
            Cell(_times(row["mean_ms"], row.get("bound_ms"))),
        ]
        for row in shown
    ]
    columns = (
        "Collective",
        "Method",
        "Racks",
        "Stragglers",
        "ours [ms]",
        "paper [ms]",
        "deviation",
        "× lower bound",
    )
    caption = f"Published settings, and all methods at {largest} racks."
    return Table("Published and ours", caption, (), columns, body, "synthesis")


def _ablation_table(rows: Sequence[Row]) -> Table:
    body = [
        [
            Cell(label(METHOD_LABELS, row["method"])),
            Cell(label(KIND_LABELS, row["collective"])),
            Cell("yes" if row["stragglers"] else "no"),
            Cell(f"{row['increase_pct']:.1f} %".replace("-", "\N{MINUS SIGN}")),
            Cell(_range(row.get("paper_least_pct"), row.get("paper_most_pct"))),
        ]
        for row in rows
    ]
    columns = ("Ablation", "Collective", "Stragglers", "increase, ours", "increase, paper")
    caption = "How much slower the proposed synthesis becomes without one of its parts."
    return Table("Ablations", caption, (), columns, body, "synthesis")


def _range(least: Any, most: Any) -> str:
    return "–" if least is None or most is None else f"{least:g}–{most:g} %"


def _weights_table(rows: Iterable[Row]) -> Table:
    body = [
        [
            Cell(f"{row['time_weight']:g} / {row['energy_weight']:g}"),
            *_triple(row, "completion_ms"),
            *_triple(row, "energy_j"),
        ]
        for row in rows
    ]
    groups = (("", 1), ("Completion [ms]", 3), ("Energy [J]", 3))
    columns = ("Weights time / energy", *("ours", "paper", "deviation") * 2)
    caption = "Means over the last iterations."
    return Table("Published and ours", caption, groups, columns, body, "weights")


def _half(value: Any) -> str:
    return "" if number(value) == "–" else f"± {number(float(value), 2, pad=True)}"


def _times(value: float, bound: Any) -> str:
    return f"{value / bound:.2f}" if bound else "–"


def _float(value: Any) -> float | None:
    return None if value is None else float(value)
