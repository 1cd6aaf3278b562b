"""Tables of a reproduction, written into Markdown pages between markers.

``python -m thzsync.report.markdown RESULTS PAGE...`` rewrites every block

    <!-- table:NAME -->
    ...
    <!-- /table -->

from the JSON files of a folder that ``thzsync reproduce all --out RESULTS`` wrote. A block whose
part is not in the folder stays as it is. ``speed`` comes from ``RESULTS/bench.json``, which is
the output of ``thzsync bench all --json``.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from thzsync.display import Table, markdown_table
from thzsync.display.columns import digits
from thzsync.errors import ThzSyncError
from thzsync.files import write_atomically
from thzsync.paper import letter_tables, synthesis_tables, tables
from thzsync.report.speed import speed_table
from thzsync.report.tables import QUICK

Document = dict[str, Any]

PARTS: Final = {
    "fabric": "fabric/compare.json",
    "synthesis": "synthesis/synthesis.json",
    "weights": "weights/weights.json",
    "ladder": "ladder/ladder.json",
    "beyond": "beyond/beyond.json",
    "readings": "readings/readings.json",
    "bench": "bench.json",
}
"""Where a reproduction keeps its parts."""

_MARKER: Final = re.compile(r"^<!-- (table:(?P<name>[\w-]+)|/table) -->$")


def headline(document: Document) -> str:
    """Every policy beside the paper, in few columns."""
    keys = tables.policy_keys(deviation=False)
    return markdown_table(_policies(document).only(*keys, "makespan_ms", "exposed_ms"))


def fabric(document: Document) -> str:
    """Every policy beside the paper, with deviations."""
    keys = tables.policy_keys()
    return markdown_table(_policies(document).only(*keys, "makespan_ms", "exposed_ms", "thz_share"))


def _policies(document: Document) -> Table:
    return tables.policies(document["rows"], _window(document))


def gains(document: Document) -> str:
    """By how much THz-SynC completes earlier than each rival."""
    return markdown_table(tables.gains(document["gains"]))


def oracle(document: Document) -> str:
    """The best fixed choice per collective type in hindsight, and each policy's distance."""
    best = document["oracle"]
    return "\n\n".join(
        (
            markdown_table(tables.choices(best["choices"])),
            _reach(best),
            markdown_table(tables.regrets(document)),
        )
    )


def _reach(best: Document) -> str:
    text = digits(4)
    reach = (
        f"Together they reach {text(best['completion_ms'])} ms, {text(best['energy_j'])} J and "
        f"a reward of {digits(3)(best['reward'])}."
    )
    if best.get("exposed_ms") is not None:
        reach += (
            f" An iteration then takes {text(best['makespan_ms'])} ms, of which compute does not "
            f"hide {text(best['exposed_ms'])} ms."
        )
    single = best.get("per_event")
    if single is not None:
        reach += (
            f" In one iteration they score {text(single['fixed'])}; with eight candidates "
            f"tried for every single event, {text(single['lookahead'])} was possible."
        )
    return reach


def synthesis(document: Document) -> str:
    """Every published completion time beside ours."""
    rows = (row for row in document["rows"] if row["paper_ms"] is not None)
    return markdown_table(synthesis_tables.synthesis(rows))


def proposed(document: Document) -> str:
    """The published completion times of the proposed methods."""
    rows = (r for r in document["rows"] if r["paper_ms"] is not None and r["method"] == "proposed")
    return markdown_table(synthesis_tables.synthesis(rows))


def synthesis_all(document: Document) -> str:
    """All methods at all sizes."""
    return markdown_table(synthesis_tables.synthesis(document["rows"]))


def ablations(document: Document) -> str:
    """How much slower the proposed methods are without one of their parts."""
    return markdown_table(synthesis_tables.ablations(document["ablations"]))


def weights(document: Document) -> str:
    """The operating point at each pair of reward weights."""
    return markdown_table(tables.weights(document["rows"]))


def ladder(document: Document) -> str:
    """Every learner from the paper's letter to ours."""
    return markdown_table(letter_tables.ladder(document))


def beyond(document: Document) -> str:
    """The plane of delay and energy, point by point."""
    return markdown_table(tables.beyond(document["rows"]))


def readings(document: Document) -> str:
    """Sets of readings, and every published number under the nearest."""
    both = (letter_tables.readings(document), letter_tables.reading_numbers(document))
    return "\n\n".join(markdown_table(table) for table in both)


