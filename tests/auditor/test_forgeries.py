"""More than eighty ways to forge a record, each with all sums made to agree, and what catches them.

The forger is diligent: he changes tables, scenario or ``run.json`` and seals the record again, so
checksums hold. What remains to give him away is that the record contradicts seed, scenario, physics
or itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from thzsync.auditor import audit
from thzsync.records.schema import TABLES
from thzsync.scenario import Scenario
from thzsync.simulation import Run, simulate

Forge = Callable[[Run], Run]
FORGERIES: dict[str, dict[str, Forge]] = {}
"""By class and name."""
col = pl.col
FAULTY = {"kind": "transceiver-down", "rack": 1, "start_s": 0.0, "end_s": 0.02}


def forgery(group: str, name: str) -> Callable[[Forge], Forge]:
    def register(forge: Forge) -> Forge:
        FORGERIES.setdefault(group, {})[name] = forge
        return forge

    return register


def add(group: str, name: str, forge: Forge) -> None:
    forgery(group, name)(forge)


# -- how the forger works -------------------------------------------------------------------------


def with_tables(run: Run, **tables: pl.DataFrame) -> Run:
    return replace(run, tables=run.tables | tables)


def column(table: str, name: str, value: pl.Expr, where: pl.Expr | None = None) -> Forge:
    """Another value in some rows of a column (the first row if nothing else is said)."""
    rows = pl.int_range(pl.len()) == 0 if where is None else where

    def forge(run: Run) -> Run:
        frame = run.tables[table]
        changed = pl.when(rows).then(value).otherwise(col(name)).cast(frame.schema[name])
        return settled(with_tables(run, **{table: frame.with_columns(changed.alias(name))}))

    return forge


def settled(run: Run) -> Run:
    """Make energies, rewards and an iteration's sums agree with the details again."""
    sent = (
        run.tables["transmissions"]
        .group_by("number")
        .agg((col("power_w") * (col("end_ps") - col("start_ps")) * 1e-12).sum().alias("j"))
    )
    references = {k: v for k, v in run.references.items() if v[0] > 0 and v[1] > 0}
    weights = run.scenario.reward
    events = run.events.join(sent, on="number", how="left", maintain_order="left")
    time = col("kind").replace_strict({k: v[0] for k, v in references.items()}, default=1.0)
    energy = col("kind").replace_strict({k: v[1] for k, v in references.items()}, default=1.0)
    took_ms = (col("end_ps") - col("release_ps")) / 1e9
    events = events.with_columns(
        thz_energy_j=col("j").fill_null(0.0),
        thz_wall_j=col("j").fill_null(0.0),
        completion_ms=took_ms,
        algbw_gb_s=col("algbw_gb_s") * col("completion_ms") / took_ms,
        busbw_gb_s=col("busbw_gb_s") * col("completion_ms") / took_ms,
    ).drop("j")
    total = col("optical_energy_j") + col("thz_energy_j")
    cost = weights.time_weight * col("completion_ms") * 1e-3 / time
    events = events.with_columns(reward=-(cost + weights.energy_weight * total / energy))
    sums = events.group_by("job", "iteration").agg(
        col("completion_ms").sum(), col("thz_energy_j").sum(), col("optical_energy_j").sum(),
        col("thz_energy_j").sum().alias("thz_wall_j"),
        col("optical_energy_j").sum().alias("optical_wall_j"),
        col("reward").mean(), total.sum().alias("energy_j"), total.sum().alias("wall_energy_j"),
        total.sum().alias("total_energy_j"),
    )  # fmt: skip
    old = run.iterations
    names = [name for name in sums.columns if name not in ("job", "iteration")]
    joined = old.drop(names).join(
        sums, on=["job", "iteration"], how="left", maintain_order="left", nulls_equal=True
    )
    return with_tables(run, events=events, iterations=joined.select(old.columns))


def scenario(**changes: Any) -> Forge:
    """Keys of the scenario, with dots for tables inside tables."""

    def forge(run: Run) -> Run:
        values = run.scenario.model_dump(mode="json", exclude_none=True)
        for path, value in changes.items():
            *tables, key = path.split("__")
            place: Any = values
            for table in tables:
                place = place[int(table) if table.isdigit() else table]
            place[key] = value
        return replace(run, scenario=Scenario.model_validate(values))

    return forge


