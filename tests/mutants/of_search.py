"""Mutants of the search for an action."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

BEAM = "tests/coordinator/test_beam.py"
COUNTS = "thzsync.coordinator.counts"
LINES = "thzsync.coordinator.lines"

MUTANTS = (
    Mutant(
        "thzsync.coordinator.survivors",
        "charge",
        "beam.deviations[b] + (trial.value[option] != uniform)",
        "beam.deviations[b]",
        (f"{BEAM}::test_the_kernel_finds_what_the_readable_search_finds",),
        "leaving the uniform action costs nothing at first",
    ),
    Mutant(
        COUNTS,
        "estimate_counts",
        "beam.score[len(beam.score) - 1]",
        "beam.score[0]",
        (f"{BEAM}::test_no_candidate_is_left_out_that_would_have_survived",),
        "only candidates as good as the best survivor stay",
    ),
    Mutant(
        COUNTS,
        "estimate_counts",
        "farthest(trial.reach, phis[option], phis[here])",
        "0.0",
        (f"{BEAM}::test_no_candidate_is_left_out_that_would_have_survived",),
        "a candidate is thought to be no more uncertain than its survivor",
    ),
    Mutant(
        LINES,
        "bend",
        "(now & 1) - (before & 1)",
        "now & 1",
        (f"{BEAM}::test_estimates_are_the_plain_scores_but_for_rounding",),
        "a unit that ends goes on adding to the mean",
    ),
    Mutant(
        LINES,
        "follow",
        "_turn(rest, lines, k, per_member)",
        "np.inf",
        (f"{BEAM}::test_estimates_are_the_plain_scores_but_for_rounding",),
        "a unit that has begun never takes the lead",
    ),
    Mutant(
        "thzsync.coordinator.uniform",
        "_add_sender",
        "mean if mean > most else most",
        "mean",
        (f"{BEAM}::test_uniform_actions_side_by_side_score_as_each_does_alone",),
        "the last sender of a uniform action counts as the largest",
    ),
)
