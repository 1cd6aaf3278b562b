"""A finished run: its tables, its provenance, and both on disk."""

from __future__ import annotations

import io
import json
import platform
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from thzsync import plugins
from thzsync.errors import ThzSyncError
from thzsync.folders import RUN, prepare_to_save
from thzsync.records.certificate import Certificate, certify
from thzsync.records.declaration import (
    CarrierFacts,
    Declaration,
    read_carriers,
    read_declarations,
)
from thzsync.records.fidelity import Fidelity
from thzsync.records.folder import FILES, Record, write_record
from thzsync.records.format2 import upgraded
from thzsync.records.recorder import in_segments
from thzsync.records.schema import TABLES, polars_schema
from thzsync.scenario import Scenario
from thzsync.scenario.files import parse_scenario
from thzsync.version import __version__

if TYPE_CHECKING:
    import polars as pl

MARKER: Final = "run.json"
SCENARIO: Final = "scenario.toml"
FORMAT: Final = 3
"""Raised with a release in which a table has changed."""
FORMATS: Final = (2, FORMAT)
"""What is read, too: versions 0.2 and 0.3 wrote format 2."""

References = dict[str, tuple[float, float]]
"""Per collective type the reference completion time [s] and energy [J] of the reward."""


def environment() -> dict[str, str]:
    """Versions on which the numbers may depend besides the inputs."""
    from importlib.metadata import version

    return {
        "thzsync": __version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "system": platform.system(),
        **{name: version(name) for name in ("numpy", "numba", "scipy", "polars")},
    }


def frame_bytes(frame: pl.DataFrame) -> bytes:
    """A table as compressed Parquet; equal tables give equal bytes."""
    buffer = io.BytesIO()
    in_segments(frame).write_parquet(
        buffer, compression="zstd", compression_level=9, statistics=False
    )
    return buffer.getvalue()