def iteration(run: Run, keep: Callable[[int], bool]) -> Run:
    """Only some iterations, all traces of the others wiped out."""
    kept = [k for k in run.iterations["iteration"].to_list() if keep(k)]
    spans = run.iterations.filter(col("iteration").is_in(kept))
    tables = {}
    numbers = run.events.filter(col("iteration").is_in(kept))["number"].implode()
    for name, frame in run.tables.items():
        if "iteration" in frame.columns:
            tables[name] = frame.filter(col("iteration").is_in(kept))
        elif name == "links":
            inside = pl.any_horizontal(
                *((col("start_ps") >= a) & (col("end_ps") <= b)
                  for a, b in spans.select("start_ps", "end_ps").iter_rows())
            )  # fmt: skip
            tables[name] = frame.filter(inside)
        else:
            tables[name] = frame.filter(col("number").is_in(numbers))
    return with_tables(run, **tables)


def declared(**changes: Any) -> Forge:
    return lambda run: replace(run, declared={**(run.declared or {}), **changes})


wired = col("carrier") == 0
last_wired = wired & (pl.int_range(pl.len()) == pl.arg_where(wired).max())
first_wired = wired & (pl.int_range(pl.len()) == pl.arg_where(wired).min())
sending = col("power").list.max() > 0
first_sending = sending & (pl.int_range(pl.len()) == pl.arg_where(sending).min())
late = col("delay_ps").list.max() > 0
first_late = late & (pl.int_range(pl.len()) == pl.arg_where(late).min())

# -- what is missing ------------------------------------------------------------------------------

add("missing", "all tables emptied but iterations", lambda run: with_tables(
    run, **{n: f.head(0) for n, f in run.tables.items() if n != "iterations"}))  # fmt: skip
for emptied in (name for name in TABLES if name != "sendings"):
    add("missing", f"{emptied} emptied", lambda run, n=emptied: with_tables(  # type: ignore[misc]
        run, **{n: run.tables[n].head(0)}))  # fmt: skip
add("missing", "first iteration removed", lambda run: iteration(run, lambda k: k > 0))
add("missing", "middle iteration removed", lambda run: iteration(run, lambda k: k != 1))
add("missing", "last iteration removed", lambda run: iteration(run, lambda k: k < 2))
add("missing", "link rows dropped", lambda run: with_tables(
    run, links=run.tables["links"].filter(pl.int_range(pl.len()) % 7 != 0)))  # fmt: skip


@forgery("missing", "an event removed")
def without_an_event(run: Run) -> Run:
    numbered = {name: f for name, f in run.tables.items() if "number" in f.columns}
    return with_tables(run, **{n: f.filter(col("number") != 5) for n, f in numbered.items()})


# -- what run.json says ---------------------------------------------------------------------------

add("declared", "count of iterations", declared(iterations=9))
add("declared", "recorded iterations", declared(recorded={"train": [0, 8]}))
add("declared", "counts of rows", declared(rows={"events": 1}))
add("declared", "name of the scenario", declared(scenario="paper"))
add("declared", "hash of the scenario", declared(scenario_sha256="0" * 64))
add("declared", "another seed", lambda run: replace(run, seed=run.seed + 1))
add("declared", "fixed ratio passed off as All-Wired", lambda run: replace(run, policy="all-wired"))
add("declared", "fixed ratio passed off as All-Wireless", lambda run: replace(
    run, policy="all-wireless"))  # fmt: skip
add("declared", "fixed ratio passed off as a learner", lambda run: replace(
    run, policy="thz-sync", declared={**(run.declared or {}), "policy": "thz-sync"}))  # fmt: skip
for learner in ("thz-sync", "shared-bandit", "ddqn"):
    told = {"policy": learner, "learning": "fresh"}
    add("declared", f"fixed ratio passed off as a fresh {learner}", lambda run, told=told: replace(  # type: ignore[misc]
        run, **told, declared={**(run.declared or {}), **told}))  # fmt: skip


