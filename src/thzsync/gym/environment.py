"""The Gymnasium environment: one episode is a run, one step is one decision."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import gymnasium

from thzsync.coordinator import Outcome, Situation
from thzsync.errors import ThzSyncError
from thzsync.gym.actions import MaskArray, coding_of
from thzsync.gym.capacity import at_least, capacity_of
from thzsync.gym.observations import Observation, Observations
from thzsync.records import References, Run
from thzsync.scenario import Scenario, ScenarioLike
from thzsync.simulation.references import reference_costs
from thzsync.simulation.results import refuse_not_finite
from thzsync.simulation.session import Session

KEPT_REFERENCES: Final = 4096
"""Seeds whose references are cached."""
DRAWN_SEEDS: Final = 2**31
"""Upper limit of drawn seeds."""


class CollectivesEnv(gymnasium.Env[Observation, Any]):
    """Decide how every collective of a training run is carried out on fibre and THz.

    **Episode.** ``reset(seed=s)`` begins the run of ``simulate(..., seed=s)``; without a seed, one
    is drawn. ``options={"iterations": n}`` gives this run another length. The episode terminates
    when all jobs have done their iterations. It is never truncated.

    **Observation.** The event to decide, see :class:`thzsync.gym.observations.Observations`.
    ``env.unwrapped.situation`` is the same without normalisation, and
    ``env.unwrapped.session.fork()`` a copy of the whole simulation, for looking ahead.

    **Action.** With ``actions="full"`` (``MultiDiscrete``) a share of THz chunks for every unit, in
    ``count_levels`` even steps from none to all, then a power level for every sender. With
    ``"uniform"`` (``Discrete``) one share and one level for all, ``step * levels + level``.

    **Reward.** An event may end after later decisions. The reward of a step is the sum of the
    rewards of all events that ended during it, so an episode's rewards sum to those of its events.
    ``info["outcomes"]`` lists their outcomes, each with the number of its decision;
    ``info["decision"]`` is the number of the decision that the observation asks for, and
    ``info["action_mask"]`` has a 1 for every value that a number of the action may have.

    An event's reward is minus its weighted time and energy (which energy, ``reward.energy`` says),
    relative to those of All-Wired in the same realisation. These ``references`` take three
    iterations of All-Wired per new seed; given ones are used for all seeds.
    """

    def __init__(
        self,
        scenario: ScenarioLike = "tiny",
        iterations: int = 1,
        actions: str = "full",
        count_levels: int | None = None,
        max_units: int | None = None,
        references: References | None = None,
        detailed: bool = False,
    ) -> None:
        """An environment for one scenario, preset or file.

        ``count_levels`` is by default that of thz-sync in the scenario. ``max_units`` is the number
        of units in the spaces, if the scenario does not determine it. ``detailed`` records all
        tables, so that the run can be audited; otherwise only iterations and events.
        """
        self.scenario = setting = Scenario.of(scenario)
        self.iterations, self.detailed = at_least(1, iterations, "iterations"), detailed
        self.session: Session | None = None
        self.situation: Situation | None = None
        capacity, coordinator = capacity_of(setting, max_units), setting.coordinator
        steps = coordinator.bandit.count_levels if count_levels is None else count_levels
        self.collectives = capacity.collectives
        self._observations = Observations(setting, capacity)
        self._coding = coding_of(actions, capacity, steps, len(coordinator.power_levels))
        self.observation_space = self._observations.space
        self.action_space = self._coding.space
        self._seed = 0
        self._given, self._known = references, dict[int, References]()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a run; return the observation for its first decision."""
        super().reset(seed=seed)
        iterations = _iterations(options or {}, self.iterations)
        self._seed = int(self.np_random.integers(DRAWN_SEEDS)) if seed is None else int(seed)
        references = self._references_of(self._seed)
        self.session = Session(self.scenario, self._seed, iterations, references, self.detailed)
        self.situation = next(self.session)
        return self._observations.of(self.situation), self._info([])

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Carry out an event, and simulate until the next decision."""
        if self.session is None or self.situation is None:
            raise ThzSyncError("step: no event waits for a decision; call reset() first")
        self.session.send(self._coding.action(self.situation, action))
        self.situation = None  # should the run fail, it is over
        self.situation = next(self.session, None)
        outcomes, over = self.session.outcomes(), self.situation is None
        observation = self._observations.of(self.situation)
        return observation, _reward(outcomes), over, False, self._info(outcomes)

    def action_masks(self) -> MaskArray:
        """Which values every number of the next action may have, one number after the other.

        It is also in ``info["action_mask"]``. sb3-contrib's MaskablePPO calls this method.
        """
        if self.situation is None:
            raise ThzSyncError("action_masks: no event waits for a decision; call reset() first")
        return self._coding.mask(self.situation)

    def record(self, policy: str = "agent") -> Run:
        """All complete iterations of the present run, with ``policy`` as the agent's name."""
        if self.session is None:
            raise ThzSyncError("record: there is no run; call reset() first")
        return refuse_not_finite(self.session.record(policy))

    def _references_of(self, seed: int) -> References:
        if self._given is not None:
            return self._given
        if seed not in self._known:
            if len(self._known) == KEPT_REFERENCES:
                del self._known[next(iter(self._known))]
            self._known[seed] = reference_costs(self.scenario, seed)
        return self._known[seed]

    def _info(self, outcomes: list[Outcome]) -> dict[str, Any]:
        info: dict[str, Any] = {"seed": self._seed, "outcomes": outcomes}
        if self.situation is not None:
            info |= {"decision": self.situation.decision, "collective": self.situation.kind}
            info["action_mask"] = self.action_masks()
        return info


def _iterations(options: object, usual: int) -> int:
    """How many iterations the options ask for."""
    if not isinstance(options, Mapping):
        raise ThzSyncError(f"options: found {options!r}; use {{'iterations': n}}")
    unknown = options.keys() - {"iterations"}
    if unknown:
        names = ", ".join(sorted(map(str, unknown)))
        raise ThzSyncError(f"options: found {names}; the only one is iterations")
    return at_least(1, options.get("iterations", usual), "options: iterations")


def _reward(outcomes: list[Outcome]) -> float:
    """The sum of rewards; what is not finite is refused."""
    for outcome in outcomes:
        if not math.isfinite(outcome.reward):
            raise ThzSyncError(
                f"decision {outcome.decision}: its reward is {outcome.reward}, not a finite "
                "number; look at what the reference run cost, and at the reward's weights"
            )
    return float(sum(outcome.reward for outcome in outcomes))
