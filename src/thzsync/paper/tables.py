"""Tables of policies on the training trace, beside what the paper reports.

``synthesis_tables`` has those of collectives alone, ``letter_tables`` those of the ladder and of
readings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from thzsync.display import Column, Table, signed
from thzsync.display.columns import (
    Row,
    digits,
    felt,
    felt_columns,
    mean,
    published,
    with_sign,
)
from thzsync.display.kinds import kind_look
from thzsync.display.labels import POLICY_LABELS, label, styles
from thzsync.display.metrics import COMPLETION, ENERGY, METRICS
from thzsync.display.numbers import DASH
from thzsync.display.table import Value
from thzsync.experiments.statistics import undecided
from thzsync.paper.deviation import beside_paper, triple


def policies(
    rows: Sequence[Row],
    caption: str = "",
    title: str = "Policies on the training trace",
    heading: str = "Policy",
    judged: bool = True,
) -> Table:
    """Every policy's means beside the published ones."""
    marks = styles(POLICY_LABELS, [row["policy"] for row in rows])
    columns = [Column(heading, key="policy", left=True)]
    for rank, metric in enumerate(METRICS):
        columns += beside_paper(metric, rank, judged)
    columns += [
        *felt_columns(),
        Column("on THz", key="thz_share", show=_share, priority=21),
        Column("regret", key="regret", show=with_sign(1, " %"), priority=19),
    ]
    return Table(
        title,
        tuple(columns),
        [
            [
                label(POLICY_LABELS, row["policy"]),
                *(cell for metric in METRICS for cell in triple(row, metric)),
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
                *triple(row, COMPLETION),
                *triple(row, ENERGY),
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
        Column("iteration time", "ms", key="makespan_ms", show=digits(4)),
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
        Column("cost above the oracle", show=with_sign(1, " %")),
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


def _share(value: float | None) -> str:
    return DASH if value is None else f"{100 * value:.0f} %"
