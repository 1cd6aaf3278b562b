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

MUTANTS = (
    Mutant(
        "simulation/picking.py",
        "max(self._share, 1 / SHORT) if blocks <= LEAST else self._share",
        "self._share",
        ("tests/simulation/test_picking.py", "tests/simulation/test_fidelity.py"),
        "a type of which few events are met has no interval",
    ),
    Mutant(
        "simulation/packet_check.py",
        "if event.on_fibre and self._picker.picks(event.graph.kind):",
        "if self._picker.picks(event.graph.kind) and event.on_fibre:",
        ("tests/simulation/test_fidelity.py",),
        "events on THz alone take places in the sample",
    ),
    Mutant(
        "simulation/world.py",
        "late_ps[np.searchsorted(offer.racks, src)] > 0",
        "late_ps[np.searchsorted(offer.racks, src)] == 0",
        SITUATION,
        "punctual racks are shown as late",
    ),
    Mutant(
        "simulation/world.py",
        "self.fabric.occupancy(src, dst)",
        "self.fabric.occupancy(dst, src)",
        SITUATION,
        "queues of the way back are shown",
    ),
    Mutant(
        "simulation/simulator.py",
        "REFERENCE_ITERATIONS, seed, {}",
        "REFERENCE_ITERATIONS, 0, {}",
        REFERENCES,
        "references are always those of seed 0",
    ),
    Mutant(
        "simulation/stragglers.py",
        "model.min_delay_s + span * draw[1]",
        "model.min_delay_s + 0 * span * draw[1]",
        LATENESS,
        "who is late is late by the least delay",
    ),
    Mutant(
        "simulation/engine.py",
        "            agenda.run_due(executor.now_ps)\n            self._phase = Phase.SETTLING\n",
        "            agenda.run_due(executor.now_ps)\n            executor.dispatch()\n"
        "            self._phase = Phase.SETTLING\n",
        INSTANTS,
        "rounds are formed before the instant has settled",
    ),
    Mutant(
        "simulation/engine.py",
        "if not agenda.run_due(now_ps) and not self._released:",
        "if agenda.run_due(now_ps) or True:",
        INSTANTS,
        "an instant settles only once",
    ),
    Mutant(
        "execution/executor.py",
        "due_ps = stuck.since_ps + self._timeout_ps",
        "due_ps = stuck.since_ps + self._timeout_ps // 2",
        FALLBACK,
        "chunks fall back after half their timeout",
    ),
    Mutant(
        "execution/executor.py",
        "            elif self._has_fibre(stuck):\n",
        "            else:\n",
        FALLBACK,
        "chunks fall back to a dead fibre",
    ),
    Mutant(
        "simulation/engine.py",
        "int(not pending.job.graph.gates_compute[pending.event.id])",
        "int(pending.job.graph.gates_compute[pending.event.id])",
        ("tests/simulation/test_order.py",),
        "what compute waits for lets gradients pass",
    ),
    Mutant(
        "simulation/stragglers.py",
        "return () if name == DEFAULT_JOB else (name_key(name),)",
        "return ()",
        JOBS,
        "all jobs draw the same stragglers",
    ),
    Mutant(
        "simulation/engine.py",
        "if run.iteration >= 0 and run.iteration_done]",
        "if run.iteration >= 0 and all(r.iteration < 0 or r.iteration_done for r in self.jobs)]",
        JOBS,
        "jobs wait for each other between iterations",
    ),
    Mutant(
        "simulation/engine.py",
        "JobRun(index, job, job.iterations or iterations, ",
        "JobRun(index, job, iterations, ",
        JOBS,
        "a job's own number of iterations is ignored",
    ),
    Mutant(
        "simulation/engine.py",
        "                pending.situation.decision,\n",
        "                done.work.number + 1,\n",
        YIELDED,
        "outcomes carry the number of another decision",
    ),
    Mutant(
        "simulation/session.py",
        "        memo[id(engine.recorder)] = Recorder(keep=())\n",
        "        memo[id(engine.recorder)] = engine.recorder\n",
        YIELDED,
        "a fork writes into the records of its original",
    ),
    Mutant(
        "simulation/metrics.py",
        "self.energy * energy_j / reference[1]",
        "self.energy * energy_j / reference[0]",
        REFERENCES,
        "energy is compared with the reference of time",
    ),
    Mutant(
        "simulation/metrics.py",
        "        until = max(until, end_ps)\n",
        "        until = end_ps\n",
        COMPUTE,
        "overlapping tasks count twice",
    ),
    Mutant(
        "simulation/metrics.py",
        'return [("rank", task.rank)]',
        'return [("rack", task.rank)]',
        COMPUTE,
        "ranks are taken for racks",
    ),
    Mutant(
        "simulation/rows.py",
        "air_ps = 2 * sum(",
        "air_ps = sum(",
        AUDITED,
        "only one end of a transmission counts as busy",
    ),
    Mutant(
        "simulation/rows.py",
        "decided=graph.on_thz",
        "decided=done.on_air",
        FAULTS,
        "the record calls decided what was carried",
    ),
    Mutant(
        "execution/executor.py",
        "        on_air = self.on_air(work)\n",
        "        on_air = work.graph.on_thz\n",
        FALLBACK,
        "a finished event says what was decided, not what was carried",
    ),
    Mutant(
        "optical/network.py",
        "min(shares, default=1.0)",
        "(shares[-1] if shares else 1.0)",
        FAULTS,
        "the last of overlapping faults decides a fibre's rate",
    ),
    Mutant(
        "execution/faults.py",
        "np.flatnonzero(~self._executor.on_air(work) & stuck[graph.chunk_flow])",
        "np.flatnonzero(~self._executor.on_air(work) & ~stuck[graph.chunk_flow])",
        FAULTS,
        "chunks leave the fibres that work",
    ),
    Mutant(
        "records/run.py",
        'self.iterations.group_by("job", maintain_order=True).last()',
        'self.iterations.group_by("job", maintain_order=True).first()',
        ("tests/simulation/test_engine.py::test_the_last_iteration_alone_audits_clean",),
        "the last iteration of a run is its first",
    ),
)