def until_last_iteration(tables: dict[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """The tables without samples of fibres after the last iteration that has ended."""
    import polars as pl

    until_ps = _latest_ps(tables["iterations"]["end_ps"])
    if _latest_ps(tables["links"]["end_ps"]) <= until_ps:
        return tables
    return tables | {"links": tables["links"].filter(pl.col("end_ps") <= until_ps)}


def _latest_ps(times_ps: pl.Series) -> int:
    return int(times_ps.max() or 0)  # type: ignore[arg-type]  # whole numbers


@dataclass(frozen=True)
class Run:
    """The tables and provenance of one simulated run."""

    scenario: Scenario
    policy: str
    seed: int
    references: References
    tables: dict[str, pl.DataFrame]
    fidelity: Fidelity | None = None
    """Events of a run in flow fidelity that were carried out again packet by packet."""
    declared: dict[str, Any] | None = None
    """What ``run.json`` says of a run that was read from disk; the auditor holds it to that."""
    learning: str = ""
    """What its policy knew at the start: "none" if it never learns, "fresh", "taught" if it brought
    something along, "frozen" if it learns no more; empty if nobody noted it."""
    disciplines: dict[str, Declaration] | None = None
    """What disciplines declare, the used ones among them; None in records until version 0.3."""
    carriers: dict[str, CarrierFacts] = field(default_factory=dict)
    """What carriers after THz declare, by name."""

    @property
    def iterations(self) -> pl.DataFrame:
        """One row per iteration."""
        return self.tables["iterations"]

    @property
    def events(self) -> pl.DataFrame:
        """One row per communication event."""
        return self.tables["events"]

    @property
    def flows(self) -> pl.DataFrame:
        """One row per flow of every event."""
        return self.tables["flows"]

    @property
    def rounds(self) -> pl.DataFrame:
        """One row per wireless round."""
        return self.tables["rounds"]

    @cached_property
    def summary(self) -> dict[str, float]:
        """Means over the iterations."""
        apart = ["job", "iteration", "start_ps", "end_ps"]
        if len(self.scenario.carriers) == 1:
            apart += ["further_energy_j", "further_wall_j", "further_static_j"]
        means = self.iterations.drop(apart).mean().row(0, named=True)
        return {name: float(value) for name, value in means.items()}

    @property
    def certificate(self) -> Certificate | None:
        """The packet-level check of a run in flow fidelity."""
        return certify([({}, self.fidelity)])

    def last_iteration(self) -> Run:
        """The same run cut down to the last iteration of every job."""
        import polars as pl

        keys = ["job", "iteration"]
        last = self.iterations.group_by("job", maintain_order=True).last()
        events = self.events.join(last, on=keys, how="semi", maintain_order="left")
        tables = {}
        for name, frame in self.tables.items():
            if name in ("iterations", "tasks", "events"):
                tables[name] = frame.join(last, on=keys, how="semi", maintain_order="left")
            elif name == "links":
                after, until = last["start_ps"].min(), last["end_ps"].max()
                inside = (pl.col("start_ps") >= after) & (pl.col("end_ps") <= until)
                tables[name] = frame.filter(inside)
            else:
                tables[name] = frame.join(events, on="number", how="semi", maintain_order="left")
        numbers = tables["events"]["number"].to_numpy()
        fidelity = None if self.fidelity is None else self.fidelity.among(numbers)
        return replace(self, tables=tables, fidelity=fidelity, declared=None)

    def __repr__(self) -> str:
        iterations = self.iterations["iteration"].n_unique()
        return (
            f"Run({self.policy} on {self.scenario.name!r}, seed={self.seed}, "
            f"iterations={iterations}, events={self.events.height})"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows: the run's iterations, and how the reward moved."""
        from thzsync.display import html_table, sparkline

        wanted = ("completion_ms", "energy_j", "reward", "makespan_ms", "thz_share")
        shown = self.iterations.tail(10).select("iteration", *wanted)
        facts = {"policy": self.policy, "seed": self.seed, "scenario": self.scenario.name}
        rewards = self.iterations["reward"].to_list()
        return html_table(
            "Run",
            (
                "iteration",
                "completion [ms]",
                "transmission energy [J]",
                "reward",
                "iteration time [ms]",
                "THz share",
            ),
            [("mean", *(self.summary[name] for name in wanted)), *shown.iter_rows()],
            facts | {"reward": sparkline(rewards)},
            f"{self.iterations.height} iterations, {self.events.height} events; at most 10 shown",
        )

    def provenance(self) -> dict[str, Any]:
        """The inputs and contents of this run, as plain values."""
        return {
            "format": FORMAT,
            "kind": "run",
            "policy": self.policy,
            "learning": self.learning,
            "seed": self.seed,
            "iterations": self.iterations.height,
            "recorded": self.recorded(),
            "rows": {name: frame.height for name, frame in self.tables.items()},
            "scenario": self.scenario.name,
            "scenario_sha256": self.scenario.digest,
            "references": {k: list(v) for k, v in self.references.items()},
            "environment": environment(),
            **({"plugins": plugins.told(self.scenario.plugins)} if self.scenario.plugins else {}),
            **({} if self.fidelity is None else {"fidelity": self.fidelity.document()}),
            **({} if self.disciplines is None else {"disciplines": self._used_disciplines()}),
            "carriers": {name: asdict(facts) for name, facts in self.carriers.items()},
        }

    def _used_disciplines(self) -> dict[str, dict[str, Any]]:
        known, used = self.disciplines or {}, self.flows["discipline"].unique().sort().to_list()
        return {name: known[name].document() for name in used if name in known}

    def recorded(self) -> dict[str, list[int]]:
        """First and last recorded iteration of every job."""
        spans: dict[str, list[int]] = {}
        for job, iteration in self.iterations.select("job", "iteration").iter_rows():
            first, last = spans.get(job, [iteration, iteration])
            spans[job] = [min(first, iteration), max(last, iteration)]
        return spans

    def missing(self, iterations: int) -> bool:
        """Whether a job has not done all it was asked for: ``iterations``, or its own number."""
        last = {job: span[1] for job, span in self.recorded().items()}
        return any(
            last.get(job.name, -1) + 1 < (job.iterations or iterations)
            for job in self.scenario.jobs
        )

    def save(self, folder: str | Path) -> Path:
        """Write the run; a reader sees the folder's old record or this one, never a mixture.

        The folder must be absent, empty or a run's.
        """
        prepare_to_save(folder, RUN)
        return write_record(folder, MARKER, self.provenance(), self.files())

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Name and content of everything beside the marker."""
        yield SCENARIO, self.scenario.to_toml().encode()
        for name, frame in self.tables.items():
            yield f"{name}.parquet", frame_bytes(frame)

    @classmethod
    def load(cls, folder: str | Path) -> Run:
        """Read a run that ``save`` wrote, or what an interrupted one had finished."""
        from thzsync.records.journal import Journal, in_progress

        source = Path(folder)
        if not (source / MARKER).is_file() and in_progress(source):
            return Journal.open(source).run()
        return cls.read(Record.at(source, MARKER, _read_marker(source)))

    @classmethod
    def read(cls, record: Record) -> Run:
        """A run from its record, if all files are those that the marker lists."""
        declared = _checked_provenance(record.folder / MARKER, record.document)
        record.check_seal()
        scenario = read_scenario(record)
        tables = {name: read_table(record, name, scenario) for name in TABLES}
        if not tables["iterations"].height:
            raise ThzSyncError(f"{record.folder}: holds no iteration; record the run anew")
        scenario = read_scenario(record)
        plugins.warn_if_changed(declared.get("plugins"), scenario.plugins, str(record.folder))
        return cls(
            scenario=scenario,
            policy=declared["policy"],
            seed=declared["seed"],
            references={k: (v[0], v[1]) for k, v in declared["references"].items()},
            tables=tables,
            fidelity=Fidelity.of_document(told) if (told := declared.get("fidelity")) else None,
            declared=declared,
            learning=str(declared.get("learning", "")),
            disciplines=read_declarations(declared.get("disciplines"), MARKER),
            carriers=read_carriers(declared.get("carriers"), MARKER),
        )


def stream_bytes(frame: pl.DataFrame) -> bytes:
    """A table as a compressed Arrow stream: larger than Parquet, but faster to write."""
    buffer = io.BytesIO()
    frame.write_ipc_stream(buffer, compression="zstd")
    return buffer.getvalue()


def read_table(
    record: Record, name: str, scenario: Scenario, suffix: str = "parquet"
) -> pl.DataFrame:
    """A table of a record, if it has the columns of this format or of one before it."""
    import polars as pl

    if name == "sendings" and f"{name}.{suffix}" not in record.document.get(FILES, {}):
        return pl.DataFrame(schema=polars_schema(name))  # of format 2

    file, read = f"{name}.{suffix}", pl.read_parquet if suffix == "parquet" else pl.read_ipc_stream
    content = record.read(file)
    try:
        frame = upgraded(name, read(content), scenario.thz.noise_w)
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = str(error).splitlines()[0]
        raise ThzSyncError(
            f"{record.folder / file}: missing or damaged ({reason}); record the run anew"
        ) from None
    if dict(frame.schema) != polars_schema(name):
        raise ThzSyncError(
            f"{record.folder / file}: its columns are not those of format {FORMAT}; record it anew"
        )
    if any(frame.null_count().row(0)):
        raise ThzSyncError(f"{record.folder / file}: values are missing; record the run anew")
    return frame


def read_scenario(record: Record) -> Scenario:
    """The scenario of a record; without it the record cannot be read."""
    try:
        text = record.read(SCENARIO).decode("utf-8")
    except UnicodeDecodeError:
        raise ThzSyncError(f"{record.folder / SCENARIO}: not a text file; record it anew") from None
    with warnings.catch_warnings():  # a record may hold names that have changed since
        warnings.simplefilter("ignore", FutureWarning)
        return parse_scenario(text, str(record.folder / SCENARIO))


def _read_marker(folder: Path) -> Any:
    file = folder / MARKER
    if folder.exists() and not folder.is_dir():
        raise ThzSyncError(f"{folder}: is a file; give a folder that `thzsync run --out` wrote")
    try:
        return json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        raise ThzSyncError(
            f"{folder}: no run.json here; give a folder that `thzsync run --out` wrote"
            + (f", such as {folder}/runs/POLICY" if (folder / "runs").is_dir() else "")
        ) from None
    except OSError as error:
        raise ThzSyncError(f"{file}: cannot be read ({error.strerror})") from None
    except (RecursionError, ValueError) as error:
        raise ThzSyncError(f"{file}: not valid JSON ({error}); record the run anew") from None


def _checked_provenance(file: Path, found: Any) -> dict[str, Any]:
    expected = {"policy": str, "seed": int, "references": dict}
    if (
        not isinstance(found, dict)
        or found.get("format") not in FORMATS
        or found.get("kind") != "run"
    ):
        raise ThzSyncError(f"{file}: not a run of format {FORMAT}; record it anew")
    for key, kind in expected.items():
        if not isinstance(found.get(key), kind):
            raise ThzSyncError(f"{file}: {key} is missing or damaged; record the run anew")
    if found["seed"] < 0:
        raise ThzSyncError(f"{file}: seed is {found['seed']}; no run has a negative one")
    for costs in found["references"].values():
        if not (isinstance(costs, list) and len(costs) == 2 and all(map(_is_number, costs))):
            raise ThzSyncError(f"{file}: references are damaged; record the run anew")
    return found


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
