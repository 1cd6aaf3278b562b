"""A run in progress on disk: its inputs, and a part after every iteration.

Each part holds the rows of what has finished, the decisions that were made since the part before,
and, for a policy that learns, its state at that instant. A process that dies loses at most its
current iteration: the parts are a run of their own, from which it can resume. A part is one file,
since a dozen files would take longer to be safe on disk than a short iteration takes.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from thzsync import plugins
from thzsync.errors import ThzSyncError
from thzsync.files import content_digest, read_bounded, write_atomically
from thzsync.folders import RUN, locked
from thzsync.records.declaration import (
    CarrierFacts,
    Declaration,
    read_carriers,
    read_declarations,
)
from thzsync.records.folder import FILES, Files, Record, read_marker, with_marker, write_record
from thzsync.records.parts import (
    DECISIONS,
    SUFFIX,
    Decision,
    PackedRecord,
    decision_bytes,
    read_decisions,
    write_packed,
)
from thzsync.records.run import (
    FORMAT,
    FORMATS,
    SCENARIO,
    References,
    Run,
    environment,
    read_scenario,
    read_table,
    stream_bytes,
    until_last_iteration,
)
from thzsync.records.schema import TABLES
from thzsync.scenario import Scenario
from thzsync.version import __version__

if TYPE_CHECKING:
    import polars as pl

PROGRESS: Final = ".progress"
"""Folder of the parts, inside the run's own."""
STARTED: Final = "begun.json"
PART: Final = "part.json"
PACKED: Final = ".zip"
START: Final = "start.safetensors"
ESSENTIAL: Final = frozenset({"policy", "seed", "iterations", "references", "frozen", "from"})
LARGEST_POLICY_BYTES: Final = 2**34


@dataclass(frozen=True)
class RunSpec:
    """All that a run needs to start again."""

    scenario: Scenario
    policy: str
    seed: int
    iterations: int
    references: References
    frozen: bool = False
    start: str | Path | None = None
    """A saved policy from which it starts, if any."""
    disciplines: dict[str, Declaration] | None = None
    """What all disciplines declare."""
    carriers: dict[str, CarrierFacts] = field(default_factory=dict)
    """What carriers after THz declare, by name."""

    def document(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "format": FORMAT,
            "kind": "run in progress",
            "policy": self.policy,
            "seed": self.seed,
            "iterations": self.iterations,
            "references": {k: list(v) for k, v in self.references.items()},
            "frozen": self.frozen,
            "from": self.start is not None,
            "environment": environment(),
            "plugins": plugins.told(self.scenario.plugins),
            "disciplines": {k: v.document() for k, v in (self.disciplines or {}).items()} or None,
            "carriers": {name: asdict(facts) for name, facts in self.carriers.items()},
        }

    def files(self) -> Iterator[tuple[str, bytes]]:
        """The scenario and the saved policy, so that resuming needs nothing from elsewhere."""
        yield SCENARIO, self.scenario.to_toml().encode()
        if self.start is not None:
            yield START, read_bounded(self.start, LARGEST_POLICY_BYTES, "a saved policy")


class Journal:
    """The progress of one run, which grows by a part after every finished iteration."""

    def __init__(
        self, folder: Path, spec: RunSpec, parts: list[Record], version: str = __version__
    ) -> None:
        self.folder, self.spec, self._parts = folder, spec, parts
        self._version = version

    @classmethod
    def begin(cls, folder: str | Path, spec: RunSpec) -> Journal:
        """Start anew; what an earlier run left unfinished here is dropped."""
        place = Path(folder) / PROGRESS
        _remove(place)
        write_record(place, STARTED, spec.document(), spec.files())
        return cls(place, spec, [])

    @classmethod
    def open(cls, folder: str | Path) -> Journal:
        """The journal that an interrupted run left behind."""
        place = Path(folder) / PROGRESS
        started = _marked(place)
        if started is None:
            raise ThzSyncError(
                f"{folder}: no interrupted run here; --resume takes a folder in which "
                "`thzsync run --out` was interrupted"
            )
        version = _version_of(started.document)
        with _blaming(place.parent, version):
            spec, parts = _spec(started), list(_complete_parts(place))
        if _is_strange(place, parts):
            reason = "finished iterations lie in other files"
            raise _started_elsewhere(place.parent, version, reason)
        return cls(place, spec, parts, version)

    def reading(self) -> AbstractContextManager[None]:
        """While what is recorded is read: errors name the version that began the run."""
        return _blaming(self.folder.parent, self._version)

    @property
    def parts(self) -> int:
        """How many there are."""
        return len(self._parts)

    def policy_file(self, part: int) -> Path:
        """Where the policy's state after a part lies; the last one's is kept."""
        return self.folder / f"policy-{part:06d}.safetensors"

    def add(self, tables: dict[str, pl.DataFrame], decisions: Sequence[Decision]) -> None:
        """Write what is new; the policy, if it has a state, was saved to ``policy_file`` before."""
        number = len(self._parts)
        state = content_digest(self.policy_file(number))
        files = with_marker(PART, {"kind": "part", "policy": state}, _files(tables, decisions))
        write_packed(self.folder / part_name(number), files)
        self._parts += _complete_parts(self.folder, number)
        if number:
            self.policy_file(number - 1).unlink(missing_ok=True)

    def saved_policy(self) -> Path | None:
        """The policy's state after the last part; None if it has none."""
        if not self._parts or self._parts[-1].document["policy"] is None:
            return None
        file = self.policy_file(len(self._parts) - 1)
        if content_digest(file) != self._parts[-1].document["policy"]:
            raise ThzSyncError(f"{file}: missing or damaged; record the run anew")
        return file

    def decisions(self) -> list[Decision]:
        """Everything that was decided before the last part was written."""
        return [decision for part in self._parts for decision in read_decisions(part)]

    def run(self) -> Run:
        """The finished iterations as a run."""
        import polars as pl

        spec = self.spec
        if not self._parts:
            raise ThzSyncError(
                f"{self.folder.parent}: was interrupted before an iteration was finished; "
                f"`thzsync run --resume {self.folder.parent}` goes on"
            )
        with self.reading():
            tables = {
                name: pl.concat(
                    [read_table(part, name, spec.scenario, SUFFIX) for part in self._parts]
                )
                for name in TABLES
            }
        whole = until_last_iteration(tables)
        run = Run(spec.scenario, spec.policy, spec.seed, spec.references, whole)
        return replace(run, disciplines=spec.disciplines, carriers=spec.carriers)

    def close(self) -> None:
        """The run is complete and on disk: its progress is no longer needed."""
        _remove(self.folder)


