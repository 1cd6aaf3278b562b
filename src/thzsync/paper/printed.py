"""The tables that the command line prints of each figure's document."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from thzsync.display import Table
from thzsync.paper import letter_tables, synthesis_tables, tables
from thzsync.paper.figure import Row


def _synthesis(document: Row) -> list[Table]:
    title = f"Collective synthesis on one THz ring, means of {document['seeds']} seeds, ± 95 %"
    caption = "bound: no schedule can be faster; deviation: ours against the paper"
    return [
        synthesis_tables.synthesis(document["rows"], title, caption),
        synthesis_tables.ablations(document["ablations"], "slower than Proposed, 12 racks"),
    ]


def _fabric(document: Row) -> list[Table]:
    first, seeds = document["first_iteration"] + 1, len(document["seeds"])
    window = f"Means from iteration {first} on, ± 95 %, {seeds} paired seeds; {_oracle(document)}"
    keys = [*tables.policy_keys(deviation=False), "makespan_ms", "exposed_ms", "regret"]
    return [
        tables.policies(document["rows"], window).only(*keys),
        tables.choices(document["oracle"]["choices"]),
        tables.regrets(document),
        tables.gains(document["gains"]),
        tables.claims(document["claims"].items(), seeds),
    ]


def _oracle(document: Row) -> str:
    best = document["oracle"]
    text = (
        f"regret: reward below the best fixed choice per type in hindsight, which reaches "
        f"{best['completion_ms']:.0f} ms, {best['energy_j']:.2f} J, reward {best['reward']:.3f}"
    )
    single = best.get("per_event")
    if single is None:
        return text
    return text + (
        f"; in one iteration it scores {single['fixed']:.3f}, and deciding every event by its "
        f"true outcome {single['lookahead']:.3f}"
    )


PRINTED: Final[dict[str, Callable[[Row], list[Table]]]] = {
    "synthesis": _synthesis,
    "fabric": _fabric,
    "weights": lambda d: [tables.weights(d["rows"])],
    "beyond": lambda d: [
        tables.beyond(d["rows"]),
        tables.claims(d["claims"].items(), len(d["seeds"])),
    ],
    "ladder": lambda d: [letter_tables.ladder(d)],
    "readings": lambda d: [letter_tables.readings(d), letter_tables.reading_numbers(d)],
}