@forgery("declared", "job renamed")
def renamed_job(run: Run) -> Run:
    named = {name: f for name, f in run.tables.items() if "job" in f.columns}
    return with_tables(run, **{n: f.with_columns(job=pl.lit("x")) for n, f in named.items()})


# -- the scenario ---------------------------------------------------------------------------------

for label, change in {
    "straggler probability": scenario(stragglers__probability=0.9),
    "straggler delays": scenario(stragglers__max_delay_s=2e-3),
    "background load": scenario(optical__background__load=0.3),
    "background switched off": scenario(optical__background__load=0.0),
    "background load raised a little": scenario(optical__background__load=0.06),
    "burst size": scenario(optical__background__burst_bytes=2**15),
    "max_power_w x 10": scenario(thz__max_power_w=1.0),
    "noise figure": scenario(thz__noise_figure_db=3.0),
    "fault removed": scenario(faults=[]),
    "fault shortened": scenario(faults=[FAULTY | {"end_s": 0.01}]),
    "fault of another rack": scenario(faults=[FAULTY | {"rack": 2}]),
    "p2p_bytes": scenario(jobs__0__training__p2p_bytes=2**20),
    "a2a_bytes_per_rack": scenario(jobs__0__training__a2a_bytes_per_rack=2**20),
    "allreduce_bytes": scenario(jobs__0__training__allreduce_bytes=2**20),
    "micro-batches": scenario(jobs__0__training__microbatches=2),
    "forward_s": scenario(jobs__0__training__forward_s=1e-3),
    "fibre rate": scenario(optical__access_bps=50e9),
    "switch delay": scenario(optical__switch_delay_s=1e-3),
    "chunk size": scenario(collectives__chunk_bytes=2**18),
    "method of AllReduce": scenario(collectives__allreduce="ring"),
    "guard time": scenario(thz__round_overhead_s=1e-4),
    "reward weights": scenario(reward__time_weight=0.5, reward__energy_weight=0.5),
    "coherence of the channel": scenario(channel__coherence_s=1e-3),
    "energy per bit": scenario(optical__energy_j_per_bit_hop=1e-12),
}.items():
    add("scenario", label, change)

# -- events and tasks -----------------------------------------------------------------------------

add("events", "label", column("events", "label", pl.lit("nonsense")))
add("events", "method", column("events", "method", pl.lit("ring")))
add("events", "stage", column("events", "stage", col("stage") + 1))
add("events", "bandwidth", column("events", "busbw_gb_s", 1.01 * col("busbw_gb_s")))
add("events", "raised power budget", column(
    "events", "power", col("power").list.eval(pl.element() * 1.5), first_sending))  # fmt: skip
add("events", "removed delay", column(
    "events", "delay_ps", col("delay_ps").list.eval(pl.element() * 0), first_late))  # fmt: skip