def _files(tables: dict[str, pl.DataFrame], decisions: Sequence[Decision]) -> Files:
    for name, frame in tables.items():
        yield f"{name}.{SUFFIX}", stream_bytes(frame)
    yield DECISIONS, decision_bytes(decisions)


def in_progress(folder: str | Path) -> bool:
    """Whether an interrupted run lies here."""
    return (Path(folder) / PROGRESS / STARTED).is_file()


def refuse_to_drop(folder: str | Path) -> None:
    """Refuse a folder in which an interrupted run has finished iterations: they took their time."""
    if not RUN.started_in(Path(folder)):
        return
    with locked(Path(folder)):  # another process that writes there now continues
        raise ThzSyncError(
            f"{folder}: holds an interrupted run; go on with `thzsync run --resume {folder}`, or "
            "start anew with --force"
        )


def _remove(place: Path) -> None:
    (place / STARTED).unlink(missing_ok=True)  # without it the rest means nothing
    if place.exists():
        shutil.rmtree(place)


def _marked(folder: Path) -> Record | None:
    """The beginning of a run; None where it has not been written."""
    file = folder / STARTED
    try:
        text = file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ThzSyncError(f"{file}: damaged ({error}); record it anew") from None
    record = Record.at(folder, STARTED, read_marker(text, file))
    record.check_seal()
    return record


def _started_elsewhere(folder: Path, version: str, reason: str) -> ThzSyncError:
    """Another version started the run, and this one cannot go on with it."""
    who = "another version of thzsync"
    if version != __version__:
        who = f"thzsync {version}, and this is {__version__}"
    return ThzSyncError(
        f"{folder}: was started by {who} ({reason}); go on with that version, or start anew "
        f"with `thzsync run ... --out {folder} --force`"
    )


def _version_of(document: Mapping[str, Any]) -> str:
    """The version that wrote a document, as its environment says; this one if it says nothing."""
    environment = document.get("environment")
    told = environment.get("thzsync") if isinstance(environment, dict) else None
    return told if isinstance(told, str) else __version__


@contextmanager
def _blaming(folder: Path, version: str) -> Iterator[None]:
    """Let errors name the version that started a run, if it is another: its files look damaged."""
    try:
        yield
    except ThzSyncError as error:
        if version == __version__:
            raise
        found = error.lines[0].removeprefix(f"{folder}: ")
        what, _, _remedy = found.rpartition("; ")
        raise _started_elsewhere(folder, version, what or found) from None


def _spec(record: Record) -> RunSpec:
    told = record.document
    if told.get("format") not in FORMATS or not told.keys() >= ESSENTIAL:
        raise ThzSyncError(f"{record.folder / STARTED}: not of format {FORMAT}; record it anew")
    if told["from"]:
        write_atomically(record.folder / START, record.read(START))
    scenario = read_scenario(record)
    plugins.warn_if_changed(told.get("plugins"), scenario.plugins, str(record.folder.parent))
    return RunSpec(
        scenario=scenario,
        policy=told["policy"],
        seed=told["seed"],
        iterations=told["iterations"],
        references={k: (v[0], v[1]) for k, v in told["references"].items()},
        frozen=told["frozen"],
        start=record.folder / START if told["from"] else None,
        disciplines=read_declarations(told.get("disciplines"), STARTED),
        carriers=read_carriers(told.get("carriers"), STARTED),
    )


def part_name(number: int) -> str:
    """The file of a part."""
    return f"part-{number:06d}{PACKED}"


def _complete_parts(folder: Path, first: int = 0) -> Iterator[Record]:
    """Parts in order, up to the one that was being written when the process ended."""
    while (file := folder / part_name(first)).is_file():
        yield PackedRecord.open(file, PART)
        first += 1


def _is_strange(folder: Path, parts: Sequence[Record]) -> bool:
    """Whether parts are kept otherwise: each in a folder, as once, or in files of other names."""
    folders = any(path.is_dir() for path in folder.glob("part-*"))
    return folders or any(DECISIONS not in part.document[FILES] for part in parts)
