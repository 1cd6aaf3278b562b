"""Mutants of what decides, and of what judges: policies, checks and the auditor."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

PLANS = ("tests/transfers/test_check_plan.py::test_a_double_reduction_is_seen",)
SCHEDULES = ("tests/transfers/test_check_schedule.py",)
AUDIT = ("tests/auditor/test_audit.py",)
POSTERIOR = "tests/coordinator/test_posterior.py"
BANDIT = "tests/coordinator/test_bandit.py"
DDQN = "tests/coordinator/test_ddqn.py"
TRAINING = ("tests/coordinator/test_training.py",)
FEATURES = ("tests/coordinator/test_features.py",)
REPLAY = ("tests/coordinator/test_replay.py",)
ELEMENTARY = "tests/test_elementary.py"
AIR = "thzsync.auditor.air"
POSTERIOR_MODULE = "thzsync.coordinator.posterior"
BANDIT_MODULE = "thzsync.coordinator.bandit"
DDQN_MODULE = "thzsync.coordinator.ddqn"

MUTANTS = (
    Mutant(
        "thzsync.transfers.semantics",
        "judge_shard",
        "held[q] != wanted[r, q]",
        "held[q] < wanted[r, q]",
        PLANS,
        "a contribution that is added twice passes",
    ),
    Mutant(
        "thzsync.transfers.delivery",
        "check_delivery",
        "times != plan.on_thz",
        "times < plan.on_thz",
        SCHEDULES,
        "a chunk that is sent twice passes",
    ),
    Mutant(
        "thzsync.transfers.airtime",
        "_check_chains",
        "busy > thz.chains + 0.5",
        "busy > thz.chains + 1.5",
        SCHEDULES,
        "one transmission beyond the RF chains passes",
    ),
    Mutant(
        "thzsync.auditor.interference",
        "_check",
        "told_w < least_w * headroom * (1 - TOLERANCE)",
        "told_w < 0",
        ("tests/auditor/test_audit_interference.py",),
        "a level below what a start implies passes",
    ),
    Mutant(
        "thzsync.auditor.interference",
        "_check",
        "level_w > told_w * (1 + TOLERANCE)",
        "level_w < 0",
        ("tests/auditor/test_audit_interference.py",),
        "a promise may be broken on the way",
    ),
    Mutant(
        "thzsync.auditor.rounds",
        "steps",
        "sent.step != names",
        "sent.step == None",
        ("tests/simulation/test_rate_laws.py::test_a_forged_step_or_power_is_found",),
        "any step may be recorded",
    ),
    Mutant(
        AIR,
        "half_duplex",
        "start[b] < end[a]",
        "start[b] < start[a]",
        AUDIT,
        "overlapping transmissions on one subband pass",
    ),
    Mutant(
        AIR,
        "power_budget",
        "share[member[member >= 0]] = 1.0",
        "share[:] = 1.0",
        AUDIT,
        "decided power budgets are not enforced",
    ),
    Mutant(
        "thzsync.auditor.causality",
        "chunk_precedence",
        "ready_ps = chunks.ready_ps[row]",
        "ready_ps = chunks.end_ps[row]",
        AUDIT,
        "a chunk that leaves before its predecessor has come passes",
    ),
    Mutant(
        "thzsync.auditor.flows",
        "told_ps",
        "single[row] & single[before]",
        "single[row]",
        ("tests/auditor/test_audit_flows.py",),
        "a chunk of THz does not wait for the whole run before it",
    ),
    Mutant(
        "thzsync.auditor.fibre",
        "_by_rack",
        'left = [arrived.filter(~now), ordered.unique("rack", keep="last", maintain_order=True)]',
        "left = [arrived.filter(~now)]",
        ("tests/auditor/test_audit_parts.py",),
        "arrivals at a rack are not compared across parts",
    ),
    Mutant(
        "thzsync.auditor.rounds",
        "discipline",
        "used != declared",
        "(used != declared) & False",
        ("tests/properties/test_declared_disciplines.py",),
        "a record of another discipline passes",
    ),
    Mutant(
        "thzsync.auditor.delivery",
        "_problem",
        "(arrived[0] != 1).any()",
        "(arrived[0] < 1).any()",
        AUDIT,
        "a sum that counts somebody twice passes",
    ),
    Mutant(
        "thzsync.auditor.totals",
        "reward",
        "weights.energy_weight * energy_j[rows] / reference_j",
        "weights.time_weight * energy_j[rows] / reference_j",
        AUDIT,
        "energy is weighed like time",
    ),
    Mutant(
        "thzsync.auditor.totals",
        "bubble",
        'pl.col("end").cum_max()',
        'pl.col("end")',
        ("tests/properties/test_compute_places.py",),
        "overlapping tasks count twice",
    ),
    Mutant(
        POSTERIOR_MODULE,
        "LinearHead.update",
        "reward * phi",
        "phi",
        (f"{POSTERIOR}::test_mean_and_width_are_those_of_bayesian_linear_regression",),
        "a posterior does not look at the reward",
    ),
    Mutant(
        "thzsync.coordinator.dense",
        "add_slopes",
        "range(fours, samples)",
        "range(fours, samples - 1)",
        TRAINING,
        "the last of some samples is left out",
    ),
    Mutant(
        BANDIT_MODULE,
        "NeuralLinearUCB.train",
        "self.head.rebuild(phi, replay.reward[: len(replay)])",
        "self.head.rebuild(phi[-1:], replay.reward[: len(replay)][-1:])",
        (f"{BANDIT}::test_training_happens_at_fixed_intervals_and_rebuilds_the_posterior",),
        "training forgets all samples but one",
    ),
    Mutant(
        BANDIT_MODULE,
        "BanditPolicy.decide",
        "0.0 if self.frozen else model.settings.exploration",
        "model.settings.exploration",
        (f"{BANDIT}::test_only_a_bandit_that_is_not_frozen_tries_what_it_knows_nothing_about",),
        "a frozen policy explores",
    ),
    Mutant(
        DDQN_MODULE,
        "DdqnPolicy._next_values",
        "self.target.values(Batch(events.rows, events.group))",
        "self.online.values(Batch(events.rows, events.group))",
        (f"{DDQN}::test_the_target_network_values_the_online_networks_choice",),
        "the online network values its own choice",
    ),
    Mutant(
        DDQN_MODULE,
        "DdqnPolicy._next_values",
        "slots + 1",
        "slots",
        (
            f"{DDQN}::test_the_next_state_is_the_event_activated_next_whatever_completes_first",
            f"{DDQN}::test_the_target_network_values_the_online_networks_choice",
        ),
        "the next state is the present one",
    ),
    Mutant(
        "thzsync.coordinator.replay",
        "Replay.add",
        "self.group[slot] = -1",
        "",
        REPLAY,
        "a narrow sample keeps flows of a wider one",
    ),
    Mutant(
        "thzsync.synthesis.program",
        "AirtimeProgram.least_s",
        "max(best_s, self._prove(w, u), self._prove(self._mended(w, u), u))",
        "max(best_s, self._prove(w, u))",
        ("tests/synthesis/test_bounds.py",),
        "a gap that the solver left costs all links of its demand",
    ),
    Mutant(
        POSTERIOR_MODULE,
        "LinearHead.rebuild",
        "product(phi.T, reward)",
        "phi.T @ reward",
        (f"{ELEMENTARY}::test_no_number_of_a_run_comes_from_a_function_that_suits_the_processor",),
        "what is learnt depends on the processor",
    ),
    Mutant(
        "thzsync.coordinator.features",
        "featurise",
        "-np.sort(-gains, axis=1)",
        "np.sort(gains, axis=1)",
        FEATURES,
        "gains stand worst first",
    ),
    Mutant(
        "thzsync.coordinator.interface",
        "Action.check",
        "self.power == 0",
        "self.power >= 0",
        ("tests/simulation/test_engine.py::test_an_impossible_action_is_refused",),
        "power for silent racks is accepted",
    ),
)
