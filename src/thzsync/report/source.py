"""What a result directory holds, found out from the JSON file inside."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from thzsync.errors import ThzSyncError
from thzsync.folders import ANSWER

if TYPE_CHECKING:
    from thzsync.answer import Answer
    from thzsync.experiments.compare import Comparison
    from thzsync.records.run import Run
    from thzsync.studies import Sweep

Row = dict[str, Any]
MARKERS: Final = (
    "reproduce.json", "compare.json", "synthesis.json", "weights.json", "run.json", "ladder.json",
    "beyond.json",
    "readings.json",
    "sweep.json",
    ANSWER.marker,
)  # fmt: skip
"""Files by which a result directory is recognised; a reproduction wins over its parts."""


@dataclass(frozen=True)
class Results:
    """Everything that one report can show; what a directory does not hold stays empty."""

    kind: str
    folder: Path
    fabric: Comparison | None = None
    """Policies on the training trace; a single run counts as a comparison of one policy."""
    rows: list[Row] = field(default_factory=list)
    """One row per policy: means, intervals and published values."""
    first: int = 0
    """First iteration (from 0) over which the rows are averaged."""
    document: Row = field(default_factory=dict)
    """The JSON document that belongs to ``fabric``."""
    synthesis: list[Row] = field(default_factory=list)
    ablations: list[Row] = field(default_factory=list)
    """By how much each ablation of the proposed synthesis is slower [%]."""
    weights: list[Row] = field(default_factory=list)
    ladder: Row = field(default_factory=dict)
    """The document of the ladder from the paper's coordinator to ours."""
    beyond: Row = field(default_factory=dict)
    """The document of the plane of delay and energy."""
    readings: Row = field(default_factory=dict)
    """The document of how near sets of readings come to the published numbers."""
    sweep: Sweep | None = None
    asked: tuple[Answer, ...] = ()
    """What `thzsync ask` answered; a reproduction has the answers that lie in its folder."""
    quick: frozenset[str] = frozenset()
    """Figures that are a first look: ``fabric``, ``synthesis``, ``weights``, ``ladder``,
    ``beyond``, ``readings``."""


def open_results(folder: str | Path) -> Results:
    """Read a run, a comparison, a sweep, an answer, a published figure or a reproduction."""
    from thzsync.records.journal import in_progress

    source = Path(folder)
    if not source.is_dir():
        raise ThzSyncError(f"{source}: no such folder; give one that a command wrote with --out")
    for marker in MARKERS:
        if (source / marker).is_file():
            return _open(source, marker)
    if in_progress(source):
        return _open_run(source, {})
    raise ThzSyncError(
        f"{source}: found none of {', '.join(MARKERS)}; give a folder that `thzsync run`, "
        f"`compare`, `sweep`, `ask` or `reproduce` wrote with --out"
    )


def _open(source: Path, marker: str) -> Results:
    document = _read_json(source / marker)
    kind = document.get("kind")
    found = _of_kind(source, marker, kind, document)
    return replace(found, quick=frozenset((str(kind),))) if document.get("quick") is True else found


def _of_kind(source: Path, marker: str, kind: Any, document: Row) -> Results:
    if marker == "compare.json" and kind == "fabric":
        return _open_comparison(source, document)
    if marker == ANSWER.marker and kind in ANSWER.kinds:
        return Results("ask", source, document=document, asked=(_answer(source, document),))
    if marker != f"{kind}.json":
        raise ThzSyncError(
            f"{source / marker}: its kind is {kind!r}; this version cannot show that"
        )
    if kind in _OPENED:
        return _OPENED[kind](source, document)
    rows, ablations = _rows(source / marker, document), document.get("ablations") or []
    shown: Row = {kind: rows if kind in ("synthesis", "weights") else document}
    return Results(kind, source, document=document, ablations=ablations, **shown)


def _open_sweep(source: Path, document: Row) -> Results:
    from thzsync.studies import Sweep

    return Results("sweep", source, document=document, sweep=Sweep.load(source))


def _answer(source: Path, document: Row) -> Answer:
    from thzsync.answer.store import load

    return load(source, document)


def _open_run(source: Path, document: Row) -> Results:
    from thzsync.records.run import Run

    run = Run.load(source)
    document = document or run.provenance()  # interrupted: there is no run.json yet
    comparison = as_comparison(run)
    row = {"policy": run.policy, **run.summary}
    return Results("run", source, comparison, [row], 0, document)


def as_comparison(run: Run) -> Comparison:
    """A run as a comparison of one policy in one seed."""
    import polars as pl

    from thzsync.experiments.compare import Comparison

    key = [pl.lit(run.policy).alias("policy"), pl.lit(run.seed).alias("seed")]
    return Comparison(
        run.scenario,
        (run.policy,),
        (run.seed,),
        run.iterations.select(*key, pl.all()),
        run.events.select(*key, pl.all()),
        {run.policy: run.last_iteration()},
        fidelity=run.certificate,
    )


def _open_comparison(source: Path, document: Row) -> Results:
    from thzsync.experiments.compare import Comparison

    rows = _rows(source / "compare.json", document)
    comparison = Comparison.load(source)
    first = int(document.get("first_iteration", 0))
    return Results(document["kind"], source, comparison, rows, first, document)


def _open_reproduction(source: Path, document: Row) -> Results:
    found = {part: _part(source / part) for part in _parts(source, document)}
    present = {name: part for name, part in found.items() if part is not None}
    if not present:
        raise ThzSyncError(f"{source}: no part of the reproduction is there; run it again")
    nothing = Results("reproduce", source, document=document)
    figures = ("synthesis", "weights", "ladder", "beyond", "readings")
    shown: Row = {name: getattr(present.get(name, nothing), name) for name in figures}
    return replace(
        present.get("fabric", nothing),
        kind="reproduce",
        folder=source,
        asked=tuple(_answer(place.parent, _read_json(place)) for place in _answers_inside(source)),
        ablations=present.get("synthesis", nothing).ablations,
        quick=frozenset().union(*(part.quick for part in present.values())),
        **shown,
    )


def _answers_inside(source: Path) -> list[Path]:
    """Documents of the answers that lie in a reproduction's folder, as `make run` puts them."""
    return [
        place / ANSWER.marker for place in sorted(source.iterdir()) if ANSWER.complete_in(place)
    ]


def _parts(source: Path, document: Row) -> Iterable[str]:
    parts = document.get("parts")
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise ThzSyncError(f"{source / 'reproduce.json'}: parts must be a list of folder names")
    return parts


def _part(folder: Path) -> Results | None:
    present = any((folder / marker).is_file() for marker in MARKERS[1:])
    return open_results(folder) if present else None


def _read_json(path: Path) -> Row:
    try:
        # A number that is not finite (an interval of one seed) counts as missing.
        document = json.loads(path.read_text("utf-8"), parse_constant=lambda _: None)
    except (OSError, RecursionError, ValueError) as error:
        raise ThzSyncError(f"{path}: not readable as JSON ({error}); make it anew") from None
    if not isinstance(document, dict):
        raise ThzSyncError(f"{path}: holds no JSON object; make it anew")
    return document


def _rows(path: Path, document: Row) -> list[Row]:
    rows = document.get("rows")
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise ThzSyncError(f"{path}: has no rows; make it anew")
    return rows


_OPENED: Final[dict[str, Callable[[Path, Row], Results]]] = {
    "run": _open_run,
    "compare": _open_comparison,
    "reproduce": _open_reproduction,
    "sweep": _open_sweep,
}
