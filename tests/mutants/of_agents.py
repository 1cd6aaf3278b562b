"""Mutants of the door for agents of reinforcement learning."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

EPISODES = "tests/gym/test_environment.py"
ENVIRONMENT = "thzsync.gym.environment"

MUTANTS = (
    Mutant(
        ENVIRONMENT,
        "_reward",
        "sum(outcome.reward for outcome in outcomes)",
        "sum(outcome.reward for outcome in outcomes[:1])",
        (f"{EPISODES}::test_rewards_of_an_episode_sum_to_those_of_its_events",),
        "of events that end in one step only the first is rewarded",
    ),
    Mutant(
        ENVIRONMENT,
        "CollectivesEnv._references_of",
        "reference_costs(self.scenario, seed)",
        "reference_costs(self.scenario, 0)",
        (f"{EPISODES}::test_references_are_those_of_the_seed_and_worked_out_once",),
        "agents are judged by the references of seed 0",
    ),
    Mutant(
        "thzsync.gym.actions",
        "Full.action",
        "choice[self.capacity.units :][offer.rack_group]",
        "choice[self.capacity.units :][0 * offer.rack_group]",
        ("tests/gym/test_actions.py::test_every_unit_and_every_sender_has_a_number_of_its_own",),
        "the first sender's level is everybody's",
    ),
    Mutant(
        "thzsync.gym.actions",
        "Full.mask",
        "shares[: offer.units] = levels[: offer.groups] = 1",
        "shares[: offer.units] = levels[: offer.units] = 1",
        ("tests/gym/test_actions.py::test_masks_leave_every_distinct_action_and_no_other",),
        "absent senders seem to have levels to choose from",
    ),
    Mutant(
        "thzsync.simulation.references",
        "_AllWired._record_iteration",
        "self._of_iteration[run.index].clear()",
        "pass",
        ("tests/simulation/test_references.py",),
        "the first iteration counts three times",
    ),
    Mutant(
        "thzsync.gym.capacity",
        "_largest_offer",
        "np.maximum(demand.size_bytes, 1)",
        "np.maximum(demand.size_bytes, 0)",
        ("tests/gym/test_capacity.py::test_pairs_that_have_no_bytes_this_time_have_room",),
        "there is room for the pairs of the first iteration only",
    ),
)
