"""Tables of policies on the training trace, beside what the paper reports.

``synthesis_tables`` has those of collectives alone, ``letter_tables`` those of the ablation and of
interpretations.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from operator import itemgetter

from thzsync.display import Column, Table, signed
from thzsync.display.columns import Row, digits, felt_columns, published, with_sign
from thzsync.display.kinds import kind_look
from thzsync.display.labels import POLICY_LABELS, styles
from thzsync.display.metrics import COMPLETION, ENERGY, METRICS, more_energy
from thzsync.display.numbers import DASH
from thzsync.experiments.statistics import undecided
from thzsync.paper.deviation import Columns, beside_paper, policy_label, tabulate


def policies(
    rows: Sequence[Row],
    caption: str = "",
    title: str = "Policies on the training trace",
    heading: str = "Policy",
    judged: bool = True,
) -> Table:
    """Every policy's means beside the published ones."""
    marks = styles(POLICY_LABELS, [row["policy"] for row in rows])
    columns: Columns = [
        (Column(heading, key="policy", left=True), policy_label),
        *chain(*(beside_paper(metric, rank, judged) for rank, metric in enumerate(METRICS))),
        *(Column(m.short, m.unit, m.key, show=digits(m.digits)) for m in more_energy(rows)),
        *felt_columns(),
        Column("on THz", key="thz_share", show=_share, priority=21),
        (
            Column("regret", key="regret", show=with_sign(1, " %"), priority=19),
            lambda row: row.get("oracle_gap_pct"),
        ),
    ]
    return tabulate(title, rows, columns, caption, [mark["style"] for mark in marks])


def weights(rows: Iterable[Row]) -> Table:
    """The operating point at each pair of reward weights."""
    columns: Columns = [
        (Column("Time / energy weight", left=True), _weights),
        # Neither end of a trade-off is better than the other.
        *beside_paper(COMPLETION, 0, judged=False),
        *beside_paper(ENERGY, 1, judged=False),
        *felt_columns(),
    ]
    return tabulate("The reward's weights, published and ours", rows, columns)


def beyond(rows: Iterable[Row]) -> Table:
    """The plane of delay and energy, point by point."""
    columns: Columns = [
        Column("Mechanisms", key="config", left=True),
        (Column("Policy", left=True), policy_label),
        (Column("Time / energy weight", left=True), _weights),
        (Column("completion", "ms", show=digits(4)), itemgetter("completion_ms")),
        Column("± completion", "ms", "ci95_completion_ms", show=digits(2)),
        (Column("transmission", "J", show=digits(4)), itemgetter("energy_j")),
        Column("± transmission", "J", "ci95_energy_j", show=digits(2)),
        (Column("iteration time", "ms", show=digits(4)), itemgetter("makespan_ms")),
        (Column("exposed", "ms", show=digits(4)), itemgetter("exposed_ms")),
    ]
    title = "Delay and energy: published, the paper's mechanisms under our coordinator, and ours"
    return tabulate(title, rows, columns)


def gains(rows: Iterable[Row]) -> Table:
    """By how much THz-SynC completes earlier than each rival."""
    columns: Columns = [
        (Column("THz-SynC is faster than", left=True), policy_label),
        Column("ours", "%", "gain_pct", show=digits(3)),
        Column("paper", "%", "paper_pct", show=published(3)),
        Column("shorter iteration", "%", "makespan_gain_pct", show=digits(3), priority=1),
        Column("less exposed", "%", "exposed_gain_pct", show=digits(3), priority=2),
    ]
    return tabulate("Completion time saved", rows, columns)


def claims(verdicts: Iterable[tuple[str, bool | None]], seeds: int) -> Table:
    """What the paper's text says of THz-SynC, and whether it holds here."""
    columns = (Column("claim", left=True), Column("verdict", left=True))
    words = {True: "holds", False: "does not hold", None: undecided(seeds)}
    body = [[claim, words[holds]] for claim, holds in verdicts]
    return Table("What the paper's text claims of THz-SynC, paired over seeds", columns, body)


def choices(chosen: dict[str, Row]) -> Table:
    """The best fixed choice per collective type in hindsight."""
    columns: Columns = [
        (Column("Collective", left=True), lambda row: kind_look(row["kind"]).label),
        Column("on THz", key="thz_share", show="{:.1%}".format),
        Column("power", key="power", show="{:.0%}".format),
    ]
    rows = ({"kind": kind, **choice} for kind, choice in chosen.items())
    return tabulate("The best fixed choice in hindsight", rows, columns)


def regrets(document: Row) -> Table:
    """Every policy's distance from the best fixed choice: at the end, and from the first event."""
    found = {row["policy"]: {"gap": row["oracle_gap_pct"]} for row in document["rows"]}
    for row in document.get("regrets", ()):
        found[row["policy"]] = found.get(row["policy"], {}) | row
    columns: Columns = [
        (Column("Policy", left=True), policy_label),
        Column("cost above the oracle", key="gap", show=with_sign(1, " %")),
        Column("from the first iteration on", "%", "regret_pct", show=signed, priority=1),
        Column("first iteration", "ms", "first_completion_ms", show=digits(4), priority=2),
        Column("last five", "ms", "final_completion_ms", show=digits(4), priority=3),
        Column("first above last", "%", "first_above_final_pct", show=signed, priority=4),
    ]
    rows = ({**row, "policy": policy} for policy, row in found.items())
    return tabulate("Distance from the best fixed choice", rows, columns)


def policy_keys(paper: bool = True, deviation: bool = True) -> list[str]:
    """Columns of `policies` by key: the policy, and ours with what was published if wanted."""
    keys = ["policy"]
    for metric in METRICS:
        keys.append(metric.key)
        keys += [f"paper_{metric.key}"] if paper else []
        keys += [f"deviation_{metric.key}"] if deviation else []
    return keys


def _weights(row: Row) -> str:
    if row["time_weight"] is None:
        return ""
    return f"{row['time_weight']:g} / {row['energy_weight']:g}"


def _share(value: float | None) -> str:
    return DASH if value is None else f"{100 * value:.0f} %"
