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
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from thzsync.display import Table, markdown_table
from thzsync.display.columns import digits
from thzsync.errors import ThzSyncError
from thzsync.files import write_atomically
from thzsync.paper import letter_tables, synthesis_tables, tables
from thzsync.report.tables import QUICK, speed_table

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

_MARKER: Final = re.compile(r"^<!-- (?:table:(?P<name>[\w-]+)|/table) -->$", re.MULTILINE)


BESIDE_PAPER: Final = (*tables.policy_keys(deviation=False), "makespan_ms", "exposed_ms")
"""Columns of narrow tables."""


def _policies(document: Document, *columns: str) -> Table:
    first, seeds = int(document["first_iteration"]) + 1, len(document["seeds"])
    window = f"Means per iteration from iteration {first} on, ± 95 %, {seeds} paired seeds."
    return tables.policies(document["rows"], window).only(*columns)


def _oracle(document: Document) -> list[Table | str]:
    best, text = document["oracle"], digits(4)
    reach = (
        f"Together they reach {text(best['completion_ms'])} ms, {text(best['energy_j'])} J of "
        "transmission energy and "
        f"a reward of {digits(3)(best['reward'])}."
    )
    if best.get("exposed_ms") is not None:
        reach += (
            f" An iteration then takes {text(best['makespan_ms'])} ms, of which compute does not "
            f"hide {text(best['exposed_ms'])} ms."
        )
    if (single := best.get("per_event")) is not None:
        reach += (
            f" In one iteration they score {text(single['fixed'])}; with eight candidates "
            f"tried for every single event, {text(single['lookahead'])} was possible."
        )
    return [tables.choices(best["choices"]), reach, tables.regrets(document)]


def _synthesis(document: Document, *methods: str) -> Table:
    """Every published completion time beside ours, of some methods or all."""
    published = (row for row in document["rows"] if row["paper_ms"] is not None)
    return synthesis_tables.synthesis(r for r in published if not methods or r["method"] in methods)


def _provenance(document: Document) -> str:
    made = ", ".join(f"{name} {value}" for name, value in sorted(document["environment"].items()))
    return f"Scenario `{document['scenario']}` ({document['scenario_sha256'][:12]}); {made}."


Block = Callable[[Document], Sequence[Table | str]]
BLOCKS: Final[dict[str, tuple[str, Block]]] = {
    "headline": ("fabric", lambda d: [_policies(d, *BESIDE_PAPER)]),
    "fabric": (
        "fabric",
        lambda d: [_policies(d, *tables.policy_keys(), "makespan_ms", "exposed_ms", "thz_share")],
    ),
    "gains": ("fabric", lambda d: [tables.gains(d["gains"])]),
    "oracle": ("fabric", _oracle),
    "provenance": ("fabric", lambda d: [_provenance(d)]),
    "synthesis": ("synthesis", lambda d: [_synthesis(d)]),
    "proposed": ("synthesis", lambda d: [_synthesis(d, "proposed")]),
    "synthesis-all": ("synthesis", lambda d: [synthesis_tables.synthesis(d["rows"])]),
    "ablations": ("synthesis", lambda d: [synthesis_tables.ablations(d["ablations"])]),
    "weights": ("weights", lambda d: [tables.weights(d["rows"])]),
    "ladder": ("ladder", lambda d: [letter_tables.ladder(d)]),
    "letter": ("ladder", lambda d: [letter_tables.letter(d).only(*BESIDE_PAPER)]),
    "beyond": ("beyond", lambda d: [tables.beyond(d["rows"])]),
    "readings": (
        "readings",
        lambda d: [letter_tables.readings(d), letter_tables.reading_numbers(d)],
    ),
    "speed": ("bench", lambda d: [speed_table(d)]),
}
"""What a block is called, the part that it needs, and what it holds."""


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
    page, done = "", 0
    filled: list[str] = []
    for opening, closing in _blocks(text, source):
        part, make = BLOCKS[opening["name"]]
        if part in parts:
            made = [b if isinstance(b, str) else markdown_table(b) for b in make(parts[part])]
            made += [QUICK] if parts[part].get("quick") else []
            page += text[done : opening.end()] + "\n\n" + "\n\n".join(made) + "\n\n"
            done = closing.start()
            filled.append(opening["name"])
    return page + text[done:], filled


def _blocks(text: str, source: str) -> Iterator[tuple[re.Match[str], re.Match[str]]]:
    """The markers around every block."""
    opening: re.Match[str] | None = None
    for marker in _MARKER.finditer(text):
        place = f"{source}:{text.count(chr(10), 0, marker.start()) + 1}"
        if (opening is None) == (marker["name"] is None):
            raise ThzSyncError(
                f"{place}: found {marker[0]}; close every table block with <!-- /table -->"
            )
        if opening is not None:
            yield opening, marker
            opening = None
        elif marker["name"] in BLOCKS:
            opening = marker
        else:
            known = ", ".join(BLOCKS)
            raise ThzSyncError(f"{place}: no table {marker['name']!r}; use one of {known}")
    if opening is not None:
        raise ThzSyncError(
            f"{source}: block {opening['name']!r} is never closed; add <!-- /table -->"
        )


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


if __name__ == "__main__":
    sys.exit(main())
