"""Mutants of what runs and records a training job."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

SITUATION = ("tests/simulation/test_situation.py",)
INSTANTS = ("tests/simulation/test_instants.py",)
FALLBACK = ("tests/execution/test_fallback.py",)
REFERENCES = ("tests/simulation/test_references.py",)
LATENESS = ("tests/simulation/test_stragglers.py",)
JOBS = ("tests/properties/test_independent_jobs.py",)
COMPUTE = ("tests/properties/test_compute_places.py",)
YIELDED = ("tests/properties/test_yielded_decisions.py",)
LEDGER = ("tests/properties/test_one_ledger.py",)
FAULTS = ("tests/simulation/test_faults.py",)
AUDITED = ("tests/auditor/test_audit_runs.py",)
WORLD = "thzsync.simulation.world"
LATENESS_MODULE = "thzsync.simulation.world"
ENGINE = "thzsync.simulation.engine"
EXECUTOR = "thzsync.execution.executor"
METRICS = "thzsync.simulation.metrics"
ROWS = "thzsync.simulation.rows"
FAULTS_MODULE = "thzsync.execution.faults"

MUTANTS = (
    Mutant(
        "thzsync.simulation.packet_check",
        "Picker._end",
        "max(self._share, 1 / SHORT) if blocks <= LEAST else self._share",
        "self._share",
        ("tests/simulation/test_picking.py", "tests/simulation/test_fidelity.py"),
        "a type of which few events are met has no interval",
    ),
    Mutant(
        "thzsync.simulation.packet_check",
        "PacketCheck.finished",
        "_depends_on_fibre(event) and self._picker.picks(work.graph.kind)",
        "self._picker.picks(work.graph.kind) and _depends_on_fibre(event)",
        ("tests/simulation/test_fidelity.py",),
        "events on THz alone take places in the sample",
    ),
    Mutant(
        WORLD,
        "World.situation",
        "delay_ps[np.searchsorted(offer.racks, src)] > 0",
        "delay_ps[np.searchsorted(offer.racks, src)] == 0",
        SITUATION,
        "punctual racks are shown as late",
    ),
    Mutant(
        WORLD,
        "World.situation",
        "self.fabric.occupancy(src, dst)",
        "self.fabric.occupancy(dst, src)",
        SITUATION,
        "queues of the way back are shown",
    ),
    Mutant(
        "thzsync.simulation.references",
        "reference_costs",
        "_AllWired(scenario, seed, step or (lambda: None))",
        "_AllWired(scenario, 0, step or (lambda: None))",
        REFERENCES,
        "references are always those of seed 0",
    ),
    Mutant(
        LATENESS_MODULE,
        "delays_ps",
        "model.min_delay_s + span * draw[1]",
        "model.min_delay_s + 0 * span * draw[1]",
        LATENESS,
        "who is late is late by the least delay",
    ),
    Mutant(
        ENGINE,
        "Engine._step",
        "agenda.run_due(executor.now_ps)\nself._phase = Phase.SETTLING",
        "agenda.run_due(executor.now_ps)\nexecutor.dispatch()\nself._phase = Phase.SETTLING",
        INSTANTS,
        "rounds are formed before the instant has settled",
    ),
    Mutant(
        ENGINE,
        "Engine._step",
        "not agenda.run_due(now_ps) and not self._released",
        "agenda.run_due(now_ps) or True",
        INSTANTS,
        "an instant settles only once",
    ),
    Mutant(
        EXECUTOR,
        "Executor._fall_back",
        "self._timeout_ps",
        "self._timeout_ps // 2",
        FALLBACK,
        "chunks fall back after half their timeout",
    ),
    Mutant(
        EXECUTOR,
        "Executor._fall_back",
        "self._has_fibre(stuck)",
        "True",
        FALLBACK,
        "chunks fall back to a dead fibre",
    ),
    Mutant(
        ENGINE,
        "Engine._rank",
        "int(not run.graph.gates_compute[event.id])",
        "int(run.graph.gates_compute[event.id])",
        ("tests/simulation/test_order.py",),
        "what compute waits for lets gradients pass",
    ),
    Mutant(
        LATENESS_MODULE,
        "job_path",
        "() if name == DEFAULT_JOB else (name_key(name),)",
        "()",
        JOBS,
        "all jobs draw the same stragglers",
    ),
    Mutant(
        ENGINE,
        "Engine._close_instant",
        "run.iteration >= 0 and run.iteration_done",
        "run.iteration >= 0 and all(r.iteration < 0 or r.iteration_done for r in self.jobs)",
        JOBS,
        "jobs wait for each other between iterations",
    ),
    Mutant(
        ENGINE,
        "Engine.__init__",
        "job.iterations or iterations",
        "iterations",
        JOBS,
        "a job's own number of iterations is ignored",
    ),
    Mutant(
        ENGINE,
        "Engine._event_done",
        "pending.situation.decision",
        "done.work.number + 1",
        YIELDED,
        "outcomes carry the number of another decision",
    ),
    Mutant(
        "thzsync.simulation.session",
        "Session.fork",
        "memo[id(engine.recorder)] = Recorder(keep=())",
        "memo[id(engine.recorder)] = engine.recorder",
        YIELDED,
        "a fork writes into the records of its original",
    ),
    Mutant(
        METRICS,
        "Weights.reward",
        "self.energy * energy_j / reference[1]",
        "self.energy * energy_j / reference[0]",
        REFERENCES,
        "energy is compared with the reference of time",
    ),
    Mutant(
        METRICS,
        "_covered_ps",
        "until = max(until, end_ps)",
        "until = end_ps",
        COMPUTE,
        "overlapping tasks count twice",
    ),
    Mutant(
        METRICS,
        "computing",
        '[("rank", task.rank)]',
        '[("rack", task.rank)]',
        COMPUTE,
        "ranks are taken for racks",
    ),
    Mutant(
        ROWS,
        "write_iteration",
        "2 * sum(c.airtime_ps for c in costs)",
        "sum(c.airtime_ps for c in costs)",
        AUDITED,
        "only one end of a transmission counts as busy",
    ),
    Mutant(
        ROWS,
        "_write_flows",
        "graph.decided",
        "done.carrier",
        FAULTS,
        "the record calls decided what was carried",
    ),
    Mutant(
        EXECUTOR,
        "Executor._finish",
        "self.carrier(work)",
        "work.graph.decided",
        FALLBACK,
        "a finished event says what was decided, not what was carried",
    ),
    Mutant(
        "thzsync.network.network",
        "Network.degraded_bps",
        "min(shares, default=1.0)",
        "(shares[-1] if shares else 1.0)",
        FAULTS,
        "the last of overlapping faults decides a fibre's rate",
    ),
    Mutant(
        FAULTS_MODULE,
        "FaultTimeline.leave_dead_fibres",
        "wired & stuck[graph.chunk_flow]",
        "wired & ~stuck[graph.chunk_flow]",
        FAULTS,
        "chunks leave the fibres that work",
    ),
    Mutant(
        "thzsync.records.run",
        "Run.last_iteration",
        'self.iterations.group_by("job", maintain_order=True).last()',
        'self.iterations.group_by("job", maintain_order=True).first()',
        ("tests/simulation/test_engine.py::test_the_last_iteration_alone_audits_clean",),
        "the last iteration of a run is its first",
    ),
)
