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
BEAM = "tests/coordinator/test_beam.py"
FLAT = "tests/coordinator/test_flat.py"
FEATURES = ("tests/coordinator/test_features.py",)
REPLAY = ("tests/coordinator/test_replay.py",)
ELEMENTARY = "tests/test_elementary.py"

MUTANTS = (
    Mutant(
        "transfers/semantics.py",
        "            if held[q] != wanted[r, q]:\n",
        "            if held[q] < wanted[r, q]:\n",
        PLANS,
        "a contribution that is added twice passes",
    ),
    Mutant(
        "transfers/delivery.py",
        "np.flatnonzero(times != plan.on_thz)",
        "np.flatnonzero(times < plan.on_thz)",
        SCHEDULES,
        "a chunk that is sent twice passes",
    ),
    Mutant(
        "transfers/airtime.py",
        "busy > thz.chains + 0.5",
        "busy > thz.chains + 1.5",
        SCHEDULES,
        "one transmission beyond the RF chains passes",
    ),
    Mutant(
        "auditor/air.py",
        "same & (start[b] < end[a]),",
        "same & (start[b] < start[a]),",
        AUDIT,
        "overlapping transmissions on one subband pass",
    ),
    Mutant(
        "auditor/air.py",
        "share[seat[seat >= 0]] = 1.0",
        "share[:] = 1.0",
        AUDIT,
        "decided power budgets are not enforced",
    ),
    Mutant(
        "auditor/causality.py",
        "chunks.ready_ps[row] < told_ps,",
        "chunks.end_ps[row] < told_ps,",
        AUDIT,
        "a chunk that leaves before its predecessor has come passes",
    ),
    Mutant(
        "auditor/runs.py",
        "both = self._single[row] & self._single[before]",
        "both = self._single[row]",
        ("tests/auditor/test_audit_flows.py",),
        "a chunk of THz does not wait for the whole run before it",
    ),
    Mutant(
        "auditor/arrivals.py",
        "left.of(~now).beside(came.of(last))",
        "left.of(~now)",
        ("tests/auditor/test_audit_parts.py",),
        "arrivals at a rack are not compared across parts",
    ),
    Mutant(
        "auditor/rounds.py",
        "        used != declared,\n",
        "        (used != declared) & False,\n",
        ("tests/properties/test_declared_disciplines.py",),
        "a record of another discipline passes",
    ),
    Mutant(
        "auditor/meaning.py",
        "        if (arrived[0] != 1).any():\n",
        "        if (arrived[0] < 1).any():\n",
        AUDIT,
        "a sum that counts somebody twice passes",
    ),
    Mutant(
        "auditor/totals.py",
        "expected[rows] -= weights.energy_weight * energy_j[rows] / reference_j",
        "expected[rows] -= weights.time_weight * energy_j[rows] / reference_j",
        AUDIT,
        "energy is weighed like time",
    ),
    Mutant(
        "auditor/shares.py",
        "        reached = max(reached, finish)\n",
        "        reached = finish\n",
        ("tests/properties/test_compute_places.py",),
        "overlapping tasks count twice",
    ),
    Mutant(
        "coordinator/posterior.py",
        "        self.moment += reward * phi\n",
        "        self.moment += phi\n",
        (f"{POSTERIOR}::test_mean_and_width_are_those_of_bayesian_linear_regression",),
        "a posterior does not look at the reward",
    ),
    Mutant(
        "coordinator/training.py",
        "    wide_head[:units], wide_head[wider] = head[:units], head[units]\n",
        "    wide_head[:units], wide_head[units] = head[:units], head[units]\n",
        TRAINING,
        "the weight of the constant is that of a unit which fills a lane",
    ),
    Mutant(
        "coordinator/dense.py",
        "range(whole, samples):\n                total = total + inputs",
        "range(whole, samples - 1):\n                total = total + inputs",
        TRAINING,
        "the last of some samples is left out",
    ),
    Mutant(
        "coordinator/bandit.py",
        "self.head.rebuild(phi, replay.reward[: len(replay)])",
        "self.head.rebuild(phi[-1:], replay.reward[: len(replay)][-1:])",
        (f"{BANDIT}::test_training_happens_at_fixed_intervals_and_rebuilds_the_posterior",),
        "training forgets all samples but one",
    ),
    Mutant(
        "coordinator/bandit.py",
        "0.0 if self.frozen else model.settings.exploration",
        "model.settings.exploration",
        (f"{BANDIT}::test_only_a_bandit_that_is_not_frozen_tries_what_it_knows_nothing_about",),
        "a frozen policy explores",
    ),
    Mutant(
        "coordinator/ddqn.py",
        "return self.target.values(Batch(events.rows, events.group))",
        "return self.online.values(Batch(events.rows, events.group))",
        (f"{DDQN}::test_the_target_network_values_the_online_networks_choice",),
        "the online network values its own choice",
    ),
    Mutant(
        "coordinator/ddqn.py",
        "self.replay.events((slots + 1) % len(self.replay))",
        "self.replay.events(slots % len(self.replay))",
        (
            f"{DDQN}::test_the_next_state_is_the_event_activated_next_whatever_completes_first",
            f"{DDQN}::test_the_target_network_values_the_online_networks_choice",
        ),
        "the next state is the present one",
    ),
    Mutant(
        "coordinator/replay.py",
        "        self.group[slot] = -1\n",
        "",
        REPLAY,
        "a narrow sample keeps flows of a wider one",
    ),
    Mutant(
        "coordinator/beam.py",
        "deviation_cost * (beam.deviations[b] + moved)",
        "deviation_cost * beam.deviations[b]",
        (f"{BEAM}::test_the_kernel_finds_what_the_readable_search_finds",),
        "leaving the uniform action costs nothing at first",
    ),
    Mutant(
        "coordinator/pooled_scoring.py",
        "largest[k] = max(largest[k], sums[s, k] * per_member)",
        "largest[k] = sums[s, k] * per_member",
        (f"{BEAM}::test_no_candidate_is_left_out_that_would_have_survived",),
        "the last sender counts as the largest",
    ),
    Mutant(
        "coordinator/pooled_scoring.py",
        "        varied[k] += scratch.siblings[k]\n",
        "",
        (f"{BEAM}::test_no_candidate_is_left_out_that_would_have_survived",),
        "a sender's other flows do not count in its mean",
    ),
    Mutant(
        "coordinator/flat_scoring.py",
        "watts = budget if others or part > 0 else 0.0",
        "watts = budget",
        (f"{FLAT}::test_a_wide_beam_finds_the_best_of_all_actions",),
        "the power of a silent sender counts",
    ),
    Mutant(
        "coordinator/search.py",
        "(2 * step * chunks + steps) // (2 * steps)",
        "(2 * step * chunks) // (2 * steps)",
        (f"{BEAM}::test_where_leaving_it_costs_too_much_the_best_uniform_action_is_found",),
        "shares of chunks are rounded down",
    ),
    Mutant(
        "synthesis/program.py",
        "max(best_s, self._prove(w, u), self._prove(self._mended(w, u), u))",
        "max(best_s, self._prove(w, u))",
        ("tests/synthesis/test_bounds.py",),
        "a gap that the solver left costs all links of its demand",
    ),
    Mutant(
        "coordinator/posterior.py",
        "        self.moment = product(phi.T, reward)\n",
        "        self.moment = phi.T @ reward\n",
        (f"{ELEMENTARY}::test_no_number_of_a_run_comes_from_a_function_that_suits_the_processor",),
        "what is learnt depends on the processor",
    ),
    Mutant(
        "coordinator/features.py",
        "gains = -np.sort(-gains, axis=1)",
        "gains = np.sort(gains, axis=1)",
        FEATURES,
        "gains stand worst first",
    ),
    Mutant(
        "coordinator/interface.py",
        "if not sending[position] and level != 0:",
        "if not sending[position] and level < 0:",
        ("tests/simulation/test_engine.py::test_an_impossible_action_is_refused",),
        "power for silent racks is accepted",
    ),
)