def letter(document: Document) -> str:
    """The learners as the paper describes them, in few columns."""
    keys = [*tables.policy_keys(deviation=False), "makespan_ms", "exposed_ms"]
    return markdown_table(letter_tables.letter(document).only(*keys))


def speed(document: Document) -> str:
    """Measured speed beside the budgets; what was not measured is left out."""
    return markdown_table(speed_table(document))


def provenance(document: Document) -> str:
    """What the numbers were made with."""
    made = document["environment"]
    parts = ", ".join(f"{name} {value}" for name, value in sorted(made.items()))
    return f"Scenario `{document['scenario']}` ({document['scenario_sha256'][:12]}); {parts}."


BLOCKS: Final[dict[str, tuple[str, Callable[[Document], str]]]] = {
    "headline": ("fabric", headline),
    "fabric": ("fabric", fabric),
    "gains": ("fabric", gains),
    "oracle": ("fabric", oracle),
    "provenance": ("fabric", provenance),
    "synthesis": ("synthesis", synthesis),
    "proposed": ("synthesis", proposed),
    "synthesis-all": ("synthesis", synthesis_all),
    "ablations": ("synthesis", ablations),
    "weights": ("weights", weights),
    "ladder": ("ladder", ladder),
    "letter": ("ladder", letter),
    "beyond": ("beyond", beyond),
    "readings": ("readings", readings),
    "speed": ("bench", speed),
}
"""What a block is called, the part that it needs, and how it is made."""


def read_parts(folder: str | Path) -> dict[str, Document]:
    """The JSON documents that a results folder holds, by part."""
    root = Path(folder)
    found = {}
    for part, place in PARTS.items():
        path = root / place
        if not path.is_file():
            continue
        try:
            # An interval of one seed is not a number: it counts as missing.
            found[part] = json.loads(path.read_text("utf-8"), parse_constant=lambda _: None)
        except ValueError as error:
            raise ThzSyncError(f"{path}: not valid JSON ({error}); make it anew") from None
    if not found:
        raise ThzSyncError(
            f"{root}: found none of {', '.join(PARTS.values())}; "
            f"write them with `thzsync reproduce all --out {root}`"
        )
    return found


def fill(text: str, parts: dict[str, Document], source: str = "page") -> tuple[str, list[str]]:
    """The page with every block renewed that ``parts`` can fill, and the names of those blocks."""
    lines: list[str] = []
    filled: list[str] = []
    inside: str | None = None
    for position, line in enumerate(text.splitlines(), start=1):
        marker = _MARKER.match(line)
        if marker is None:
            if inside not in filled:
                lines.append(line)
            continue
        name = marker["name"]
        if (inside is None) == (name is None):
            raise ThzSyncError(
                f"{source}:{position}: found {line}; close every table block with <!-- /table -->"
            )
        lines.append(line)
        inside = name
        if name is None:
            continue
        if name not in BLOCKS:
            raise ThzSyncError(
                f"{source}:{position}: no table {name!r}; use one of {', '.join(BLOCKS)}"
            )
        part, make = BLOCKS[name]
        if part in parts:
            lines += ["", make(parts[part]), ""]
            lines += [QUICK, ""] if parts[part].get("quick") else []
            filled.append(name)
    if inside is not None:
        raise ThzSyncError(f"{source}: block {inside!r} is never closed; add <!-- /table -->")
    return "\n".join(lines) + "\n", filled


def main(arguments: Sequence[str] | None = None) -> int:
    """Fill the blocks of some pages; 0 is success, 2 a user's mistake."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if len(given) < 2:
            raise ThzSyncError("give a results folder and at least one Markdown page")
        parts = read_parts(given[0])
        for page in map(Path, given[1:]):
            if not page.is_file():
                raise ThzSyncError(f"{page}: no such page; name a Markdown file")
            text, filled = fill(page.read_text("utf-8"), parts, str(page))
            write_atomically(page, text.encode())
            print(f"{page}: filled {', '.join(filled) or 'nothing'}", file=sys.stderr)
    except ThzSyncError as error:
        print(f"thzsync: error: {error}", file=sys.stderr)
        return 2
    return 0


def _window(document: Document) -> str:
    first, seeds = int(document["first_iteration"]) + 1, len(document["seeds"])
    return f"Means per iteration from iteration {first} on, ± 95 %, {seeds} paired seeds."


if __name__ == "__main__":
    sys.exit(main())
