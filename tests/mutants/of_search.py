"""Mutants of the search for an action."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

BEAM = "thzsync.coordinator.beam"
SCORES = "thzsync.coordinator.scoring"
TESTS = "tests/coordinator/test_beam.py"
AS_READABLE = (f"{TESTS}::test_the_kernel_finds_what_the_readable_search_finds",)

MUTANTS = (
    Mutant(
        BEAM,
        "charge",
        "beam.deviations[b] + moved",
        "beam.deviations[b]",
        AS_READABLE,
        "leaving the uniform action costs nothing at first",
    ),
    Mutant(
        BEAM,
        "survive",
        "score[b, option] > score[parent, best]",
        "score[b, option] >= score[parent, best]",
        (f"{TESTS}::test_ties_go_to_the_smallest_action_with_the_highest_power",),
        "of equally good candidates the last is taken",
    ),
    Mutant(
        BEAM,
        "survive",
        "after.deviations[place] += moved",
        "",
        AS_READABLE,
        "what has left the uniform action once leaves it again at no cost",
    ),
    Mutant(
        SCORES,
        "_settle",
        "s != sender",
        "True",
        AS_READABLE,
        "what a sender did before counts beside what it tries",
    ),
    Mutant(
        SCORES,
        "_score_change",
        "excess > 0.0",
        "True",
        AS_READABLE,
        "a sender that is not the largest lowers the largest mean",
    ),
    Mutant(
        "thzsync.coordinator.scoring",
        "upper_confidence",
        "exploration * math.sqrt(square)",
        "exploration * square",
        (f"{TESTS}::test_the_score_equals_the_plain_evaluation",),
        "the variance counts as the uncertainty",
    ),
)
