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
        "share[member[member >= 0]] = 1.0",
        "share[:] = 1.0",
        AUDIT,
        "decided power budgets are not enforced",
    ),
    Mutant(
        "auditor/causality.py",
        'ready_ps, told_ps, chunks.at(row), "ready"',
        'chunks.end_ps[row], told_ps, chunks.at(row), "ready"',
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
        "        for i in range(whole, len(inputs)):\n            _rectify_one",
        "        for i in range(whole, len(inputs) - 1):\n            _rectify_one",
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
        "return self.target.values(batch)",
        "return self.online.values(batch)",
        (f"{DDQN}::test_the_target_network_values_the_online_networks_choice",),
        "the online network values its own choice",
    ),
    Mutant(
        "coordinator/ddqn.py",
        "following = (slots + 1) % len(self.replay)",
        "following = slots % len(self.replay)",
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
        "coordinator/survivors.py",
        "            deviations = beam.deviations[b] + (trial.value[option] != uniform)\n",
        "            deviations = beam.deviations[b]\n",
        (f"{BEAM}::test_the_kernel_finds_what_the_readable_search_finds",),
        "leaving the uniform action costs nothing at first",
    ),
    Mutant(
        "coordinator/counts.py",
        "        least = beam.score[len(beam.score) - 1] - slack\n",
        "        least = beam.score[0] - slack\n",
        (f"{BEAM}::test_no_candidate_is_left_out_that_would_have_survived",),
        "only candidates as good as the best survivor stay",
    ),
    Mutant(
        "coordinator/counts.py",
        "                far += farthest(trial.reach, phis[option], phis[here])\n",
        "                far += 0.0\n",
        (f"{BEAM}::test_no_candidate_is_left_out_that_would_have_survived",),
        "a candidate is thought to be no more uncertain than its survivor",
    ),
    Mutant(
        "coordinator/lines.py",
        "    alive = (now & 1) - (before & 1)\n",
        "    alive = now & 1\n",
        (f"{BEAM}::test_estimates_are_the_plain_scores_but_for_rounding",),
        "a unit that ends goes on adding to the mean",
    ),
    Mutant(
        "coordinator/lines.py",
        "            turn[k] = _turn(rest, lines, k, per_member)\n        nearest",
        "            turn[k] = np.inf\n        nearest",
        (f"{BEAM}::test_estimates_are_the_plain_scores_but_for_rounding",),
        "a unit that has begun never takes the lead",
    ),
    Mutant(
        "coordinator/uniform.py",
        "            largest[k, a] = mean if mean > most else most\n",
        "            largest[k, a] = mean\n",
        (f"{BEAM}::test_uniform_actions_side_by_side_score_as_each_does_alone",),
        "the last sender of a uniform action counts as the largest",
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
        "best_first = -np.sort(-situation.snr_db_per_w, axis=1)",
        "best_first = np.sort(situation.snr_db_per_w, axis=1)",
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
