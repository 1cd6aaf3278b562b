"""The tables of results, each described once: for the terminal, the page and Markdown alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from thzsync.display import Column, Interval, Table, number, signed
from thzsync.display.numbers import DASH, MINUS
from thzsync.display.table import Value
from thzsync.report.deviation import deviation_pct, deviation_text, deviation_tone
from thzsync.report.kinds import kind_look
from thzsync.report.labels import METHOD_LABELS, POLICY_LABELS, label, styles
from thzsync.report.metrics import COMPLETION, ENERGY, METRICS, Metric
from thzsync.report.source import Row

QUICK: Final = "Quick look: fewer seeds, sizes or iterations than in the paper."


def marked(table: Table, quick: bool) -> Table:
    """The table; if it comes from a quick reproduction, its caption says so."""
    if not quick:
        return table
    return replace(table, caption=f"{QUICK} {table.caption}".rstrip())


def policies(rows: Sequence[Row], caption: str = "") -> Table:
    """Every policy's means beside the published ones."""
    marks = styles(POLICY_LABELS, [row["policy"] for row in rows])
    columns = [Column("Policy", key="policy", left=True)]
    for rank, metric in enumerate(METRICS):
        columns += beside_paper(metric, rank)
    columns += [
        *felt_columns(),
        Column("on THz", key="thz_share", show=_share, priority=21),
        Column("regret", key="regret", show=_signed(1, " %"), priority=19),
    ]
    return Table(
        "Policies on the training trace",
        tuple(columns),
        [
            [
                label(POLICY_LABELS, row["policy"]),
                *(cell for metric in METRICS for cell in _triple(row, metric)),
                *felt(row),
                row.get("thz_share"),
                row.get("oracle_gap_pct"),
            ]
            for row in rows
        ],
        caption,
        [mark["style"] for mark in marks],
    )


def weights(rows: Iterable[Row]) -> Table:
    """The operating point at each pair of reward weights."""
    columns = [Column("Time / energy weight", left=True)]
    for rank, metric in enumerate((COMPLETION, ENERGY)):
        # Neither end of a trade-off is better than the other.
        columns += beside_paper(metric, rank, judged=False)
    columns += felt_columns()
    return Table(
        "The reward's weights, published and ours",
        tuple(columns),
        [
            [
                f"{row['time_weight']:g} / {row['energy_weight']:g}",
                *_triple(row, COMPLETION),
                *_triple(row, ENERGY),
                *felt(row),
            ]
            for row in rows
        ],
    )


def beyond(rows: Iterable[Row]) -> Table:
    """The plane of delay and energy, point by point."""
    columns = (
        Column("Mechanisms", left=True),
        Column("Policy", left=True),
        Column("Time / energy weight", left=True),
        Column("completion", "ms", show=digits(4)),
        Column("± completion", "ms", show=digits(2)),
        Column("energy", "J", show=digits(4)),
        Column("± energy", "J", show=digits(2)),
        Column("makespan", "ms", show=digits(4)),
        Column("exposed", "ms", show=digits(4)),
    )
    values = (
        "completion_ms", "ci95_completion_ms", "energy_j", "ci95_energy_j", "makespan_ms",
        "exposed_ms",
    )  # fmt: skip
    return Table(
        "Delay and energy: published, the paper's mechanisms under our coordinator, and ours",
        columns,
        [
            [
                row["config"],
                label(POLICY_LABELS, row["policy"]),
                "" if row["time_weight"] is None
                else f"{row['time_weight']:g} / {row['energy_weight']:g}",
                *(row[key] for key in values),
            ]
            for row in rows
        ],
    )  # fmt: skip


def synthesis(rows: Iterable[Row], title: str = "Published and ours", caption: str = "") -> Table:
    """Completion times of single collectives beside the published ones and the lower bound."""
    columns = (
        Column("Collective", left=True),
        Column("Method", left=True),
        Column("Racks"),
        Column("ours", "ms", show=digits(4)),
        Column("paper", "ms", show=published(4), priority=2),
        Column("deviation", show=deviation_text, tone=deviation_tone, priority=3),
        Column("× bound", show=_times, priority=4),
    )
    return Table(title, columns, [_synthesis_row(row) for row in rows], caption)


