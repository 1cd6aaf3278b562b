"""What a worker is asked for: plain JSON in, JSON or Parquet out."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from thzsync.experiments.under_way import counting
from thzsync.records import Fidelity, Run
from thzsync.records.certificate import judged_together
from thzsync.records.run import References, frame_bytes
from thzsync.scenario import Scenario
from thzsync.simulation import reference_costs, simulate
from thzsync.simulation.simulator import REFERENCE_ITERATIONS
from thzsync.studies.plan import PlannedRun, Realisation
from thzsync.workers import Call

if TYPE_CHECKING:
    import polars as pl

_HERE: Final = "thzsync.studies.task"
FIDELITY: Final = "fidelity"
"""Column with what was replayed of a run, as JSON."""


def reference_call(realisation: Realisation) -> Call:
    """Ask for the references of a realisation."""
    asked = {"scenario": _portable(realisation.scenario), "seed": realisation.seed}
    return Call(f"{_HERE}:find_references", json.dumps(asked).encode())


def find_references(payload: bytes) -> bytes:
    """The references of a realisation, as JSON."""
    asked = json.loads(payload)
    scenario = Scenario.model_validate(asked["scenario"])
    found = reference_costs(scenario, asked["seed"], counting(scenario, REFERENCE_ITERATIONS))
    return json.dumps(found).encode()


def run_call(run: PlannedRun, references: bytes) -> Call:
    """Ask for a run; ``references`` are those of its realisation, as they were found."""
    asked = {
        "scenario": _portable(run.realisation.scenario),
        "policy": run.contender.policy,
        "seed": run.seed,
        "iterations": run.iterations,
        "references": json.loads(references),
    }
    return Call(f"{_HERE}:find_run", json.dumps(asked).encode())


def find_run(payload: bytes) -> bytes:
    """The iteration table of a run, as Parquet; in flow fidelity with what was replayed."""
    asked = json.loads(payload)
    references: References = {k: (v[0], v[1]) for k, v in asked["references"].items()}
    scenario = Scenario.model_validate(asked["scenario"])
    work = (scenario, asked["policy"], asked["iterations"], asked["seed"], references)
    with judged_together():
        run = simulate(*work, detailed=False, stop=counting(scenario, asked["iterations"]))
    return frame_bytes(_with_fidelity(run))


def _with_fidelity(run: Run) -> pl.DataFrame:
    """The iterations; what was replayed stands beside all of them, so that one file holds a run."""
    import polars as pl

    if run.fidelity is None:
        return run.iterations
    told = json.dumps(run.fidelity.document())
    return run.iterations.with_columns(pl.lit(told).alias(FIDELITY))


def read_table(content: bytes) -> pl.DataFrame:
    """The iterations as a worker sent them."""
    return _read(content).drop(FIDELITY, strict=False)


def read_fidelity(content: bytes) -> Fidelity | None:
    """What was replayed of a run in flow fidelity."""
    frame = _read(content)
    if FIDELITY not in frame.columns:
        return None
    return Fidelity.of_document(json.loads(frame[FIDELITY][0]))


def _read(content: bytes) -> pl.DataFrame:
    import polars as pl

    return pl.read_parquet(io.BytesIO(content))


def _portable(scenario: Scenario) -> dict[str, Any]:
    """A scenario for a worker that may stand in another folder."""
    values = scenario.model_dump(mode="json", exclude_none=True)
    for job in values["jobs"]:
        if "trace" in job:
            job["trace"] = str(Path(job["trace"]).absolute())
    if "gains_file" in values["channel"]:
        values["channel"]["gains_file"] = str(Path(values["channel"]["gains_file"]).absolute())
    return values
