"""A policy that learns the best share of every collective, and can be saved."""

from __future__ import annotations

from thzsync.coordinator import Action, Outcome, Situation, State, register_policy
from thzsync.streams import Streams


@register_policy
class BestShare:
    """The best of a few uniform shares per collective; one decision in ten explores."""

    name = "best-share"
    shares = (0.0, 0.25, 0.5, 0.75, 1.0)

    def __init__(self, streams: Streams) -> None:
        self.generator = streams.generator("policy")
        self.means: dict[str, list[float]] = {}  # mean reward and count, by collective and share
        self.frozen = False

    def decide(self, situation: Situation) -> Action:
        if not self.frozen and self.generator.random() < 0.1:
            share = self.shares[self.generator.integers(len(self.shares))]
        else:  # what was never tried counts as 0, which is better than any reward
            share = max(self.shares, key=lambda s: self.means.get(f"{situation.kind} {s}", [0])[0])
        return Action.uniform(situation.offer, share, power=1.0)

    def learn(self, situation: Situation, action: Action, outcome: Outcome) -> None:
        if not self.frozen and situation.offer.chunks.sum():
            share = action.thz_chunks.sum() / situation.offer.chunks.sum()
            nearest = min(self.shares, key=lambda s: abs(s - share))
            mean, count = self.means.get(f"{situation.kind} {nearest}", (0.0, 0))
            mean += (outcome.reward - mean) / (count + 1)
            self.means[f"{situation.kind} {nearest}"] = [mean, count + 1]

    def state(self) -> State:
        """All that later decisions depend on."""
        return {"means": dict(self.means), "generator": self.generator.bit_generator.state}

    def load(self, state: State) -> None:
        self.means = dict(state["means"])
        self.generator.bit_generator.state = state["generator"]

    def freeze(self) -> None:
        self.frozen = True