def _synthesis_row(row: Row) -> list[Value]:
    ours, paper, bound = row["mean_ms"], row.get("paper_ms"), row.get("bound_ms")
    return [
        setting(row["collective"], row["stragglers"]),
        label(METHOD_LABELS, row["method"]),
        row["racks"],
        Interval(ours, row.get("ci95_ms")),
        paper,
        deviation_pct(ours, paper),
        ours / bound if bound else None,
    ]


def ablations(rows: Iterable[Row], caption: str = "") -> Table:
    """How much slower the proposed methods are without one of their parts."""
    columns = (
        Column("12 racks", left=True),
        Column("Without", left=True),
        Column("ours", "%", show=_signed(1)),
        Column("paper, four settings", "%", priority=1),
    )
    body: list[list[Value]] = [
        [
            setting(row["collective"], row["stragglers"]),
            label(METHOD_LABELS, row["method"]),
            row["increase_pct"],
            _span(row.get("paper_least_pct"), row.get("paper_most_pct")),
        ]
        for row in rows
    ]
    return Table("What each part of Proposed is worth", columns, body, caption)


def collectives(rows: Iterable[Row], caption: str = "") -> Table:
    """How long every collective type takes and how fast that is, by policy."""
    columns = (
        Column("Collective", left=True),
        Column("Policy", left=True),
        Column("Events"),
        Column("Completion", "ms", show=digits(4)),
        Column("algbw", "GB/s", show=digits(3)),
        Column("busbw", "GB/s", show=digits(3)),
    )
    body: list[list[Value]] = [
        [
            kind_look(row["kind"]).label,
            label(POLICY_LABELS, row["policy"]),
            row["events"],
            *(mean(row, key) for key in ("completion_ms", "algbw_gb_s", "busbw_gb_s")),
        ]
        for row in rows
    ]
    return Table("Bandwidth by collective", columns, body, caption)


def gains(rows: Iterable[Row]) -> Table:
    """By how much THz-SynC completes earlier than each rival."""
    columns = (
        Column("THz-SynC is faster than", left=True),
        Column("ours", "%", show=digits(3)),
        Column("paper", "%", show=published(3)),
        Column("shorter iteration", "%", show=digits(3), priority=1),
        Column("less exposed", "%", show=digits(3), priority=2),
    )
    body: list[list[Value]] = [
        [
            label(POLICY_LABELS, row["policy"]),
            mean(row, "gain_pct"),
            row["paper_pct"],
            mean(row, "makespan_gain_pct"),
            mean(row, "exposed_gain_pct"),
        ]
        for row in rows
    ]
    return Table("Completion time saved", columns, body)


def claims(verdicts: Iterable[tuple[str, bool | None]], seeds: int) -> Table:
    """What the paper's text says of THz-SynC, and whether it holds here."""
    columns = (Column("claim", left=True), Column("verdict", left=True))
    words = {True: "holds", False: "does not hold", None: undecided(seeds)}
    body = [[claim, words[holds]] for claim, holds in verdicts]
    return Table("What the paper's text claims of THz-SynC, paired over seeds", columns, body)


def undecided(seeds: int) -> str:
    """Why nothing can be said of a difference."""
    return "undecided, one seed" if seeds == 1 else "too close to call"


def ladder(document: Row) -> Table:
    """Every learner from the paper's letter to ours; a change is paired with the rung below."""
    columns = (
        Column("Policy", left=True),
        Column("Rung", left=True),
        Column("Completion", "ms", show=digits(4)),
        Column("change", "ms", show=signed, priority=4),
        Column("Energy", "J", show=digits(4), priority=1),
        Column("Reward", show=digits(3)),
        Column("change", show=signed, priority=5),
        Column("first iteration", "ms", show=digits(4), priority=3),
        Column("settled after", "iterations", show=digits(2), priority=2),
        *felt_columns(),
    )
    seeds, first = len(document["seeds"]), document["first_iteration"] + 1
    spread = f", ± 95 %, {seeds} paired seeds" if seeds > 1 else ", 1 seed"
    caption = (
        f"Means from iteration {first} on{spread}. A change is against the rung "
        "before. Settled: within 5 % of the last five iterations' reward."
    )
    body = [_rung(row, row["rung"] == document["rungs"][0]) for row in document["rows"]]
    return Table("From the paper's letter to ours", columns, body, caption)