add("events", "halved delay", column(
    "events", "delay_ps", col("delay_ps").list.eval(pl.element() // 2), first_late))  # fmt: skip
add("events", "shorter event", column("events", "end_ps", col("end_ps") - 10**6))
add("events", "cheaper fibre", column("events", "optical_energy_j", col("optical_energy_j") / 2))
add("events", "better reward", lambda run: with_tables(
    run, iterations=run.iterations.with_columns(reward=col("reward") / 2)))  # fmt: skip
add("events", "references and rewards rescaled together", lambda run: settled(replace(
    run, references={k: (2 * t, 2 * e) for k, (t, e) in run.references.items()})))  # fmt: skip
add("events", "halved task", column("tasks", "duration_ps", col("duration_ps") // 2))
add("events", "task of another stage", column("tasks", "stage", 1 - col("stage")))

# -- flows and chunks -----------------------------------------------------------------------------

a2a = col("block") == 0
add("chunks", "local flag of an All-to-All", lambda run: column(
    "flows", "local", pl.lit(value=False),
    col("number").is_in(run.events.filter(col("kind") == "a2a")["number"].implode()),
)(run))  # fmt: skip
add("chunks", "wired chunk ready sooner", column(
    "chunks", "ready_ps", col("ready_ps") - 1000, last_wired))  # fmt: skip
add("chunks", "wired chunk ready later", column(
    "chunks", "ready_ps", col("ready_ps") + 1000, last_wired))  # fmt: skip
add("chunks", "wired chunk arrives with another", column(
    "chunks", "end_ps", col("end_ps").shift(-1).fill_null(col("end_ps")), first_wired))  # fmt: skip
add("chunks", "wired chunk arrives at once", column(
    "chunks", "end_ps", col("ready_ps") + 10**7, last_wired))  # fmt: skip
add("chunks", "all wired chunks arrive sooner", column(
    "chunks", "end_ps", (col("ready_ps") + col("end_ps")) // 2, wired))  # fmt: skip
add("chunks", "fabric", column("chunks", "carrier", 1 - col("carrier")))
add("chunks", "decided fabric", column("chunks", "decided", 1 - col("decided")))
add("chunks", "precedence", column("flows", "after", pl.lit([0], dtype=pl.List(pl.Int32))))

# -- the air --------------------------------------------------------------------------------------

everywhere = pl.lit(value=True)
add("air", "power + 0.1 % with consistent energies", column(
    "transmissions", "power_w", col("power_w") * 1.001, everywhere))  # fmt: skip
add("air", "power of one transmission + 0.1 %", column(
    "transmissions", "power_w", col("power_w") * 1.001))  # fmt: skip
add("air", "power - 0.1 %", column("transmissions", "power_w", col("power_w") * 0.999, everywhere))
add("air", "gain", column("transmissions", "gain", col("gain") * 1.01))
add("air", "subband", column("transmissions", "subband", (col("subband") + 1) % 4))
add("air", "discipline", column("rounds", "discipline", pl.lit("streaming"), everywhere))

# -- fibres ---------------------------------------------------------------------------------------

background = col("background_bytes")
add("fibres", "background zeroed", column("links", "background_bytes", background * 0, everywhere))
add("fibres", "background doubled", column("links", "background_bytes", background * 2, everywhere))
add("fibres", "link rows moved", column("links", "start_ps", col("start_ps") + 10**9))
add("fibres", "link rows moved to the span before", column(
    "links", "end_ps", col("end_ps") - 20 * 10**9, col("start_ps") >= 20 * 10**9))  # fmt: skip
add(
    "fibres",
    "two fibres with other loads exchanged",
    column("links", "link", 13 - col("link"), (col("link") >= 6) & (col("link") < 8)),
)

CASES = [(group, name) for group, some in FORGERIES.items() for name in some]


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Run:
    values = Scenario.preset("tiny").model_dump(mode="json", exclude_none=True)
    faulty = Scenario.model_validate(values | {"faults": [FAULTY]})
    run = simulate(faulty, "fixed-ratio", 3, seed=3)
    return Run.load(run.save(tmp_path_factory.mktemp("honest") / "run"))


def test_the_honest_run_is_sound(honest: Run) -> None:
    assert audit(honest).violations == []
    assert audit(settled(honest)).violations == []


def test_there_are_as_many_forgeries_as_the_title_says() -> None:
    assert len(CASES) >= 80


def test_what_says_the_same_is_no_forgery(honest: Run) -> None:
    """Up-links 0 and 1 carry the same in every sample: exchanged, the table holds the same rows."""
    exchanged = column("links", "link", 1 - col("link"), col("link") < 2)(honest)
    told, said = (run.tables["links"].sort("end_ps", "link") for run in (honest, exchanged))
    assert told.equals(said)


def sealed_again(run: Run) -> Run:
    """What the forger would write into ``run.json``, had he changed the scenario."""
    digest = {"scenario_sha256": run.scenario.digest}
    return replace(run, declared={**(run.declared or {}), **digest})


@pytest.mark.parametrize(("group", "name"), CASES)
def test_a_forgery_is_caught(group: str, name: str, honest: Run) -> None:
    forged = FORGERIES[group][name](honest)
    assert audit(forged if group == "declared" else sealed_again(forged)).broken
