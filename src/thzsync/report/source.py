"""What a result directory holds, found out from the JSON file inside."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import polars as pl

from thzsync.answer import Answer
from thzsync.answer.store import load as load_answer
from thzsync.errors import ThzSyncError
from thzsync.experiments.compare import Comparison
from thzsync.folders import ANSWER
from thzsync.records.journal import in_progress
from thzsync.records.run import Run
from thzsync.studies import Sweep

Row = dict[str, Any]
MARKERS: Final = (
    "reproduce.json", "compare.json", "synthesis.json", "weights.json", "run.json", "ladder.json",
    "beyond.json", "readings.json", "sweep.json", ANSWER.marker,
)  # fmt: skip
"""Files by which a result directory is recognised; a reproduction wins over its parts."""
FIGURES: Final = ("synthesis", "weights", "ladder", "beyond", "readings")
"""Figures of the paper beside the comparison of policies."""


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
    beyond: Row = field(default_factory=dict)
    readings: Row = field(default_factory=dict)
    sweep: Sweep | None = None
    asked: tuple[Answer, ...] = ()
    """What `thzsync ask` answered; a reproduction has the answers that lie in its folder."""
    quick: frozenset[str] = frozenset()
    """Figures that are a first look: ``fabric`` or one of `FIGURES`."""


def open_results(folder: str | Path) -> Results:
    """Read a run, a comparison, a sweep, an answer, a published figure or a reproduction."""
    source = Path(folder)
    if not source.is_dir():
        raise ThzSyncError(f"{source}: no such folder; give one that a command wrote with --out")
    for marker in MARKERS:
        if (source / marker).is_file():
            document = _read_json(source / marker)
            found = _open(source, marker, document)
            quick = document.get("quick") is True
            return replace(found, quick=frozenset((found.kind,))) if quick else found
    if in_progress(source):
        return _open_run(source, {})
    raise ThzSyncError(
        f"{source}: found none of {', '.join(MARKERS)}; give a folder that `thzsync run`, "
        f"`compare`, `sweep`, `ask` or `reproduce` wrote with --out"
    )


def _open(source: Path, marker: str, document: Row) -> Results:
    match marker, document.get("kind"):
        case "run.json", "run":
            return _open_run(source, document)
        case "compare.json", "compare" | "fabric" as kind:
            rows = _rows(source / marker, document)
            first = int(document.get("first_iteration", 0))
            return Results(kind, source, Comparison.load(source), rows, first, document)
        case "sweep.json", "sweep":
            return Results("sweep", source, document=document, sweep=Sweep.load(source))
        case "reproduce.json", "reproduce":
            return _open_reproduction(source, document)
        case ANSWER.marker, "ask":
            answers = (load_answer(source, document),)
            return Results("ask", source, document=document, asked=answers)
        case _, kind if kind in FIGURES and marker == f"{kind}.json":
            rows, ablations = _rows(source / marker, document), document.get("ablations") or []
            shown: Row = {kind: rows if kind in ("synthesis", "weights") else document}
            return Results(kind, source, document=document, ablations=ablations, **shown)
        case _, kind:
            raise ThzSyncError(
                f"{source / marker}: its kind is {kind!r}; this version cannot show that"
            )


def _open_run(source: Path, document: Row) -> Results:
    """A run as a comparison of one policy in one seed."""
    run = Run.load(source)
    key = [pl.lit(run.policy).alias("policy"), pl.lit(run.seed).alias("seed")]
    comparison = Comparison(
        run.scenario,
        (run.policy,),
        (run.seed,),
        run.iterations.select(*key, pl.all()),
        run.events.select(*key, pl.all()),
        {run.policy: run.last_iteration()},
        fidelity=run.certificate,
    )
    document = document or run.provenance()  # interrupted: there is no run.json yet
    return Results("run", source, comparison, [{"policy": run.policy, **run.summary}], 0, document)


def _open_reproduction(source: Path, document: Row) -> Results:
    parts = document.get("parts")
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise ThzSyncError(f"{source / 'reproduce.json'}: parts must be a list of folder names")
    present = {
        part: open_results(source / part)
        for part in parts
        if any((source / part / marker).is_file() for marker in MARKERS[1:])
    }
    if not present:
        raise ThzSyncError(f"{source}: no part of the reproduction is there; run it again")
    nothing = Results("reproduce", source, document=document)
    shown: Row = {name: getattr(present.get(name, nothing), name) for name in FIGURES}
    answers = [place for place in sorted(source.iterdir()) if ANSWER.complete_in(place)]
    return replace(
        present.get("fabric", nothing),
        kind="reproduce",
        folder=source,
        asked=tuple(load_answer(place, _read_json(place / ANSWER.marker)) for place in answers),
        ablations=present.get("synthesis", nothing).ablations,
        quick=frozenset().union(*(part.quick for part in present.values())),
        **shown,
    )


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