def letter(document: Row) -> Table:
    """The learners as the paper describes them, beside what it reports."""
    columns = [Column("To the letter", key="policy", left=True)]
    for rank, metric in enumerate(METRICS):
        columns += beside_paper(metric, rank)
    lowest = [row for row in document["rows"] if row["rung"] == document["rungs"][0]]
    body: list[list[Value]] = [
        [
            label(POLICY_LABELS, row["policy"]),
            *(cell for metric in METRICS for cell in _triple(row, metric)),
            *felt(row),
        ]
        for row in lowest
    ]
    seeds = len(document["seeds"])
    caption = "The paper's coordinator on our floor, " + (
        f"± 95 % over {seeds} seeds." if seeds > 1 else "1 seed."
    )
    return Table("To the letter", (*columns, *felt_columns()), body, caption)


def readings(document: Row) -> Table:
    """How near sets of readings come to all published numbers at once."""
    columns = (
        Column("Readings other than our defaults", left=True),
        Column("fit", left=True),
        Column("mean deviation", "%", show=digits(3)),
    )
    body: list[list[Value]] = [
        [
            "; ".join(row["readings"]) or "none",
            f"{row['within']} of {row['count']}",
            row["deviation_pct"],
        ]
        for row in document["rows"]
    ]
    caption = (
        f"Our defaults, and of {document['static_sets']} sets the nearest on static policies and "
        "single collectives, on seeds that no figure uses. Fit: within 15 %, an ablation with all "
        "four increases in the published range."
    )
    return Table("Readings and the published numbers", columns, body, caption)


def reading_numbers(document: Row) -> Table:
    """Every published number under our defaults and under the nearest readings."""
    columns = (
        Column("Figure", left=True),
        Column("Series", left=True),
        Column("Setting", left=True),
        Column("Metric", left=True),
        Column("paper"),
        Column("defaults"),
        Column("fits", left=True),
        Column("nearest set"),
        Column("fits", left=True),
    )
    body: list[list[Value]] = [
        [
            *(row[key] for key in ("figure", "series", "setting", "metric")),
            _several(row["paper"], 4),
            *_judged(row, "ours"),
            *_judged(row, "nearest"),
        ]
        for row in document["numbers"]
    ]
    caption = "Times in ms, energies in J, increases in % (no channel, equal power: four settings)."
    return Table("Every published number", columns, body, caption)


def _judged(row: Row, name: str) -> tuple[str, str]:
    return _several(row[name], 4), "yes" if row[f"{name}_fits"] else "no"


def _several(value: Any, count: int) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(published(count - 1)(x) for x in value)
    return published(count)(value)


def _rung(row: Row, lowest: bool) -> list[Value]:
    return [
        label(POLICY_LABELS, row["policy"]) if lowest else "",
        row["rung"],
        mean(row, "completion_ms"),
        None if lowest else mean(row, "diff_completion_ms"),
        mean(row, "energy_j"),
        mean(row, "reward"),
        None if lowest else mean(row, "diff_reward"),
        mean(row, "first_completion_ms"),
        mean(row, "settled_after"),
        *felt(row),
    ]


def choices(chosen: dict[str, Row]) -> Table:
    """The best fixed choice per collective type in hindsight."""
    columns = (
        Column("Collective", left=True),
        Column("on THz", show="{:.1%}".format),
        Column("power", show="{:.0%}".format),
    )
    body: list[list[Value]] = [
        [kind_look(kind).label, choice["thz_share"], choice["power"]]
        for kind, choice in chosen.items()
    ]
    return Table("The best fixed choice in hindsight", columns, body)


