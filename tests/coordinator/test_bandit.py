from __future__ import annotations

import numpy as np
import pytest

from tests.coordinator.environment import LEVELS, RACKS, ToyFloor, make_plan
from thzsync.coordinator import Action, Outcome, Situation, make_policy
from thzsync.coordinator.bandit import BanditPolicy, collective_bandits
from thzsync.coordinator.features import columns
from thzsync.coordinator.learning import View, compress, spread_action
from thzsync.coordinator.static import ALL_WIRED, ALL_WIRELESS, FIXED_RATIO
from thzsync.errors import ThzSyncError
from thzsync.scenario import Bandit, Scenario
from thzsync.streams import Streams
from thzsync.synthesis import Offer


def bandits(seed: int = 0, **settings: object) -> BanditPolicy:
    scenario = Scenario.paper()
    chosen = scenario.coordinator.bandit.model_copy(update=settings)
    coordinator = scenario.coordinator.model_copy(update={"bandit": chosen})
    return collective_bandits(
        scenario.model_copy(update={"coordinator": coordinator}), Streams(seed)
    )


def test_it_beats_every_static_policy_and_nears_the_best_fixed_split() -> None:
    floor, events = ToyFloor(3), 360
    rewards = floor.play(bandits(train_every=24), events)
    late = slice(events // 2, None)
    for static in (ALL_WIRED, ALL_WIRELESS, FIXED_RATIO):
        assert rewards[late].mean() > floor.play(static, events)[late].mean() + 0.1
    for number, kind in enumerate(("p2p", "a2a", "allreduce")):
        best = floor.best_fixed(range(events // 2 + number, events, 3), kind)
        learnt = rewards[events // 2 + number :: 3].mean()
        assert learnt > 1.15 * best, kind  # rewards are negative: within 15 %


def test_it_moves_a_blocked_lane_to_the_fibre_and_leaves_the_others_on_thz() -> None:
    """The best fixed split cannot do this; it is what the context is for."""
    floor = ToyFloor(1)
    policy = bandits()
    floor.play(policy, 400, ("p2p",))
    context = floor.context(10**6, "p2p")
    gain = np.full_like(context.snr_db_per_w, 30.0)
    gain[2] = 10.0
    blocked = Situation(
        decision=0,
        offer=context.offer,
        racks=RACKS,
        straggler=np.zeros(8, dtype=np.bool_),
        queued_bytes=np.zeros(8),
        shared_occupancy=np.zeros(8),
        snr_db_per_w=gain,
        power_levels=LEVELS,
    )
    share = policy.decide(blocked).thz_chunks / 32
    assert share[2] <= 0.5
    assert np.delete(share, 2).mean() >= 0.8


def test_more_weight_on_energy_moves_chunks_to_thz() -> None:
    shares = []
    for time_weight in (0.7, 0.1):
        policy, floor = bandits(), ToyFloor(2, time_weight=time_weight, late=0.0)
        floor.play(policy, 160, ("allreduce",))
        contexts = [floor.context(1000 + k, "allreduce") for k in range(10)]
        shares.append(np.mean([policy.decide(c).thz_chunks.mean() / 64 for c in contexts]))
    assert shares[1] > shares[0] + 0.3


def test_each_type_has_a_model_of_its_own() -> None:
    policy, floor = bandits(), ToyFloor(0)
    floor.play(policy, 10, ("a2a",))
    floor.play(policy, 2, ("p2p",))
    assert {name: len(model.replay) for name, model in policy.models.items()} == {
        "a2a": 10,
        "p2p": 2,
    }


def test_a_models_draws_do_not_depend_on_which_other_models_there_are() -> None:
    """A collective met first or last, beside others or alone, starts from the same weights."""
    alone, crowded = bandits(), bandits()
    for kind in ("all-gather", "allreduce", "somebody-elses"):
        crowded.model(kind)
    for kind in ("p2p", "somebody-elses"):
        np.testing.assert_array_equal(
            alone.model(kind).encoder.flow, crowded.model(kind).encoder.flow
        )
    mine, other = alone.model("somebody-elses").encoder, alone.model("p2p").encoder
    assert not np.array_equal(mine.flow, other.flow)


def test_the_shared_bandit_has_one_model_for_all() -> None:
    policy = make_policy("shared-bandit", Scenario.paper(), Streams(0))
    assert isinstance(policy, BanditPolicy)
    ToyFloor(0).play(policy, 9)
    assert [len(model.replay) for model in policy.models.values()] == [9]


def test_a_reward_is_learnt_at_once_without_training_the_encoder() -> None:
    policy, floor = bandits(train_every=100), ToyFloor(0)
    model = policy.model("p2p")
    context = floor.context(0, "p2p")
    action = Action.uniform(context.offer, 0.5, 1.0)
    encoder = model.encoder
    policy.learn(context, action, Outcome(0, 1e-3, 1.0, -0.4))
    assert model.encoder is encoder
    assert len(model.replay) == 1
    assert model.head.moment[-1] == -0.4  # the constant's entry of b
    assert View(4).taken(context, action).shape == (8, 3)


def test_training_happens_at_fixed_intervals_and_rebuilds_the_posterior() -> None:
    policy, floor = bandits(train_every=5, train_steps=2), ToyFloor(0)
    model = policy.model("p2p")
    encoders = []
    for events in (4, 5, 9, 10):
        while len(model.replay) < events:
            floor.play(policy, 1, ("p2p",))
        encoders.append(model.encoder)
    assert encoders[0] is not encoders[1]
    assert encoders[1] is encoders[2]
    assert encoders[2] is not encoders[3]
    assert model.head.precision[-1, -1] == pytest.approx(10 + model.head.ridge)


def test_the_warm_up_spreads_uniform_actions_over_share_and_power() -> None:
    context = ToyFloor(0).context(0, "allreduce")
    actions = [spread_action(context, n) for n in range(1, 25)]
    shares = np.sort([a.thz_chunks[0] / 64 for a in actions])
    assert np.diff(shares).max() < 0.1
    levels, counts = np.unique([a.power.max() for a in actions], return_counts=True)
    assert levels.tolist() == LEVELS.tolist()
    assert counts.min() >= 5


@pytest.mark.parametrize("warm_up", [0, 12])
def test_only_a_bandit_that_is_not_frozen_tries_what_it_knows_nothing_about(warm_up: int) -> None:
    """Before any reward all means are zero: ties go to the fibre, and only curiosity leaves it."""
    context = ToyFloor(0).context(0, "p2p")
    curious, frozen = bandits(warm_up=warm_up), bandits(warm_up=warm_up)
    frozen.frozen = True
    assert curious.decide(context).thz_chunks.any()
    assert not frozen.decide(context).thz_chunks.any()


@pytest.mark.parametrize("reward", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["thz-sync", "shared-bandit", "ddqn"])
def test_a_reward_that_is_no_number_is_refused_by_name(name: str, reward: float) -> None:
    policy = make_policy(name, Scenario.paper(), Streams(0))
    context = ToyFloor(0).context(0, "a2a")
    action = policy.decide(context)
    with pytest.raises(ThzSyncError, match=r"^a2a "):
        policy.learn(context, action, Outcome(0, 1.0, 1.0, reward))


def test_rewards_keep_their_order_and_only_the_bad_tail_is_compressed() -> None:
    rewards = np.array([-50.0, -3.0, -1.01, -1.0, -0.99, -0.2, 0.0])
    learnt = np.array([compress(r) for r in rewards])
    assert (np.diff(learnt) > 0).all()
    np.testing.assert_array_equal(learnt[rewards >= -1], rewards[rewards >= -1])
    assert learnt[0] > -6.0
    assert compress(-1.0 - 1e-6) == pytest.approx(-1.0 - 1e-6, abs=1e-11)  # smooth at the knee


def test_settings_are_checked_with_the_scenario() -> None:
    with pytest.raises(ValueError, match="ridge"):
        Bandit(ridge=0.0)
    with pytest.raises(ValueError, match="Extra inputs"):
        Bandit(alpha=0.1)  # type: ignore[call-arg]


def test_the_first_layer_fits_the_scenarios_subbands() -> None:
    thz = Scenario.paper().thz.model_copy(update={"subbands": 7})
    policy = collective_bandits(Scenario.paper().model_copy(update={"thz": thz}), Streams(0))
    assert policy.model("p2p").encoder.flow.shape[0] == columns(7)


def test_a_context_wider_than_any_before_needs_no_retraining() -> None:
    policy, floor = bandits(), ToyFloor(0)
    floor.play(policy, 40, ("p2p",))
    src = np.repeat(np.arange(8), 3)
    plan = make_plan("p2p", src, src + 8, np.arange(1, 25))
    wide = Situation(
        decision=0,
        offer=Offer.per_flow(plan),
        racks=RACKS,
        straggler=np.zeros(24, dtype=np.bool_),
        queued_bytes=np.zeros(24),
        shared_occupancy=np.zeros(24),
        snr_db_per_w=np.full((24, 4), 28.0),
        power_levels=LEVELS,
    )
    action = policy.decide(wide)
    action.check(wide)
    policy.learn(wide, action, Outcome(0, 1.0, 1.0, -0.5))
    assert policy.model("p2p").replay.rows.shape[1] == 24
