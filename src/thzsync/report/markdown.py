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
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from thzsync.display import number
from thzsync.errors import ThzSyncError
from thzsync.files import write_atomically
from thzsync.report.headline import deviation_cell
from thzsync.report.labels import KIND_LABELS, METHOD_LABELS, POLICY_LABELS, label

Document = dict[str, Any]

PARTS: Final = {
    "fabric": "fabric/compare.json",
    "synthesis": "synthesis/synthesis.json",
    "weights": "weights/weights.json",
    "bench": "bench.json",
}
"""Where a reproduction keeps its parts."""

_METRICS: Final = (("completion_ms", 4), ("energy_j", 4), ("reward", 3))
_MARKER: Final = re.compile(r"^<!-- (table:(?P<name>[\w-]+)|/table) -->$")


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[object]], names: int = 1) -> str:
    """A table whose first columns are ``names`` and whose others stand on the right."""
    lines = [list(columns), [*["---"] * names, *["---:"] * (len(columns) - names)]]
    lines += [[str(cell).replace("|", r"\|") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def headline(document: Document) -> str:
    """Every policy beside the paper, in few columns."""
    rows = []
    for row in document["rows"]:
        cells = [label(POLICY_LABELS, row["policy"])]
        for metric, digits in _METRICS:
            cells += _beside_paper(row, metric, digits)[:2]
        rows.append(cells)
    columns = ("Policy", "Completion [ms]", "paper", "Energy [J]", "paper", "Reward", "paper")
    return f"{markdown_table(columns, rows)}\n\n{_window(document)}"


def fabric(document: Document) -> str:
    """Every policy beside the paper, with deviations."""
    rows = []
    for row in document["rows"]:
        cells = [label(POLICY_LABELS, row["policy"])]
        for metric, digits in _METRICS:
            cells += _beside_paper(row, metric, digits)
        rows.append([*cells, _mean(row, "makespan_ms"), f"{100 * row['thz_share']:.0f} %"])
    triple = ("paper", "deviation")
    columns = ("Policy", "Completion [ms]", *triple, "Energy [J]", *triple, "Reward", *triple)
    table = markdown_table((*columns, "Makespan [ms]", "on THz"), rows)
    return f"{table}\n\n{_window(document)}"


def gains(document: Document) -> str:
    """By how much THz-SynC completes earlier than each rival."""
    rows = [
        (
            label(POLICY_LABELS, row["policy"]),
            f"{_text(row['gain_pct'], 3)} {_half(row['ci95_gain_pct'])}".strip(),
            _published(row["paper_pct"], 3),
        )
        for row in document["gains"]
    ]
    return markdown_table(("THz-SynC is faster than", "ours [%]", "paper [%]"), rows)


def oracle(document: Document) -> str:
    """The best fixed choice per collective type in hindsight, and each policy's distance."""
    best = document["oracle"]
    choices = [
        (label(KIND_LABELS, kind), f"{choice['thz_share']:.1%}", f"{choice['power']:.0%}")
        for kind, choice in best["choices"].items()
    ]
    regrets = [
        (label(POLICY_LABELS, row["policy"]), f"{row['oracle_gap_pct']:+.1f} %")
        for row in document["rows"]
    ]
    reach = (
        f"Together they reach {_text(best['completion_ms'])} ms, {_text(best['energy_j'])} J and "
        f"a reward of {_text(best['reward'], 3)}."
    )
    single = best.get("per_event")
    if single is not None:
        reach += (
            f" In one iteration they score {_text(single['fixed'], 4)}; with eight candidates "
            f"tried for every single event, {_text(single['lookahead'], 4)} was possible."
        )
    return "\n\n".join(
        (
            markdown_table(("Collective", "on THz", "power"), choices),
            reach,
            markdown_table(("Policy", "cost above the oracle"), regrets),
        )
    )


def synthesis(document: Document) -> str:
    """Every published completion time beside ours."""
    return _synthesis_table(row for row in document["rows"] if row["paper_ms"] is not None)


def proposed(document: Document) -> str:
    """The published completion times of the proposed methods."""
    rows = (r for r in document["rows"] if r["paper_ms"] is not None and r["method"] == "proposed")
    return _synthesis_table(rows)


def synthesis_all(document: Document) -> str:
    """All methods at all sizes."""
    return _synthesis_table(document["rows"])


def ablations(document: Document) -> str:
    """How much slower the proposed methods are without one of their parts."""
    rows = [
        (
            _setting(row["collective"], row["stragglers"]),
            label(METHOD_LABELS, row["method"]),
            f"{row['increase_pct']:+.1f}",
            f"{_published(row['paper_least_pct'])} to {_published(row['paper_most_pct'])}",
        )
        for row in document["ablations"]
    ]
    return markdown_table(("12 racks", "Without", "ours [%]", "paper, four settings [%]"), rows, 2)


def weights(document: Document) -> str:
    """The operating point at each pair of reward weights."""
    rows = [
        [
            f"{row['time_weight']:g} / {row['energy_weight']:g}",
            *_beside_paper(row, "completion_ms", 4),
            *_beside_paper(row, "energy_j", 4),
        ]
        for row in document["rows"]
    ]
    triple = ("paper", "deviation")
    columns = ("Time / energy weight", "Completion [ms]", *triple, "Energy [J]", *triple)
    return markdown_table(columns, rows)


def speed(document: Document) -> str:
    """Measured speed beside the budgets; what was not measured is left out."""
    rows = [
        (what, f"{_text(value, 3)} {unit}".strip(), f"{sign} {budget} {unit}".strip())
        for what, value, unit, sign, budget in _speeds(document)
    ]
    return markdown_table(("What", "measured", "budget"), rows)


def _speeds(document: Document) -> Iterator[tuple[str, float, str, str, str]]:
    optical, rounds = document.get("optical", {}), document.get("synthesis", {})
    if optical:
        rate = optical["packet_hops_per_s"] / 1e6
        yield "Packet-hops per CPU-second, optical kernel", rate, "M", "≥", "8"
        yield "The same beside a SimPy model", optical["ratio"], "×", "≥", "60"
        growth = optical["cost_ratio_1024_to_32_racks"]
        yield "Cost per packet-hop, 1024 racks against 32", growth, "×", "≤", "2"
    if rounds:
        limit = f"{rounds['a2a_round_budget_ms']:g}"
        yield "One All-to-All round, 12 racks", rounds["a2a_round_ms"], "ms", "≤", limit
        limit = f"{rounds['p2p_chunk_budget_us']:g}"
        yield "One P2P chunk", rounds["p2p_chunk_us"], "µs", "≤", limit
    for kind, limit in (("p2p", "0.5"), ("a2a", "3"), ("allreduce", "3")):
        timing = document.get("decision", {}).get(kind)
        if timing:
            name = f"One decision, {label(KIND_LABELS, kind)}, median"
            yield name, timing["p50_us"] / 1e3, "ms", "≤", limit


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


def _synthesis_table(rows: Iterable[Document]) -> str:
    body = [
        (
            _setting(row["collective"], row["stragglers"]),
            label(METHOD_LABELS, row["method"]),
            row["racks"],
            f"{_text(row['mean_ms'])} {_half(row['ci95_ms'])}".strip(),
            _published(row["paper_ms"]),
            deviation_cell(row["mean_ms"], row["paper_ms"]).text,
            f"{row['mean_ms'] / row['bound_ms']:.2f}" if row["bound_ms"] else "–",
        )
        for row in rows
    ]
    columns = ("Collective", "Method", "Racks", "ours [ms]", "paper [ms]", "deviation", "× bound")
    return markdown_table(columns, body, 2)


def _setting(collective: str, stragglers: bool) -> str:
    return label(KIND_LABELS, collective) + (", late racks" if stragglers else "")


def _beside_paper(row: Document, metric: str, digits: int) -> list[str]:
    paper = row[f"paper_{metric}"]
    deviation = deviation_cell(row[metric], paper).text
    return [_mean(row, metric, digits), _published(paper), deviation]


def _mean(row: Document, metric: str, digits: int = 4) -> str:
    return f"{_text(row[metric], digits)} {_half(row[f'ci95_{metric}'])}".strip()


def _half(width: float | None) -> str:
    return "" if width is None else f"± {_text(width, 2)}"


def _published(value: float | None, digits: int = 4) -> str:
    """With the digits that the paper gives, not padded to ours."""
    return number(None if value is None else float(value), digits)


def _text(value: float | None, digits: int = 4) -> str:
    return number(None if value is None else float(value), digits, pad=True)


if __name__ == "__main__":
    sys.exit(main())