def regrets(document: Row) -> Table:
    """Every policy's distance from the best fixed choice: at the end, and from the first event."""
    columns = (
        Column("Policy", left=True),
        Column("cost above the oracle", show=_signed(1, " %")),
        Column("from the first iteration on", "%", show=signed, priority=1),
        Column("first iteration", "ms", show=digits(4), priority=2),
        Column("last five", "ms", show=digits(4), priority=3),
        Column("first above last", "%", show=signed, priority=4),
    )
    gaps = {row["policy"]: row["oracle_gap_pct"] for row in document["rows"]}
    whole = {row["policy"]: row for row in document.get("regrets", ())}
    keys = ("regret_pct", "first_completion_ms", "final_completion_ms", "first_above_final_pct")
    body: list[list[Value]] = [
        [
            label(POLICY_LABELS, policy),
            gaps.get(policy),
            *(mean(whole.get(policy, {}), key) for key in keys),
        ]
        for policy in dict.fromkeys((*gaps, *whole))
    ]
    return Table("Distance from the best fixed choice", columns, body)


def policy_keys(paper: bool = True, deviation: bool = True) -> list[str]:
    """Columns of `policies` by key: the policy, and ours with what was published if wanted."""
    keys = ["policy"]
    for metric in METRICS:
        keys.append(metric.key)
        keys += [f"paper_{metric.key}"] if paper else []
        keys += [f"deviation_{metric.key}"] if deviation else []
    return keys


def felt_columns() -> list[Column]:
    """The time that users feel: the iteration, and what of it compute does not hide."""
    return [
        Column("Makespan", "ms", key="makespan_ms", show=digits(4), priority=20),
        Column("Exposed", "ms", key="exposed_ms", show=digits(4), priority=20),
    ]


def felt(row: Row) -> list[Value]:
    """The cells of `felt_columns`."""
    return [mean(row, "makespan_ms"), mean(row, "exposed_ms")]


def beside_paper(metric: Metric, rank: int, judged: bool = True) -> list[Column]:
    """Ours, the paper's and the deviation, under one heading."""
    key, unit, group = metric.key, metric.unit, metric.short
    better = metric.better if judged else ""
    ours = Column("ours", unit, key, show=digits(metric.digits), better=better, group=group)
    paper = Column("paper", unit, f"paper_{key}", show=published(4), group=group, priority=5 + rank)
    deviation = Column(
        "deviation",
        key=f"deviation_{key}",
        show=deviation_text,
        group=group,
        tone=deviation_tone,
        priority=10 + rank,
    )
    return [ours, paper, deviation]


def mean(row: Row, key: str) -> Interval:
    """A mean of a row with the half-width that stands beside it."""
    return Interval(row.get(key), row.get(f"ci95_{key}"))


def setting(collective: str, stragglers: bool) -> str:
    """A collective, and whether some racks are late."""
    return kind_look(collective).label + (", late racks" if stragglers else "")


def digits(count: int) -> Callable[[Any], str]:
    """Numbers with exactly so many digits."""
    return lambda value: number(None if value is None else float(value), count, pad=True)


def published(count: int) -> Callable[[Any], str]:
    """With the digits that the paper gives, not padded to ours."""
    return lambda value: number(None if value is None else float(value), count)


def _triple(row: Row, metric: Metric) -> tuple[Value, ...]:
    paper = row.get(f"paper_{metric.key}")
    return mean(row, metric.key), paper, deviation_pct(row.get(metric.key), paper)


def _share(value: float | None) -> str:
    return DASH if value is None else f"{100 * value:.0f} %"


def _times(value: float | None) -> str:
    return DASH if value is None else f"{value:.2f}"


def _signed(decimals: int, unit: str = "") -> Callable[[Any], str]:
    return lambda value: (
        DASH if value is None else f"{value:+.{decimals}f}{unit}".replace("-", MINUS)
    )


def _span(least: Any, most: Any) -> str:
    if least is None and most is None:
        return DASH
    return f"{published(4)(least)} to {published(4)(most)}"
